/**
 * Computes the metadata rows service_collections, service_fields and service_relations from the state. Writing is
 * idempotent: existing rows are overwritten, and deleting missing rows has no effect.
 */
import type pg from 'pg';
import type { Collection, Field, Relation } from '../../schema/model/model.js';
import { objectKey } from '../../schema/model/objects.js';
import type { SchemaObject } from '../../schema/model/object-document.js';
import { tableOf } from '../../schema/sql-text/object-table.js';
import { nameOfTarget, toLocalObject, objectNameParts, splitQualifiedId } from '../../schema/model/object-ids.js';
import { objectsInOrder } from '../../schema/model/order.js';
import { type CollectionNode, type State, initialState } from '../../schema/model/state.js';
import { OBJECT_CATALOGS, type ObjectCatalog, kindList, objectCatalogs } from '../ddl/object-catalogs.js';
import { type Sql, join, sql, own } from '../ddl/sql.js';

/** A statement with parameters, for `sendBatch`. */
export interface ParameterisedSql {
  text: Sql;
  values: (string | string[])[];
}

/**
 * Number of rows per statement. It keeps each value far below jsonb's limit of 256 MB, even with large options. The
 * event loop runs between statements.
 */
const ROWS_PER_STATEMENT = 2_000;

const UPSERT_COLLECTIONS = sql`
INSERT INTO ${own.collections} (collection, meta, schema)
SELECT collection, meta, schema FROM pg_catalog.jsonb_to_recordset($1::jsonb) AS t(collection text, meta jsonb, schema jsonb)
ON CONFLICT (collection) DO UPDATE SET meta = excluded.meta, schema = excluded.schema`;

const UPSERT_FIELDS = sql`
INSERT INTO ${own.fields} (collection, field, type, meta, schema)
SELECT collection, field, type, meta, schema
FROM pg_catalog.jsonb_to_recordset($1::jsonb) AS t(collection text, field text, type text, meta jsonb, schema jsonb)
ON CONFLICT (collection, field) DO UPDATE SET type = excluded.type, meta = excluded.meta, schema = excluded.schema`;

const UPSERT_RELATIONS = sql`
INSERT INTO ${own.relations} (id, many_collection, many_field, one_collection, one_field, one_collection_field,
  one_allowed_collections, junction_field, sort_field, one_deselect_action, schema)
SELECT id, many_collection, many_field, one_collection, one_field, one_collection_field,
  one_allowed_collections, junction_field, sort_field, one_deselect_action, schema
FROM pg_catalog.jsonb_to_recordset($1::jsonb) AS t(id bigint, many_collection text, many_field text, one_collection text,
  one_field text, one_collection_field text, one_allowed_collections jsonb, junction_field text, sort_field text,
  one_deselect_action text, schema jsonb)
ON CONFLICT (many_collection, many_field) DO UPDATE SET id = excluded.id, one_collection = excluded.one_collection,
  one_field = excluded.one_field, one_collection_field = excluded.one_collection_field,
  one_allowed_collections = excluded.one_allowed_collections, junction_field = excluded.junction_field,
  sort_field = excluded.sort_field, one_deselect_action = excluded.one_deselect_action, schema = excluded.schema`;

const DELETE_COLLECTIONS = sql`
DELETE FROM ${own.collections} c USING pg_catalog.jsonb_array_elements_text($1::jsonb) AS gone(collection)
WHERE c.collection = gone.collection`;

const DELETE_FIELDS = sql`
DELETE FROM ${own.fields} f USING pg_catalog.jsonb_to_recordset($1::jsonb) AS gone(collection text, field text)
WHERE f.collection = gone.collection AND f.field = gone.field`;

const DELETE_RELATIONS = sql`
DELETE FROM ${own.relations} r USING pg_catalog.jsonb_to_recordset($1::jsonb) AS gone(collection text, field text)
WHERE r.many_collection = gone.collection AND r.many_field = gone.field`;

interface Key {
  collection: string;
  field: string;
}

/** The difference between two states, as rows. */
interface Rows {
  collections: Collection[];
  fields: Field[];
  relations: Relation[];
  goneCollections: string[];
  goneFields: Key[];
  goneRelations: Key[];
}

/**
 * Yields statements that change the rows from `before` to `after`, if only the collections in `touched` may differ.
 * There are at most six statements for up to 2,000 rows of a kind, and none if nothing differs.
 */
