/**
 * Statements that check what has an index name before they use it. Index names are unique per schema, and someone may
 * have replaced our index by hand. They skip objects that are not ours.
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

/** Checks that the name belongs to an index of the event's table that serves no constraint. */
const isOwn = (change: Change, name: string): Sql => sql`EXISTS (SELECT FROM pg_catalog.pg_index i
    WHERE i.indexrelid = ${relation(change, name)}::oid AND i.indrelid = ${relation(change, change.event.collection)}::oid
      AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint WHERE conindid = i.indexrelid AND contype IN ('p', 'u', 'x')))`;

const refuseTaken = (name: string): Sql => {
  const message = literal(`relation "${name}" already exists`);
  return sql`RAISE EXCEPTION USING MESSAGE = ${message}, ERRCODE = 'duplicate_table'`;
};

const block = (body: Sql): Sql => sql`DO ${literal(body)}`;

/** The index may be missing: its build may still be pending, or someone dropped it by hand. */
export function dropOwnIndex(change: Change, name: string, summary: string): Step {
  const drop = sql`DROP INDEX ${qualified(change.schema, name)}`;
  return step(block(sql`BEGIN IF ${isOwn(change, name)} THEN ${drop}; END IF; END`), summary, {
    ...LOCK,
    ...dropping(partOf(change.event.collection, 'index', name)),
  });
}

/** A pending index will be built under its new name, so that name must be free. */
export function renameOwnIndex(change: Change, [from, to]: [string, string], summary: string): Step {
  const rename = sql`ALTER INDEX ${qualified(change.schema, from)} RENAME TO ${ident(to)}`;
  const body = sql`BEGIN IF ${isOwn(change, from)} THEN ${rename};
    ELSIF ${relation(change, to)} IS NOT NULL AND NOT ${isOwn(change, to)} THEN ${refuseTaken(to)}; END IF; END`;
  return step(block(body), summary, costs(change, to));
}

/**
 * For a deferred index: after the commit, it is too late to reject a name that is in use. The column may have an
 * invalid index of an abandoned build, which the builder has yet to remove.
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
