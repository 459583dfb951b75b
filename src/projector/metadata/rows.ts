/**
 * The metadata rows service_collections, service_fields and service_relations, computed from the state. Writing is
 * idempotent: existing rows are overwritten, and deleting missing rows has no effect.
 */
import type pg from 'pg';
import type { Collection, Field, Relation } from '../../schema/model/model.js';
import type { CollectionNode, State } from '../../schema/model/state.js';
import { type Sql, sql, own } from '../ddl/sql.js';

/** A statement with parameters, for `sendBatch`. */
export interface ParameterisedSql {
  text: Sql;
  values: string[];
}

/**
 * Keeps each value far below jsonb's limit of 256 MB, even with large options. The event loop runs between
 * statements.
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
 * The statements that change the rows from `before` to `after`, if only the collections in `touched` may differ. At
 * most six statements for up to 2,000 rows of a kind, none if nothing differs.
 */
export function* metadataStatements(
  before: State,
  after: State,
  touched: Iterable<string>,
): Generator<ParameterisedSql> {
  const rows = noRows();
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

const NOTHING: Pick<CollectionNode, 'fields' | 'relations'> = { fields: new Map(), relations: new Map() };

function noRows(): Rows {
  return { collections: [], fields: [], relations: [], goneCollections: [], goneFields: [], goneRelations: [] };
}

type Values<V> = ReadonlyMap<string, V>;

/** States share unchanged values, so identity comparison is enough. */
function compare<V>(old: Values<V>, now: Values<V>, put: V[], gone: (field: string) => void): void {
  if (old === now) return;
  for (const [name, value] of now) if (old.get(name) !== value) put.push(value);
  for (const name of old.keys()) if (!now.has(name)) gone(name);
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

/** Counts the rows that a rebuild wrote. */
export interface WrittenRows {
  collections: number;
  fields: number;
  relations: number;
}

/** Small enough that PostgreSQL reads one chunk while the next is serialized. */
const REBUILD_CHUNK = 5_000;

export async function rebuildMetadata(client: pg.ClientBase, state: State): Promise<WrittenRows> {
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
  return { collections: collections.length, fields: fields.length, relations: relations.length };
}

function* rebuildStatements(collections: Collection[], fields: Field[], relations: Relation[]) {
  yield* inChunks(UPSERT_COLLECTIONS, collections, REBUILD_CHUNK);
  yield* inChunks(UPSERT_FIELDS, fields, REBUILD_CHUNK);
  yield* inChunks(UPSERT_RELATIONS, relations, REBUILD_CHUNK);
}