export function* metadataStatements(
  before: State,
  after: State,
  touched: Iterable<string>,
): Generator<ParameterisedSql> {
  const rows = createNoRows();
  for (const name of new Set(touched)) {
    const old = before.collections.get(name);
    const now = after.collections.get(name);
    if (old === now) continue;
    if (now === undefined) rows.goneCollections.push(name);
    else if (old?.collection !== now.collection) rows.collections.push(now.collection);
    const [from, to] = [old ?? NOTHING, now ?? NOTHING];
    compare(from.fields, to.fields, rows.fields, (field) => rows.goneFields.push({ collection: name, field }));
    compare(from.relations, to.relations, rows.relations, (field) =>
      rows.goneRelations.push({ collection: name, field }),
    );
  }
  yield* statementsFor(rows);
}

const GRANTS = OBJECT_CATALOGS.privileges;

const UPSERT_OBJECTS = sql`
INSERT INTO ${own.objects} (kind, id, definition, comment, indexes, enabled, printed)
SELECT o.kind, o.id, o.definition, o.comment, o.indexes, o.enabled,
  CASE WHEN g.id IS NOT NULL THEN g.printed ${join(
    objectCatalogs.filter((catalog) => catalog !== 'privileges').map(printedIn),
    sql` `,
  )} END
FROM pg_catalog.jsonb_to_recordset($1::jsonb) AS o(kind text, id text, definition text, comment text, indexes jsonb, enabled text,
  schema name, relation name, "localId" text)
-- Joined, because a subquery for each object would read all privileges again.
LEFT JOIN (SELECT n.nspname AS schema, ${GRANTS.id} AS id, ${GRANTS.printed} AS printed FROM ${GRANTS.from}
            WHERE n.nspname = ANY ($2::name[]) AND ${GRANTS.where} AND ${GRANTS.relation} = ANY (ARRAY(
              SELECT k.relation FROM pg_catalog.jsonb_to_recordset($1::jsonb) AS k(kind text, relation name)
               WHERE k.kind IN (${kindList('privileges')})))) g
       ON o.kind IN (${kindList('privileges')}) AND g.schema = o.schema AND g.id = o."localId"
ON CONFLICT (kind, id) DO UPDATE SET definition = excluded.definition, comment = excluded.comment,
  indexes = excluded.indexes, enabled = excluded.enabled, printed = excluded.printed`;

/**
 * Returns SQL for an object `o` as the server prints it now, as a branch of CASE. Null if it does not exist. Without the
 * name of the relation, PostgreSQL would compute the ids of all objects of the schema for each object.
 */
function printedIn(catalog: ObjectCatalog): Sql {
  const { from, where, id, printed, relation } = OBJECT_CATALOGS[catalog];
  return sql`WHEN o.kind IN (${kindList(catalog)}) THEN (SELECT ${printed} FROM ${from}
    WHERE n.nspname = o.schema AND ${relation} = o.relation AND ${where} AND ${id} = o."localId")`;
}

/** Returns the name of the table of an object, of the target of privileges, or otherwise of the object itself. */
function relationOf(object: SchemaObject): string {
  const table = tableOf(object);
  return nameOfTarget(object) ?? (table === null ? objectNameParts(object).name : splitQualifiedId(table).name);
}

const DELETE_OBJECTS = sql`
DELETE FROM ${own.objects} o USING pg_catalog.jsonb_to_recordset($1::jsonb) AS gone(kind text, id text)
WHERE o.kind = gone.kind AND o.id = gone.id`;

/**
 * Yields statements that change the rows of objects. They run after the DDL, because the rows contain what the server
 * prints.
 * @param schema the default schema
 * @param reprinted keys of unchanged objects that the server prints differently since the DDL
 */
export function* objectStatements(
  before: State,
  after: State,
  schema: string,
  reprinted: ReadonlySet<string> = new Set(),
): Generator<ParameterisedSql> {
  if (before.objects === after.objects && reprinted.size === 0) return;
  const removed = objectsInOrder(before).filter((object) => !after.objects.has(objectKey(object)));
  const changed = [...after.objects].filter(
    ([key, node]) => reprinted.has(key) || before.objects.get(key)?.object !== node.object,
  );
  yield* inChunks(
    DELETE_OBJECTS,
    removed.map(({ kind, id }) => ({ kind, id })),
  );
  const rows = changed.map(([, { object }]) => {
    const { schema: place = schema, id: localId } = toLocalObject(object);
    return { ...object, relation: relationOf(object), schema: place, localId };
  });
  const schemas = [...new Set(rows.map((row) => row.schema))];
  for (const { text, values } of inChunks(UPSERT_OBJECTS, rows)) yield { text, values: [...values, schemas] };
}

