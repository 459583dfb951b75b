/** Reads new collections and changes to existing ones. */
import { isObject, jsonEqual } from '../../kernel/json.js';
import {
  type Collection,
  type CollectionMeta,
  type TableSchema,
  COLLECTION_META_DEFAULTS,
  collectionMeta,
  tableSchema,
} from '../model/model.js';
import { invalidProblem, ok, type Path, refuse, type Result, unknownMembers } from '../../kernel/problem.js';
import type { StoredLocation } from '../model/state.js';
import {
  asText,
  addFault,
  type Reading,
  createReporter,
  InvalidValue,
  checksOf,
  mustEqual,
  type CheckUnknownMember,
  overlayMembers,
} from './checks.js';
import { keepKnownTexts } from '../sql-text/texts.js';
import { readTableExtras } from './extras.js';
import { checkName, identifierFault } from './names.js';
import { type ReadOptions, startReading } from './options.js';

/** Members of `meta` that a create request may contain at the top level. */
export const TOP_LEVEL_META = [
  'icon',
  'note',
  'display_template',
  'hidden',
  'singleton',
  'versioning',
  'archive_field',
  'archive_app_filter',
  'archive_value',
  'unarchive_value',
  'sort_field',
] as const;

/**
 * Reads a new collection from `{ collection, meta?, schema }` in normal form. Absent members get defaults, derived ones
 * must match, and unknown ones are problems (unless imported). `schema` is required, because it decides if the
 * collection has a table. Directus omits `schema` for folders, so an import treats a missing `schema` as a folder.
 */
export function readNewCollection(input: unknown, at: Path, options: ReadOptions): Result<Collection> {
  if (!isObject(input)) return refuse(invalidProblem(at, 'a collection must be a JSON object'));
  const reading = startReading(input, at, options);
  reading.problems.push(...checkName('collection', input['collection'], [...at, 'collection']));
  const name = asText(input['collection']);
  checkTopLevel(input, reading);
  const meta = readMeta(input['meta'], COLLECTION_META_DEFAULTS, name, reading);
  const submittedSchema = input['schema'] === undefined && options.imported ? null : input['schema'];
  if (submittedSchema === undefined)
    addFault(reading, ['schema'], 'is required: {} creates a table, null creates a folder');
  const schema =
    submittedSchema === null || submittedSchema === undefined
      ? null
      : readSchema(submittedSchema, NEW_TABLE, name, reading);
  return reading.problems.length > 0 ? refuse(...reading.problems) : ok({ collection: name, meta, schema });
}

/**
 * Returns `existing` with the members of `input`, or `existing` itself if nothing differs. Without `schema`, a table
 * remains a table and a folder remains a folder. An update never changes one into the other.
 */
export function mergeCollection(
  existing: Collection,
  input: unknown,
  at: Path,
  options: ReadOptions,
): Result<Collection> {
  if (!isObject(input)) return refuse(invalidProblem(at, 'a collection must be a JSON object'));
  const reading = startReading(input, at, options);
  const name = existing.collection;
  if (input['collection'] !== undefined && input['collection'] !== name) {
    addFault(reading, ['collection'], `must be ${JSON.stringify(name)}: a collection cannot be renamed here`);
  }
  checkTopLevel(input, reading);
  const meta = readMeta(input['meta'], existing.meta, name, reading);
  const schema = mergeSchema(existing.schema, input['schema'], name, reading);
  if (reading.problems.length > 0) return refuse(...reading.problems);
  return ok(meta === existing.meta && schema === existing.schema ? existing : { collection: name, meta, schema });
}

function mergeSchema(existing: TableSchema | null, input: unknown, name: string, reading: Reading): TableSchema | null {
  if (input === undefined || (input === null && existing === null)) return existing;
  if (input === null) {
    const message = `must not be null: collection ${JSON.stringify(name)} is a table in the database, and null would turn it into a folder. Send {} to keep the table, or delete the collection first`;
    addFault(reading, ['schema'], message);
  } else if (existing === null) {
    const message = `must be null: collection ${JSON.stringify(name)} is a folder here, and an object would turn it into a table. Send null to keep the folder, or create a collection with another name`;
    addFault(reading, ['schema'], message);
  }
  return input === null || existing === null ? existing : readSchema(input, existing, name, reading);
}

const TOP_LEVEL: ReadonlySet<string> = new Set(['collection', 'meta', 'schema']);

function checkTopLevel(input: Record<string, unknown>, reading: Reading): void {
  if (reading.imported) return;
  for (const name of Object.keys(input)) {
    if (!TOP_LEVEL.has(name)) addFault(reading, [name], 'is not a known member');
  }
}

const META_CHECKS = checksOf(collectionMeta);

function readMeta(input: unknown, base: CollectionMeta, collection: string, reading: Reading): CollectionMeta {
  if (input === undefined || input === null) return base;
  if (!isObject(input)) {
    addFault(reading, ['meta'], 'must be an object or null');
    return base;
  }
  const others: CheckUnknownMember = (name, value) => {
    if (name === 'collection') return mustEqual(value, collection);
    if (name === 'system') return value === false ? true : new InvalidValue('must be false or omitted');
    return name === 'id' && reading.imported;
  };
  return overlayMembers(base, { input, checks: META_CHECKS, others, part: ['meta'] }, reading);
}

