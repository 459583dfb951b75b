/** What must be there before a table: made where it is missing. PostgreSQL has no IF NOT EXISTS for types. */
import { type Domain, type Need, isIdentity } from '../../schema/extras.js';
import type { CollectionNode } from '../../schema/state.js';
import type { Statement } from '../statement.js';
import { type Change, statement } from './change.js';
import { sequenceOptions } from './sequence.js';
import {
  type Sql,
  collationName,
  constraintDefinition,
  expression,
  ident,
  join,
  literal,
  qualified,
  sql,
  typeName,
} from './sql.js';

export function createNeeds(change: Change, needs: readonly Need[]): Statement[] {
  return needs.map((need) =>
    statement(change, createNeed(need, change.schema), `make sure of ${need.kind} ${need.name}`, {
      lock: 'none',
      lock_entries: 3,
    }),
  );
}

export function createNeed(need: Need, schema: string): Sql {
  switch (need.kind) {
    case 'extension':
      // Where the extension's own types and functions are looked for: public is in every search path.
      return sql`CREATE EXTENSION IF NOT EXISTS ${ident(need.name)}`;
    case 'enum':
      return unlessThere(
        sql`CREATE TYPE ${qualified(schema, need.name)} AS ENUM (${join(need.labels.map(literal), sql`, `)})`,
      );
    case 'domain':
      return unlessThere(domain(qualified(schema, need.name), need));
    case 'sequence': {
      const { kind: _, name, owned_by: __, ...options } = need;
      return sql`CREATE SEQUENCE IF NOT EXISTS ${qualified(schema, name)} ${sequenceOptions(options)}`;
    }
    default:
      return need satisfies never;
  }
}

/** CREATE DOMAIN takes no check that is NOT VALID: those follow. */
function domain(name: Sql, { type, collation, not_null, default: value, checks = [] }: Domain): Sql {
  const parts = [sql`CREATE DOMAIN ${name} AS ${typeName(type)}`];
  if (collation !== undefined) parts.push(sql`COLLATE ${collationName(collation)}`);
  if (value !== undefined) parts.push(sql`DEFAULT ${expression(value)}`);
  if (not_null === true) parts.push(sql`NOT NULL`);
  const later: Sql[] = [];
  for (const check of checks) {
    const text = sql`CONSTRAINT ${ident(check.name)} ${constraintDefinition(check.definition)}`;
    if (check.definition.endsWith(' NOT VALID')) later.push(sql`; ALTER DOMAIN ${name} ADD ${text}`);
    else parts.push(text);
  }
  return sql`${join(parts, sql` `)}${join(later, sql``)}`;
}

/** The statement inside a block of its own, as a literal: quoted like any other text. */
function unlessThere(create: Sql): Sql {
  return sql`DO ${literal(sql`BEGIN ${create}; EXCEPTION WHEN duplicate_object THEN NULL; END`)}`;
}

/** Sequences that end with their column. */
export function ownSequences(change: Change, needs: readonly Need[]): Statement[] {
  const { collection } = change.event;
  return needs.flatMap((need) => {
    if (need.kind !== 'sequence' || need.owned_by === undefined) return [];
    const text = ownSequence({ name: need.name, owned_by: need.owned_by }, change.schema, collection);
    return [statement(change, text, `give sequence ${need.name} to ${collection}.${need.owned_by}`, { lock: 'none' })];
  });
}

/** Sequences that were a column's and no longer end with it. */
export function freedSequences(change: Change, old: readonly Need[], now: readonly Need[]): Statement[] {
  const ownerless = now.filter((need) => need.kind === 'sequence' && need.owned_by === undefined);
  const freed = new Set(ownerless.map(({ name }) => name));
  return old.flatMap((need) => {
    if (need.kind !== 'sequence' || need.owned_by === undefined || !freed.has(need.name)) return [];
    const text = sql`ALTER SEQUENCE ${qualified(change.schema, need.name)} OWNED BY NONE`;
    return [statement(change, text, `take sequence ${need.name} from its column`, { lock: 'none' })];
  });
}

/** A sequence that is its column's can't be given to it before that is there, nor while it is made in another way. */
export function isReady(need: Need, node: CollectionNode | undefined): boolean {
  return need.kind !== 'sequence' || need.owned_by === undefined || mayOwn(node, need.owned_by);
}

function mayOwn(node: CollectionNode | undefined, column: string): boolean {
  const schema = node?.fields.get(column)?.schema ?? null;
  return schema !== null && schema.generation_expression === null && !isIdentity(schema);
}

/** What waited for the column: see isReady. It may have been made and gone again with what the column was. */
export function needsOfColumn({ event, before, after }: Change, field: string): Need[] {
  const [old, node] = [before, after].map(({ collections }) => collections.get(event.collection));
  if (mayOwn(old, field) || !mayOwn(node, field)) return [];
  const needs = node?.collection.schema?.extras?.needs ?? [];
  return needs.filter((need) => need.kind === 'sequence' && need.owned_by === field);
}

export function ownSequence(need: { name: string; owned_by: string }, schema: string, collection: string): Sql {
  const column = sql`${qualified(schema, collection)}.${ident(need.owned_by)}`;
  return sql`ALTER SEQUENCE ${qualified(schema, need.name)} OWNED BY ${column}`;
}
