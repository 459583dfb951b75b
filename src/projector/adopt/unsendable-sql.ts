/**
 * Handles existing SQL text that a request could not send. It stays in the database but is excluded from snapshots,
 * so that snapshots can be applied elsewhere.
 */
import { extrasOf, type CollectionNode } from '../../schema/model/state.js';
import { type TextKind, checkSqlText } from '../../schema/sql-text/check-sql-text.js';
import { type TextContext, textContextOfTable } from '../../schema/sql-text/text-context.js';
import type { Need, TableExtras } from '../../schema/model/extras.js';
import type { Converting } from './context.js';

type Kind = NonNullable<TableExtras['unmanaged']>[number]['kind'];

interface Part {
  kind: Kind;
  name: string;
  text: string;
}

const TEXT_KINDS: { readonly [K in Kind]: TextKind } = {
  constraint: 'constraint',
  index: 'index',
  default: 'expression',
  generated: 'expression',
};

/**
 * Explains why a part of the table cannot be represented; null if it can. Parts that are already in the log are not
 * checked again.
 */
export function listFault(converting: Converting, { kind, name, text }: Part): string | null {
  const { like } = converting;
  if (isSaid(converting, kind, name)) return null;
  const left = extrasOf(like).unmanaged ?? [];
  if (left.some((each) => each.kind === kind && each.name === name)) return 'is left out of the log';
  return checkSqlText(TEXT_KINDS[kind], text, aroundOf(converting));
}

/**
 * Checks whether the log stores this object in PostgreSQL's own words. It then stays that way even if a field or
 * relation could represent it.
 */
export const isSaid = ({ like }: Pick<Converting, 'like'>, kind: Kind, name: string): boolean =>
  like !== undefined && SAID[kind](like, name);

const hasName = (items: readonly { name: string }[] | undefined, name: string): boolean =>
  items?.some((each) => each.name === name) === true;

const SAID: { readonly [K in Kind]: (node: CollectionNode, name: string) => boolean } = {
  constraint: (node, name) => hasName(extrasOf(node).constraints, name),
  index: (node, name) => hasName(extrasOf(node).indexes, name),
  default: ({ fields }, name) => fields.get(name)?.schema?.extras?.default !== undefined,
  generated: ({ fields }, name) => (fields.get(name)?.schema?.generation_expression ?? null) !== null,
};

/** The needs of a table are looked up once for all of its parts. */
const known = new WeakMap<Converting, TextContext>();

/** @param needs the needs found so far; the list may be incomplete */
export function keepNeeds(converting: Converting, needs: readonly Need[]): TextContext {
  const { name: collection, columns } = converting.table;
  const around = textContextOfTable({ collection, columns, needs });
  known.set(converting, around);
  return around;
}

/** The names that texts of the table may use. The table's needs are missing until `keepNeeds` was called. */
export const aroundOf = (converting: Converting): TextContext => known.get(converting) ?? keepNeeds(converting, []);
