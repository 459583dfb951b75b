/* Compares objects in the fold, the rows and the catalog. */
import type pg from 'pg';
import { isLocked } from '../../postgres/errors.js';
import { jsonEqual, type Json } from '../../kernel/json.js';
import {
  KINDS,
  type ObjectKind,
  type ObjectName,
  type SchemaObject,
  isRoutine,
  objectKey,
} from '../../schema/model/objects.js';
import { objectsInOrder } from '../../schema/model/order.js';
import type { State } from '../../schema/model/state.js';
import { isSameDefinition, parseDefinition } from '../../schema/sql-text/object-definition.js';
import { readObjects } from '../catalog/managed-objects.js';
import { ROUTINE_TAIL } from '../ddl/routine-sql.js';
import type { CatalogObject, ObjectFacts } from '../ddl/catalog-object.js';
import { type Sql, kindSql, literal, own, scratch, scratchTail, sql } from '../ddl/sql.js';
import type { Difference } from './difference.js';

/** Queries for the text that PostgreSQL prints for a scratch object of each catalog. */
const PRINTED: Readonly<Record<(typeof KINDS)[ObjectKind]['catalog'], (name: string) => Sql>> = {
  pg_class: (name) => sql`
SELECT pg_catalog.concat_ws(' ', pg_catalog.array_to_string(c.reloptions, ','), pg_catalog.pg_get_viewdef(c.oid)) AS text
  FROM pg_catalog.pg_class c WHERE c.oid = pg_catalog.to_regclass(${literal(scratch(name))})::oid`,
  pg_proc: (name) => sql`
SELECT ${ROUTINE_TAIL} AS text FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
 WHERE n.oid = pg_catalog.pg_my_temp_schema() AND p.proname = ${literal(name)}`,
};

/**
 * True if PostgreSQL prints both definitions alike. It creates both as temporary objects and rolls them back, so call it
 * inside a transaction, which it leaves unchanged. False if it rejects one of them.
 */
export async function areEquivalent(client: Pick<pg.ClientBase, 'query'>, a: string, b: string): Promise<boolean> {
  if (isSameDefinition(a, b)) return true;
  const [first, second] = [parseDefinition(a), parseDefinition(b)];
  if (typeof first === 'string' || typeof second === 'string') return false;
  if (first.kind !== second.kind || first.storage !== second.storage) return false;
  const [one, other] = [scratchTail(a), scratchTail(b)];
  if (one === null || other === null) return false;
  // PostgreSQL writes the name of a function before its arguments in a parsed body.
  const name = isRoutine(first) ? first.name : 'dps_view';
  const printed = await print(client, { kind: first.kind, name }, one);
  return printed !== null && printed === (await print(client, { kind: first.kind, name }, other));
}

/** Creates a scratch object, reads it back and rolls it back. Null if PostgreSQL rejects it. */
async function print(
  client: Pick<pg.ClientBase, 'query'>,
  { kind, name }: { kind: ObjectKind; name: string },
  tail: Sql,
): Promise<string | null> {
  await client.query('SAVEPOINT dps_view');
  try {
    const words = kindSql(isRoutine({ kind }) ? kind : 'view');
    await client.query(sql`CREATE ${words} ${scratch(name)}${tail}`);
    const { rows } = await client.query<{ text: string }>(PRINTED[KINDS[kind].catalog](name));
    return rows[0]?.text ?? null;
  } catch (error) {
    // A lock conflict gives no information about the definitions.
    if (isLocked(error)) throw error;
    return null;
  } finally {
    await client.query('ROLLBACK TO SAVEPOINT dps_view; RELEASE SAVEPOINT dps_view');
  }
}

interface ObjectRow extends ObjectName {
  definition: string;
  comment: string | null;
  indexes: Json;
  printed: string | null;
}

const ROWS = sql`SELECT kind, id, definition, comment, indexes, printed FROM ${own.objects} ORDER BY kind, id`;

