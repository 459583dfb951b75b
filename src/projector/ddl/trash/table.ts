/**
 * A deleted table moves to its own trash schema with all its data, so that no name in it changes. PostgreSQL is asked
 * first whether it would allow the drop. Foreign keys to tables outside are dropped, so that the trash never blocks a
 * later change.
 */
import { type KeptTable, type RestoredCollection, newEvent } from '../../../schema/model/events.js';
import {
  type ColumnField,
  hasColumn,
  type CollectionNode,
  type State,
  extrasOf,
  initialState,
} from '../../../schema/model/state.js';
import { defaultExpression } from '../default-clause.js';
import type { Change } from '../change.js';
import { attachPartition } from '../extras.js';
import { createTrashSchema, dropTrashSchema } from './schema.js';
import { createNeeds } from '../needs.js';
import { dropping, type Step, step, tableObject } from '../step.js';
import { planCollectionRenamed } from '../rename.js';
import { MENTIONS_NEXTVAL } from '../../../schema/model/extras.js';
import { countFromRows, label } from '../parts.js';
import { type Sql, block, ident, literal, qualified, sql, trash } from '../sql.js';

interface Moving extends Required<Pick<KeptTable, 'kept_until'>> {
  /** The table that it is a partition of. */
  parent: string | undefined;
  lock_entries: number;
}

/** Moves a table to the trash. */
export function moveToTrash(
  change: Change<'collection.deleted'>,
  node: CollectionNode,
  { parent, kept_until, lock_entries }: Moving,
): Step[] {
  const { event, schema, position } = change;
  const name = event.collection;
  const table = qualified(schema, name);
  const also = parent === undefined ? [] : [{ table: parent, lock: 'ACCESS EXCLUSIVE' } as const];
  const { publications = [], foreign_keys = [] } = event.data;
  const summary = `keep table ${name} in the trash`;
  return [
    step(trialDrop(table), `drop table ${name}`, { lock: 'ACCESS EXCLUSIVE', lock_entries, also }),
    ...publications.map((each) =>
      step(
        sql`ALTER PUBLICATION ${ident(each)} DROP TABLE ONLY ${table}`,
        `take table ${name} out of publication ${each}`,
        {
          lock: 'ACCESS EXCLUSIVE',
        },
      ),
    ),
    ...(parent === undefined ? [] : [detachPartition(change, parent)]),
    ...(pointsElsewhere(node) || foreign_keys.length > 0 ? [dropForeignKeys(change)] : []),
    ...countedElsewhere(node).map((field) =>
      step(
        sql`ALTER TABLE ${table} ALTER COLUMN ${ident(field.field)} DROP DEFAULT`,
        `remove the default of ${label(field)}, which calls a sequence of its own`,
        {
          lock: 'ACCESS EXCLUSIVE',
        },
      ),
    ),
    ...createTrashSchema(change, position),
    step(sql`ALTER TABLE ${table} SET SCHEMA ${trash(position)}`, summary, {
      ...dropping(tableObject(name)),
      lock: 'ACCESS EXCLUSIVE',
      lock_entries,
      loses_data: true,
      kept_until,
    }),
  ];
}

/** The SQLSTATE that ends the trial. */
const TRIED = 'DPS01';

/**
 * Drops the table in a subtransaction and rolls back, so that PostgreSQL rejects what it would reject for a drop.
 * Moving a table to another schema always succeeds, and views would silently follow it.
 */
function trialDrop(table: Sql): Sql {
  const body = sql`BEGIN
    BEGIN DROP TABLE ${table}; RAISE EXCEPTION USING ERRCODE = ${literal(TRIED)};
    EXCEPTION WHEN SQLSTATE ${literal(TRIED)} THEN NULL; END; END`;
  return sql`DO ${block(body)}`;
}

/** Someone may have detached it already with direct SQL. */
function detachPartition({ event, schema }: Change, parent: string): Step {
  const [whole, part] = [qualified(schema, parent), qualified(schema, event.collection)];
  const body = sql`BEGIN IF EXISTS (SELECT FROM pg_catalog.pg_inherits
    WHERE inhrelid = pg_catalog.to_regclass(${literal(part)})::oid AND inhparent = pg_catalog.to_regclass(${literal(whole)})::oid)
    THEN ALTER TABLE ${whole} DETACH PARTITION ${part}; END IF; END`;
  return step(sql`DO ${block(body)}`, `let ${event.collection} be no partition of ${parent}`, {
    lock: 'ACCESS EXCLUSIVE',
    lock_entries: 4,
  });
}

