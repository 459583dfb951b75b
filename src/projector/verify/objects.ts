/* Compares objects in the fold, the rows and the catalog. */
import type pg from 'pg';
import { isLocked } from '../../postgres/errors.js';
import { jsonEqual, type Json } from '../../kernel/json.js';
import {
  type Definition,
  KINDS,
  type ObjectName,
  type SchemaObject,
  isFreeOnTable,
  isRoutine,
  isType,
  objectKey,
} from '../../schema/model/objects.js';
import { objectsInOrder } from '../../schema/model/order.js';
import type { State } from '../../schema/model/state.js';
import { type ParsedDefinition, isSameDefinition, parseDefinition } from '../../schema/sql-text/object-definition.js';
import { readObjects } from '../catalog/managed-objects.js';
import { OBJECT_CATALOGS } from '../ddl/object-catalogs.js';
import type { CatalogObject, ObjectFacts } from '../ddl/catalog-object.js';
import {
  type Sql,
  creationWords,
  createOnTable,
  ident,
  literal,
  own,
  scratch,
  scratchTail,
  sql,
  qualified,
} from '../ddl/sql.js';
import type { Difference } from './difference.js';

/** Returns the query for the text that PostgreSQL prints for a scratch object. Options of views are printed separately. */
function printedQuery({ kind }: ParsedDefinition, name: string): Sql {
  const { catalog } = KINDS[kind];
  const { from, where, printed, relation } = OBJECT_CATALOGS[catalog];
  const options = catalog === 'pg_class' ? sql`pg_catalog.array_to_string(c.reloptions, ',')` : sql`NULL`;
  return sql`SELECT pg_catalog.concat_ws(' ', ${options}, ${printed}) AS text FROM ${from}
    WHERE n.oid = pg_catalog.pg_my_temp_schema() AND ${where} AND ${relation} = ${literal(name)}`;
}

/**
 * True if PostgreSQL prints both definitions alike. It creates both as temporary objects and rolls them back, so call
 * it inside a transaction, which it leaves unchanged. False if it rejects one of them.
 */
export async function areEquivalent(
  client: Pick<pg.ClientBase, 'query'>,
  a: Definition,
  b: Definition,
): Promise<boolean> {
  if (isSameDefinition(a, b)) return true;
  if (typeof a !== 'string' || typeof b !== 'string') return false;
  const [first, second] = [parseDefinition(a), parseDefinition(b)];
  if (typeof first === 'string' || typeof second === 'string') return false;
  if (first.kind !== second.kind || first.storage !== second.storage) return false;
  const printed = await print(client, first, a);
  return printed !== null && printed === (await print(client, first, b));
}

/**
 * Returns SQL for a view or table with the columns of the object's table, and for the object.
 * @param name the name of the view or table, and of the object
 */
function scratchOnTable({ kind, trigger, onTable }: ParsedDefinition, name: string, definition: string): Sql {
  const { schema, name: table = '' } = onTable ?? {};
  const columns = schema === undefined ? ident(table) : qualified(schema, table);
  const relation =
    trigger?.isInsteadOf === true
      ? sql`VIEW ${scratch(name)} AS SELECT * FROM ${columns}`
      : sql`TABLE ${scratch(name)} (LIKE ${columns})`;
  return sql`CREATE ${relation}; ${createOnTable(definition, isFreeOnTable({ kind }) ? scratch(name) : ident(name), scratch(name))}`;
}

/**
 * PostgreSQL writes the name of a function before its arguments in a parsed body. A policy and a statistics object can
 * write the name of their table before columns. A rule writes `old` and `new` instead, and its commands can use
 * the table itself.
 */
const scratchName = ({ kind, name, onTable, trigger, rule }: ParsedDefinition): string => {
  if (isRoutine({ kind })) return name;
  return onTable === null || trigger !== null || rule !== null ? SCRATCH : onTable.name;
};

const SCRATCH = 'dps_view';

/** Returns the statement that creates a scratch object. Null if PostgreSQL has no form that prints alike. */
function scratchSql(parsed: ParsedDefinition, name: string, definition: string): Sql | null {
  const { kind, onTable } = parsed;
  if (onTable !== null) return scratchOnTable(parsed, name, definition);
  const tail = scratchTail(definition);
  if (tail === null) return null;
  const words = isRoutine({ kind }) || isType({ kind }) ? creationWords(definition) : sql`VIEW`;
  return sql`CREATE ${words} ${scratch(name)}${tail}`;
}

/** Creates a scratch object, reads it back and rolls it back. Null if PostgreSQL rejects it. */
async function print(
  client: Pick<pg.ClientBase, 'query'>,
  object: ParsedDefinition,
  definition: string,
): Promise<string | null> {
  const name = scratchName(object);
  const creation = scratchSql(object, name, definition);
  if (creation === null) return null;
  await client.query('SAVEPOINT dps_view');
  try {
    await client.query(creation);
    const { rows } = await client.query<{ text: string }>(printedQuery(object, name));
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
  enabled: string | null;
  printed: string | null;
}

const ROWS = sql`SELECT kind, id, definition, comment, indexes, enabled, printed FROM ${own.objects} ORDER BY kind, id`;

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
  const views = await readObjects(client, { schema }, objects);
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
    ['definition', object.definition as Json, definitionIn(object, row)],
    ['comment', object.comment, row.comment],
    ['indexes', (object.indexes ?? null) as Json, row.indexes],
    ['enabled', object.enabled ?? null, row.enabled],
  ] as const;
  return members.flatMap(([member, expected, actual]) =>
    jsonEqual(expected, actual) ? [] : [differenceOf(object, { where: 'metadata', member, expected, found: actual })],
  );
}

/** Returns the definition of a row. The column contains a list as JSON. */
function definitionIn({ definition: expected }: SchemaObject, { definition }: ObjectRow): Json {
  if (typeof expected === 'string') return definition;
  try {
    return JSON.parse(definition) as Json;
  } catch {
    return definition;
  }
}

interface ActualView {
  view: CatalogObject | undefined;
  /** The definition as the server printed it when the object was created. */
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
    const texts = { expected: object.definition as Json, found: view.definition as Json };
    differences.push(differenceOf(object, { where, member: 'definition', ...texts }));
  }
  const members = [
    ['comment', object.comment, view.comment],
    ['indexes', (object.indexes ?? null) as Json, view.indexes as Json],
    ['enabled', object.enabled ?? null, view.enabled],
  ] as const;
  for (const [member, expected, found] of members)
    if (!jsonEqual(expected, found)) differences.push(differenceOf(object, { where, member, expected, found }));
  return differences;
}

/** True if the options are equal. The server does not print them with the definition. */
function hasSameOptions(object: SchemaObject, view: CatalogObject): boolean {
  const [expected, actual] = [parseDefinition(object.definition), parseDefinition(view.definition)];
  return typeof expected !== 'string' && typeof actual !== 'string' && expected.options === actual.options;
}