/** Call it inside a transaction, which it leaves unchanged. @param inCatalog false to compare only the rows */
export async function verifyObjects(
  client: pg.ClientBase,
  state: State,
  { schema, inCatalog }: { schema: string; inCatalog: boolean },
): Promise<Difference[]> {
  const rows = await readRows(client);
  const byKey = new Map(rows.map((row) => [objectKey(row), row]));
  const objects = objectsInOrder(state);
  const differences = objects.flatMap((object) => rowDifferences(object, byKey.get(objectKey(object))));
  for (const row of rows) {
    if (!state.objects.has(objectKey(row)))
      differences.push(differenceOf(row, { where: 'metadata', member: row.kind, expected: null, found: row.kind }));
  }
  if (!inCatalog || objects.length === 0) return differences;
  const views = await readObjects(client, schema, objects);
  return [...differences, ...(await compareObjects(client, objects, { views, rows }))];
}

async function readRows(client: pg.ClientBase): Promise<ObjectRow[]> {
  const { rows } = await client.query<ObjectRow>(ROWS);
  return rows;
}

/** Compares only the fold with the catalog. Call it inside a transaction, which it leaves unchanged. */
export async function verifyCatalogObjects(
  client: pg.ClientBase,
  state: State,
  views: ObjectFacts,
): Promise<Difference[]> {
  return compareObjects(client, objectsInOrder(state), { views, rows: await readRows(client) });
}

async function compareObjects(
  client: pg.ClientBase,
  objects: readonly SchemaObject[],
  { views, rows }: { views: ObjectFacts; rows: readonly ObjectRow[] },
): Promise<Difference[]> {
  const printedByKey = new Map(rows.map((row) => [objectKey(row), row.printed]));
  const differences: Difference[] = [];
  for (const object of objects) {
    const key = objectKey(object);
    const printed = printedByKey.get(key) ?? null;
    differences.push(...(await findCatalogDifferences(client, object, { view: views.get(key), printed })));
  }
  return differences;
}

type ObjectDifference = Omit<Difference, 'collection' | 'object'>;

const differenceOf = ({ kind, id }: ObjectName, difference: ObjectDifference): Difference => ({
  ...difference,
  collection: id,
  object: { kind, id },
});

function rowDifferences(object: SchemaObject, row: ObjectRow | undefined): Difference[] {
  const there = { where: 'metadata', member: object.kind } as const;
  if (row === undefined) return [differenceOf(object, { ...there, expected: object.kind, found: null })];
  const members = [
    ['definition', object.definition, row.definition],
    ['comment', object.comment, row.comment],
    ['indexes', (object.indexes ?? null) as Json, row.indexes],
  ] as const;
  return members.flatMap(([member, expected, actual]) =>
    jsonEqual(expected, actual) ? [] : [differenceOf(object, { where: 'metadata', member, expected, found: actual })],
  );
}

interface ActualView {
  view: CatalogObject | undefined;
  /** The text that the server printed for the definition when it was created. */
  printed: string | null;
}

async function findCatalogDifferences(
  client: pg.ClientBase,
  object: SchemaObject,
  { view, printed }: ActualView,
): Promise<Difference[]> {
  const where = 'catalog' as const;
  if (view === undefined)
    return [differenceOf(object, { where, member: object.kind, expected: object.kind, found: null })];
  const isPrinted = printed !== null && printed.replace(/;\s*$/, '') === view.query;
  const isSame =
    (isPrinted && hasSameOptions(object, view)) || (await areEquivalent(client, object.definition, view.definition));
  const differences: Difference[] = [];
  if (!isSame) {
    const texts = { expected: object.definition, found: view.definition };
    differences.push(differenceOf(object, { where, member: 'definition', ...texts }));
  }
  if (object.comment !== view.comment)
    differences.push(differenceOf(object, { where, member: 'comment', expected: object.comment, found: view.comment }));
  const [expected, actual] = [(object.indexes ?? null) as Json, view.indexes as Json];
  if (!jsonEqual(expected, actual))
    differences.push(differenceOf(object, { where, member: 'indexes', expected, found: actual }));
  return differences;
}

/** Options are not part of what the server prints. */
function hasSameOptions(object: SchemaObject, view: CatalogObject): boolean {
  const [expected, actual] = [parseDefinition(object.definition), parseDefinition(view.definition)];
  return typeof expected !== 'string' && typeof actual !== 'string' && expected.options === actual.options;
}
