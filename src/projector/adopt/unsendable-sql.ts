/** SQL that is there and that no request could send: it stays, and no snapshot has it, so that snapshots can be sent elsewhere. */
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

/** Why a part of the table can't be said; null where it can. What the log says already is checked no more. */
export function listFault(converting: Converting, { kind, name, text }: Part): string | null {
  const { like } = converting;
  if (isSaid(converting, kind, name)) return null;
  const left = extrasOf(like).unmanaged ?? [];
  if (left.some((each) => each.kind === kind && each.name === name)) return 'is left out of the log';
  return checkSqlText(TEXT_KINDS[kind], text, aroundOf(converting));
}

/** Whether the log says it in PostgreSQL's words: then it is not said by a field or a relation, even where it could be. */
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

/** A table's needs are looked up once for all of its parts. */
const known = new WeakMap<Converting, TextContext>();

/** @param needs of the table: those found so far, where they are not all known yet */
export function keepNeeds(converting: Converting, needs: readonly Need[]): TextContext {
  const { name: collection, columns } = converting.table;
  const around = textContextOfTable({ collection, columns, needs });
  known.set(converting, around);
  return around;
}

/** What texts of the table may name; without its needs, where `keepNeeds` has not been told of them. */
export const aroundOf = (converting: Converting): TextContext => known.get(converting) ?? keepNeeds(converting, []);
