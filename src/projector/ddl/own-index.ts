/**
 * Statements that look at what bears an index's name before they rely on it: indexes share their names with all tables of
 * the schema, and by hand ours may have been dropped and another made. What isn't ours is passed over.
 */
import type { ColumnField } from '../../schema/model/state.js';
import { indexNameOf } from '../../schema/model/constraint-names.js';
import type { Change } from './change.js';
import { type Step, dropping, partOf, step } from './step.js';
import { type Sql, ident, literal, qualified, sql } from './sql.js';

const costs = (change: Change, name: string) => ({ object: partOf(change.event.collection, 'index', name), ...LOCK });

const LOCK = { lock: 'ACCESS EXCLUSIVE', lock_entries: 2 } as const;

const relation = ({ schema }: Change, name: string): Sql =>
  sql`pg_catalog.to_regclass(${literal(qualified(schema, name))})`;

/** Whether an index of the event's table, and no constraint's, bears the name. */
const isOwn = (change: Change, name: string): Sql => sql`EXISTS (SELECT FROM pg_catalog.pg_index i
    WHERE i.indexrelid = ${relation(change, name)}::oid AND i.indrelid = ${relation(change, change.event.collection)}::oid
      AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint WHERE conindid = i.indexrelid AND contype IN ('p', 'u', 'x')))`;

const refuseTaken = (name: string): Sql => {
  const message = literal(`relation "${name}" already exists`);
  return sql`RAISE EXCEPTION USING MESSAGE = ${message}, ERRCODE = 'duplicate_table'`;
};

const block = (body: Sql): Sql => sql`DO ${literal(body)}`;

/** It isn't there while it still has to be built after the commit, or when it was dropped by hand. */
export function dropOwnIndex(change: Change, name: string, summary: string): Step {
  const drop = sql`DROP INDEX ${qualified(change.schema, name)}`;
  return step(block(sql`BEGIN IF ${isOwn(change, name)} THEN ${drop}; END IF; END`), summary, {
    ...LOCK,
    ...dropping(partOf(change.event.collection, 'index', name)),
  });
}

/** One that still has to be built will be under its new name, which must be free then. */
export function renameOwnIndex(change: Change, [from, to]: [string, string], summary: string): Step {
  const rename = sql`ALTER INDEX ${qualified(change.schema, from)} RENAME TO ${ident(to)}`;
  const body = sql`BEGIN IF ${isOwn(change, from)} THEN ${rename};
    ELSIF ${relation(change, to)} IS NOT NULL AND NOT ${isOwn(change, to)} THEN ${refuseTaken(to)}; END IF; END`;
  return step(block(body), summary, costs(change, to));
}

/**
 * For an index that is built after the commit, when a name that is taken could no longer be refused. The column may have
 * one that is invalid: a build that was given up and has yet to be cleared away, by the builder.
 */
export function keepIndexName(change: Change, field: ColumnField): Step {
  const name = indexNameOf(field);
  const [index, table] = [relation(change, name), relation(change, change.event.collection)];
  const body = sql`BEGIN IF ${index} IS NOT NULL AND NOT EXISTS (SELECT FROM pg_catalog.pg_index
    WHERE indexrelid = ${index}::oid AND indrelid = ${table}::oid AND NOT indisvalid) THEN ${refuseTaken(name)}; END IF; END`;
  const summary = `keep a name for the index on ${field.collection}.${field.field}`;
  return step(block(body), summary, {
    object: partOf(change.event.collection, 'index', name),
    lock: 'none',
  });
}