const NOT_A_TEXT = new InvalidValue('must be a string or omitted');
const NEW_TABLE: TableSchema = Object.freeze({ comment: null });
/** `schema` and `name` are read separately, because they form the location of the table. */
const SCHEMA_CHECKS = checksOf(tableSchema.omit({ schema: true, name: true }));

function readSchema(input: unknown, base: TableSchema, collection: string, reading: Reading): TableSchema {
  if (!isObject(input)) {
    addFault(reading, ['schema'], 'must be an object (a table) or null (a folder)');
    return base;
  }
  const location = base === NEW_TABLE ? newLocation(input, collection, reading) : knownLocation(input, base, reading);
  const others: CheckUnknownMember = (name, value) => {
    if (name === 'name') return mustEqual(value, location.name ?? collection);
    if (name === 'schema' && value === null) return true;
    if (name === 'sql' || name === 'schema') return typeof value === 'string' || NOT_A_TEXT;
    return name === 'extras';
  };
  const table = { ...location, comment: base.comment, ...(base.extras !== undefined && { extras: base.extras }) };
  const start = jsonEqual(table, base) ? base : table;
  const schema = overlayMembers(start, { input, checks: SCHEMA_CHECKS, others, part: ['schema'] }, reading);
  return input['extras'] === undefined ? schema : withExtras(schema, input['extras'], reading);
}

/** Reads `schema.schema` and `schema.name` of a collection whose table moves. */
export function readTableLocation(input: unknown, collection: string, at: Path): Result<StoredLocation> {
  if (!isObject(input)) return refuse(invalidProblem(at, 'must be an object with the schema of the table'));
  const reading = startReading({ schema: input }, at.slice(0, -1), { imported: false });
  const problems = unknownMembers(input, new Set(['schema', 'name']), at);
  if (input['schema'] !== undefined && typeof input['schema'] !== 'string')
    addFault(reading, ['schema', 'schema'], 'must be a string or omitted');
  const location = newLocation(input, collection, reading);
  const { name = location.name ?? collection } = input;
  const wrong = location.name === undefined ? mustEqual(name, collection) : true;
  if (wrong instanceof InvalidValue) addFault(reading, ['schema', 'name'], wrong.message);
  problems.push(...reading.problems);
  return problems.length > 0 ? refuse(...problems) : ok(location);
}

/**
 * Returns the location that a document of a snapshot requests for an existing table. Undefined if it does not move the
 * table, or if it is invalid. Null, or a name without a schema, as in every snapshot, means the default schema.
 */
export function requestedLocation(
  { collection, schema: table }: Record<string, unknown>,
  existing: StoredLocation,
): StoredLocation | undefined {
  if (typeof collection !== 'string' || !isObject(table)) return undefined;
  const { schema, name } = table;
  if (schema == null) return (schema === null ? (name ?? collection) : name) === collection ? {} : undefined;
  if (schema === existing.schema && name === undefined) return undefined;
  const location = readTableLocation({ schema, name }, collection, []);
  return location.ok ? location.value : undefined;
}

/**
 * Returns the location of a table in another schema. The name of the table comes from the request, or is that of the
 * collection without the schema. The HTTP layer checks that the schema is managed, and removes the name of the default
 * schema.
 */
function newLocation(input: Record<string, unknown>, collection: string, reading: Reading): StoredLocation {
  const { schema, name } = input;
  if (typeof schema !== 'string') return {};
  const prefix = `${schema}.`;
  const usual = collection.startsWith(prefix) ? collection.slice(prefix.length) : collection;
  const table = name === undefined ? usual : name;
  const fault = typeof table === 'string' ? identifierFault(table) : 'must be a string';
  if (fault !== null) addFault(reading, ['schema', 'name'], fault);
  return { schema, name: asText(table) };
}

/** Returns the location of an existing table, which an update cannot move. Only a rename moves a table. */
function knownLocation(
  input: Record<string, unknown>,
  { schema, name }: TableSchema,
  reading: Reading,
): StoredLocation {
  const isOmitted = input['schema'] === undefined && input['name'] === undefined;
  if ((input['schema'] ?? undefined) !== schema && !isOmitted) {
    const is = schema === undefined ? 'the default schema' : JSON.stringify(schema);
    addFault(reading, ['schema', 'schema'], `differs: the table is in ${is}. To move it, rename the collection`);
  }
  return schema === undefined || name === undefined ? {} : { schema, name };
}

/** Null removes all extras. */
function withExtras(schema: TableSchema, input: unknown, reading: Reading): TableSchema {
  const read = readTableExtras(input, createReporter(['schema', 'extras'], reading));
  const extras = read && schema.extras && reading.problems.length === 0 ? keepKnownTexts(read, schema.extras) : read;
  if (jsonEqual(extras, schema.extras)) return schema;
  const { extras: _, ...rest } = schema;
  return extras === undefined ? rest : { ...rest, extras };
}