const REBUILD_OBJECTS = sql`
INSERT INTO ${own.objects} AS o (kind, id, definition, comment, indexes, enabled)
SELECT kind, id, definition, comment, indexes, enabled
FROM pg_catalog.jsonb_to_recordset($1::jsonb) AS t(kind text, id text, definition text, comment text, indexes jsonb, enabled text)
ON CONFLICT (kind, id) DO UPDATE SET definition = excluded.definition, comment = excluded.comment, indexes = excluded.indexes,
  enabled = excluded.enabled,
  printed = CASE WHEN o.definition = excluded.definition THEN o.printed END`;

const DELETE_OTHER_OBJECTS = sql`
DELETE FROM ${own.objects} o WHERE NOT EXISTS (
  SELECT FROM pg_catalog.jsonb_to_recordset($1::jsonb) AS t(kind text, id text) WHERE o.kind = t.kind AND o.id = t.id)`;

/**
 * Yields statements for all rows of objects. A new row lacks what the server printed, because the database may have
 * changed since then. Verification then asks the server.
 */
export function* rebuildObjects(state: State): Generator<ParameterisedSql> {
  const objects = objectsInOrder(state);
  yield { text: DELETE_OTHER_OBJECTS, values: [JSON.stringify(objects.map(({ kind, id }) => ({ kind, id })))] };
  yield* inChunks(REBUILD_OBJECTS, objects);
}

const NOTHING: Pick<CollectionNode, 'fields' | 'relations'> = { fields: new Map(), relations: new Map() };

function createNoRows(): Rows {
  return { collections: [], fields: [], relations: [], goneCollections: [], goneFields: [], goneRelations: [] };
}

type Values<V> = ReadonlyMap<string, V>;

/**
 * Collects values that differ and names that are missing. States share unchanged values, so identity comparison is
 * enough.
 */
function compare<V>(old: Values<V>, now: Values<V>, put: V[], removed: (field: string) => void): void {
  if (old === now) return;
  for (const [name, value] of now) if (old.get(name) !== value) put.push(value);
  for (const name of old.keys()) if (!now.has(name)) removed(name);
}

function* statementsFor(rows: Rows): Generator<ParameterisedSql> {
  yield* inChunks(DELETE_RELATIONS, rows.goneRelations);
  yield* inChunks(DELETE_FIELDS, rows.goneFields);
  yield* inChunks(DELETE_COLLECTIONS, rows.goneCollections);
  yield* inChunks(UPSERT_COLLECTIONS, rows.collections);
  yield* inChunks(UPSERT_FIELDS, rows.fields);
  yield* inChunks(UPSERT_RELATIONS, rows.relations);
}

function* inChunks(text: Sql, rows: readonly unknown[], size = ROWS_PER_STATEMENT): Generator<ParameterisedSql> {
  for (let start = 0; start < rows.length; start += size) {
    yield { text, values: [JSON.stringify(rows.slice(start, start + size))] };
  }
}

/** The number of rows that a rebuild wrote. */
export interface WrittenRows {
  collections: number;
  fields: number;
  relations: number;
}

/** Rows per statement of a rebuild. It is small enough that PostgreSQL reads one chunk while the next is serialized. */
const REBUILD_CHUNK = 5_000;

export async function rebuildMetadata(client: pg.ClientBase, state: State, schema: string): Promise<WrittenRows> {
  const nodes = [...state.collections.values()];
  const collections = nodes.map((node) => node.collection);
  const fields = nodes.flatMap((node) => [...node.fields.values()]);
  const relations = nodes.flatMap((node) => [...node.relations.values()]);
  await client.query(`DELETE FROM ${own.relations}`);
  await client.query(`DELETE FROM ${own.fields}`);
  await client.query(`DELETE FROM ${own.collections}`);
  let underway: Promise<unknown> = Promise.resolve();
  for (const { text, values } of rebuildStatements(collections, fields, relations)) {
    await underway;
    underway = client.query(text, values);
    // The promise is awaited in the next iteration or below, so a failure must not count as unhandled until then.
    underway.catch(() => undefined);
  }
  await underway;
  await client.query(`DELETE FROM ${own.objects}`);
  const empty = { ...state, objects: initialState().objects };
  for (const { text, values } of objectStatements(empty, state, schema)) await client.query(text, values);
  return { collections: collections.length, fields: fields.length, relations: relations.length };
}

function* rebuildStatements(collections: Collection[], fields: Field[], relations: Relation[]) {
  yield* inChunks(UPSERT_COLLECTIONS, collections, REBUILD_CHUNK);
  yield* inChunks(UPSERT_FIELDS, fields, REBUILD_CHUNK);
  yield* inChunks(UPSERT_RELATIONS, relations, REBUILD_CHUNK);
}