function pointsElsewhere(node: CollectionNode): boolean {
  const { partition_of, constraints = [] } = extrasOf(node);
  const own = node.collection.collection;
  return partition_of !== undefined || constraints.some(({ references = own }) => references !== own);
}

/** Drops all foreign keys to other tables, including those created by hand. */
function dropForeignKeys({ event, schema }: Change): Step {
  const table = qualified(schema, event.collection);
  const body = sql`DECLARE k record; BEGIN
    FOR k IN SELECT conname FROM pg_catalog.pg_constraint
      WHERE conrelid = pg_catalog.to_regclass(${literal(table)})::oid AND contype = 'f' AND confrelid <> conrelid
    LOOP EXECUTE pg_catalog.format('ALTER TABLE %s DROP CONSTRAINT %I', ${literal(table)}, k.conname); END LOOP; END`;
  const summary = `let ${event.collection} point at no other table`;
  return step(sql`DO ${block(body)}`, summary, { lock: 'ACCESS EXCLUSIVE', lock_entries: 7 });
}

/** Columns that use a sequence of another owner. The trash must not depend on that sequence. */
function countedElsewhere(node: CollectionNode): ColumnField[] {
  const own = new Set(
    (extrasOf(node).needs ?? []).flatMap((need) => (need.kind === 'sequence' ? (need.owned_by ?? []) : [])),
  );
  return [...node.fields.values()].filter(
    (field): field is ColumnField =>
      hasColumn(field) && !own.has(field.field) && MENTIONS_NEXTVAL.test(field.schema.extras?.default ?? ''),
  );
}

/** Restores a table with all its parts. Later events of the batch add foreign keys with their relations. */
export function restoreTable(change: Change, node: CollectionNode, { position, name }: RestoredCollection): Step[] {
  const { schema } = change;
  const { collection } = node.collection;
  const partition = extrasOf(node).partition_of;
  const costs = { lock: 'ACCESS EXCLUSIVE', lock_entries: 6 } as const;
  const table = qualified(trash(position), collection);
  return [
    ...(name === collection ? [] : renameInTrash(change, node, { position, name })),
    step(sql`ALTER TABLE ${table} SET SCHEMA ${ident(schema)}`, `restore table ${collection} from the trash`, costs),
    dropTrashSchema(change, position),
    ...countedElsewhere(node).flatMap((field) => countAgain(change, node, field)),
    ...(partition === undefined ? [] : [attachPartition(change, partition)]),
  ];
}

function countAgain(change: Change, node: CollectionNode, field: ColumnField): Step[] {
  const value = defaultExpression(field, field.schema);
  if (value === null) return [];
  const needs = (extrasOf(node).needs ?? []).filter((need) => need.kind === 'sequence' && need.owned_by === undefined);
  const table = qualified(change.schema, field.collection);
  const text = sql`ALTER TABLE ${table} ALTER COLUMN ${ident(field.field)} SET DEFAULT ${value}`;
  const summary = `make ${label(field)} auto-increment again`;
  return [
    ...createNeeds(change, needs),
    step(text, summary, { lock: 'ACCESS EXCLUSIVE' }),
    countFromRows(change, field),
  ];
}

/** Renames inside the trash, so that the old names do not collide with others. */
function renameInTrash(
  change: Change,
  node: CollectionNode,
  { position, name }: Pick<RestoredCollection, 'position' | 'name'>,
): Step[] {
  const { collection: to } = node.collection;
  const renamed = planCollectionRenamed({
    ...change,
    event: newEvent('collection.renamed', name, null, { to }) as Change<'collection.renamed'>['event'],
    schema: trash(position),
    before: stateOf(withName(node, name)),
    after: stateOf(withName(node, to)),
  });
  return renamed.map(({ costs, ...each }) => ({ ...each, costs: { ...costs, object: tableObject(to) } }));
}

/** Its foreign keys were dropped. */
const withName = (node: CollectionNode, collection: string): CollectionNode => ({
  ...node,
  collection: { ...node.collection, collection },
  fields: new Map([...node.fields].map(([name, field]) => [name, { ...field, collection }])),
  relations: new Map(),
});

function stateOf(node: CollectionNode): State {
  const empty = initialState();
  return { ...empty, collections: empty.collections.set(node.collection.collection, node) };
}
