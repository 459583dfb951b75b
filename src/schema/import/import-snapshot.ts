/**
 * Converts snapshots from other vendors, releases, and Directus (9 to 12) to our documents. The result depends only on
 * the file and on `instance`. Importing the file again gives the same result, so the diff after an apply is empty.
 * Omitted members stay absent.
 */
import { isObject } from '../../kernel/json.js';
import { invalidProblem, ok, refuse, type Result, type Warning } from '../../kernel/problem.js';
import { SYSTEM_PREFIX, REFERABLE_SYSTEM_COLLECTIONS } from '../model/system-collections.js';
import {
  isFolder,
  readCollections,
  resolveKinds,
  dropFieldsOfFolders,
  readFields,
  readRelations,
  isAlias,
  completeField,
  isKey,
  keyTarget,
} from './documents.js';
import {
  type Import,
  EMPTY_INSTANCE,
  type Instance,
  type ImportLocation,
  type FieldDocument,
  type RelationDocument,
  warn,
  warnOfMember,
  hasCollection,
  hasField,
  isSystem,
  quotedPath,
} from './reading.js';
import { vendorOf, defaultOf } from './columns.js';
import { memberKey } from '../model/state.js';
import { keyFamily } from '../sql-text/data-types.js';
import { InvalidValue } from '../normal-form/checks.js';
import { dataTypesOf, typeOfDataType } from '../normal-form/types/field-types.js';

/* Primary keys, and the columns that reference them. */

/**
 * A file of Directus omits primary keys without metadata. A table without a key gets one. Its name and type come from
 * the foreign keys that reference it. Without such foreign keys it is an auto-increment `id`.
 */
function addPrimaryKeys(body: Record<string, unknown>, into: Import): void {
  const pointers = pointersOf(body);
  for (const { collection, schema } of into.collections.values()) {
    if (schema == null || into.instance.exists(collection)) continue;
    const fields = into.fields.get(collection) ?? new Map<string, FieldDocument>();
    const pointer = pointers.get(collection);
    const name = pointer?.key ?? keyInInstance(collection, into) ?? 'id';
    if (fields.has(name) || [...fields.values()].some((field) => isKey(field, into) !== false)) continue;
    const key = primaryKey(collection, name, pointer, into);
    into.fields.set(collection, new Map([[name, key], ...fields]));
    const message = `The file has no primary key for ${quotedPath(collection)}. The service added ${quotedPath(name)} (${String(completeField(key, into).type)}).`;
    warn(into, 'PRIMARY_KEY_ADDED', { collection, field: name }, message);
  }
}

interface Pointer {
  collection: string;
  field: string;
  key: string;
}

function pointersOf({ relations }: Record<string, unknown>): Map<string, Pointer> {
  const pointers = new Map<string, Pointer>();
  const list: unknown[] = Array.isArray(relations) ? relations : [];
  for (const relation of list) {
    if (!isObject(relation) || !isObject(relation['schema'])) continue;
    const { collection, field, related_collection: target } = relation;
    const key = relation['schema']['foreign_key_column'];
    if (![collection, field, target, key].every((name) => typeof name === 'string' && name !== '')) continue;
    if (!pointers.has(target as string)) {
      pointers.set(target as string, { collection: collection as string, field: field as string, key: key as string });
    }
  }
  return pointers;
}

function primaryKey(collection: string, field: string, pointer: Pointer | undefined, into: Import): FieldDocument {
  const source = pointer === undefined ? undefined : into.fields.get(pointer.collection)?.get(pointer.field);
  const typed = source === undefined ? {} : typeMembers(source);
  const key = { ...typed, is_primary_key: true };
  // The instance already has this key, so adding it needs no warning.
  if (keyInInstance(collection, into) === field) {
    return source?.type === undefined
      ? { collection, field, schema: { is_primary_key: true } }
      : { collection, field, type: source.type, schema: key };
  }
  const type = source?.type ?? 'integer';
  const schema = { ...key, has_auto_increment: type === 'integer' || type === 'bigInteger' };
  return { collection, field, type, meta: { hidden: true, readonly: true }, schema };
}

function keyInInstance(collection: string, { instance }: Import): string | undefined {
  const [key, ...more] = instance.keyOf(collection);
  return more.length === 0 ? key?.field : undefined;
}

const TYPE_MEMBERS = ['data_type', 'max_length', 'numeric_precision', 'numeric_scale'] as const;

function typeMembers({ schema }: FieldDocument): Record<string, unknown> {
  const members: Record<string, unknown> = {};
  for (const name of TYPE_MEMBERS) if (schema?.[name] !== undefined) members[name] = schema[name];
  return members;
}

/**
 * Changes columns of relations to the type of the referenced primary key, and removes foreign keys that are impossible.
 */
function fitForeignKeys(into: Import): void {
  const keys = new Map<string, KeyType>();
  for (const relation of into.relations.values()) {
    const one = keyTarget(relation, into);
    if (one === null) continue;
    const field = into.fields.get(relation.many_collection)?.get(relation.many_field);
    const target = keyTypeOf(one, into, keys);
    if (target === 'none') dropForeignKey(relation, one, into);
    else if (field !== undefined) fitType(field, target, one, into);
  }
}

/** `none`: there is no single primary key. `unsaid`: neither the file nor the instance defines its type. */
type KeyType = FieldDocument | 'none' | 'unsaid';

/**
 * Returns the field that defines the type of the primary key. A primary key can itself reference another table, so the
 * search follows such references to their end.
 */
function keyTypeOf(collection: string, into: Import, keyTypes: Map<string, KeyType>): KeyType {
  const cached = keyTypes.get(collection);
  if (cached !== undefined) return cached;
  const passed = new Set<string>();
  let at = collection;
  let key = primaryKeyOf(at, into);
  while (typeof key === 'object' && !passed.has(at)) {
    passed.add(at);
    const next = into.relations.get(memberKey(at, key.field));
    const target = next === undefined ? null : keyTarget(next, into);
    const further = target === null || passed.has(target) ? 'none' : primaryKeyOf(target, into);
    if (typeof further !== 'object' || target === null) break;
    at = target;
    key = further;
  }
  const typed = typeof key === 'object' ? completeField(key, into) : key;
  keyTypes.set(collection, typed);
  return typed;
}

function primaryKeyOf(collection: string, into: Import): KeyType {
  const system = REFERABLE_SYSTEM_COLLECTIONS.get(collection);
  if (system !== undefined) {
    const { field, ...column } = system;
    return { collection, field, type: typeOfDataType(column.data_type) ?? 'unknown', schema: column };
  }
  const fields = fieldsOf(collection, into);
  const [key, ...more] = fields.filter((field) => isKey(field, into) === true);
  if (key !== undefined) return more.length === 0 ? key : 'none';
  // If all other columns are explicitly not part of the key, the remaining one is the key.
  const [candidate, ...others] = fields.filter((field) => isKey(field, into) === undefined);
  if (candidate !== undefined) return others.length === 0 ? candidate : 'unsaid';
  return fields.length === 0 ? 'unsaid' : 'none';
}

/** Returns the fields of the file. Adds the key fields that only the instance has, if the import keeps them. */
function fieldsOf(collection: string, into: Import): FieldDocument[] {
  const fields = into.fields.get(collection);
  const kept = into.instance.keyOf(collection).filter(({ field }) => fields?.has(field) !== true);
  const stays = kept.filter(({ field }) => hasField(collection, field, into));
  return [...(fields?.values() ?? []), ...stays.map(({ field, type }) => ({ collection, field, type }))];
}

function dropForeignKey(relation: RelationDocument, target: string, into: Import): void {
  const { many_collection: collection, many_field: field } = relation;
  const message = `The relation of ${quotedPath(collection, field)} has no foreign key: ${quotedPath(target)} has no single-column primary key.`;
  warn(into, 'FOREIGN_KEY_LEFT_OUT', { collection, field }, message);
  relation.schema = null;
}

function fitType(field: FieldDocument, target: FieldDocument | 'unsaid', one: string, into: Import): void {
  const targetType = target === 'unsaid' ? undefined : dataTypeOf(target);
  if (target === 'unsaid' || targetType === undefined) return deleteGuessedType(field, into);
  const own = field.type === undefined ? undefined : dataTypeOf(completeField(field, into));
  if (own === undefined || keyFamily(own) === keyFamily(targetType)) return;
  const location = { collection: field.collection, field: field.field };
  const message = `${quotedPath(field.collection, field.field)} gets the type ${target.type}, the type of the primary key of ${quotedPath(one)} that it references.`;
  warn(into, 'TYPE_CHANGED', location, message);
  const numbers = { max_length: null, numeric_precision: null, numeric_scale: null };
  const schema = { ...field.schema, ...numbers, ...typeMembers(target), data_type: targetType };
  Object.assign(field, { type: target.type, schema: { ...schema, ...refitDefault(schema, target) } });
}

/**
 * Deletes the type `string` of a column that references a key of unknown type, because some vendors store such types as
 * strings. Without a type, an existing column keeps its own.
 */
function deleteGuessedType(field: FieldDocument, { instance }: Import): void {
  const isTold = field.schema?.['data_type'] !== undefined || instance.columnOf(field.collection, field.field);
  if (field.type === 'string' && isTold) delete field.type;
}

/** Undefined if the file does not determine the type. */
function dataTypeOf({ type, schema }: FieldDocument): string | undefined {
  if (schema === null || type === undefined) return undefined;
  const dataType = schema?.['data_type'];
  return typeof dataType === 'string' ? dataType : dataTypesOf(type)?.[0];
}

/** Sets a default to null if it does not match the key's type. Such a default never referenced a row. */
function refitDefault(schema: Record<string, unknown>, { type = 'unknown' }: FieldDocument): Record<string, unknown> {
  if (schema['default_value'] === undefined) return {};
  const { data_type, max_length, numeric_precision, numeric_scale } = schema as never;
  const value = defaultOf(type, { data_type, max_length, numeric_precision, numeric_scale }, schema['default_value']);
  return { default_value: value instanceof InvalidValue ? null : value };
}

/* Set names in `meta` to null if they reference nothing or form a cycle. Directus allows both. */

/** Fixes `group`, `archive_field` and `sort_field` of collections and `group` of fields. */
function resolveReferences(into: Import): void {
  for (const { collection, meta } of into.collections.values()) {
    const isField = (name: string) => !isFolder(collection, into) && hasField(collection, name, into);
    const owner = { meta, location: { collection } };
    resolve(owner, 'group', into, (name) => !isSystem(name, into) && hasCollection(name, into));
    resolve(owner, 'archive_field', into, isField);
    resolve(owner, 'sort_field', into, isField);
  }
  breakCycles(into.collections, (collection) => ({ collection }), into);
  for (const [collection, fields] of into.fields) {
    for (const { field, meta } of fields.values()) {
      resolve({ meta, location: { collection, field } }, 'group', into, (name) => canGroup(collection, name, into));
    }
    breakCycles(fields, (field) => ({ collection, field }), into);
  }
}

/** True if the field can group others. Only alias fields can. */
function canGroup(collection: string, name: string, into: Import): boolean {
  const document = into.fields.get(collection)?.get(name);
  return document === undefined ? hasField(collection, name, into) : isAlias(document, into) !== false;
}

interface Owner {
  meta: Record<string, unknown> | undefined;
  location: ImportLocation;
}

function resolve({ meta, location }: Owner, member: string, into: Import, isThere: (name: string) => boolean): void {
  const name = meta?.[member];
  if (meta === undefined || typeof name !== 'string' || isThere(name)) return;
  meta[member] = null;
  warnOfReference(into, location, `meta.${member}`, `names ${quotedPath(name)}, which was not imported`);
}

function warnOfReference(into: Import, location: ImportLocation, member: string, reason: string): void {
  const owner = quotedPath(...[location.collection, location.field].filter((name) => name !== undefined));
  warn(into, 'REFERENCE_LEFT_OUT', location, `${member} of ${owner} ${reason}. It is set to null.`);
}

interface Grouped {
  meta?: Record<string, unknown>;
}

/** Breaks each cycle of groups at its first document in the file. */
function breakCycles(
  documents: ReadonlyMap<string, Grouped>,
  placeOf: (name: string) => ImportLocation,
  into: Import,
): void {
  const visited = new Set<string>();
  for (const name of documents.keys()) {
    const closing = findCycle(name, documents, visited);
    const meta = closing === undefined ? undefined : documents.get(closing)?.meta;
    if (closing === undefined || meta === undefined) continue;
    meta['group'] = null;
    warnOfReference(into, placeOf(closing), 'meta.group', 'creates a cycle');
  }
}

/** Returns the first document that the walk up from `name` visits twice. Skips documents in `visited`. */
function findCycle(name: string, documents: ReadonlyMap<string, Grouped>, visited: Set<string>): string | undefined {
  const way = new Set<string>();
  let at: string | undefined = name;
  while (at !== undefined && !visited.has(at) && !way.has(at)) {
    way.add(at);
    at = groupOf(at, documents);
  }
  for (const passed of way) visited.add(passed);
  return at !== undefined && way.has(at) ? at : undefined;
}

function groupOf(name: string, documents: ReadonlyMap<string, Grouped>): string | undefined {
  const group = documents.get(name)?.meta?.['group'];
  return typeof group === 'string' ? group : undefined;
}

export interface ImportedSnapshot {
  /** Undefined if the file has no part `collections`, which then leaves the collections unspecified. */
  collections: unknown[] | undefined;
  fields: unknown[] | undefined;
  relations: unknown[] | undefined;
  /** Skipped or changed parts, with reasons. */
  warnings: Warning[];
}

const PARTS = ['collections', 'fields', 'relations'] as const;
const TOP_LEVEL: ReadonlySet<string> = new Set([...PARTS, 'version', 'directus', 'service', 'vendor', 'systemFields']);

/**
 * Imports a snapshot that was accepted with `force`. `systemCollections` contains the system collections that relations
 * may reference, by the names of this service. `instance` provides what the file omits. The caller must read the
 * documents with `imported: true`. Only a file that is not a snapshot has problems.
 */
export function importSnapshot(
  body: unknown,
  systemCollections: ReadonlySet<string>,
  instance: Instance = EMPTY_INSTANCE,
): Result<ImportedSnapshot> {
  if (!isObject(body)) return refuse(invalidProblem([], 'a snapshot must be a JSON object'));
  const parts = PARTS.filter((part) => body[part] !== undefined);
  const wrong = parts.filter((part) => !Array.isArray(body[part]));
  if (wrong.length > 0) return refuse(...wrong.map((part) => invalidProblem([part], `${part} must be an array`)));
  const into = start(body, { systemCollections, instance, parts: new Set<string>(parts) });
  for (const name of Object.keys(body)) if (!TOP_LEVEL.has(name)) warnOfMember(into, '', name);
  warnOfSystemFields(body, into);
  readCollections(body, into);
  readFields(body, into);
  resolveKinds(body, into);
  dropFieldsOfFolders((collection) => isFolder(collection, into), into);
  // Snapshots of this service already contain all keys.
  if (body['service'] === undefined && into.parts.has('fields')) addPrimaryKeys(body, into);
  readRelations(body, into);
  resolveReferences(into);
  fitForeignKeys(into);
  return into.problems.length > 0 ? refuse(...into.problems) : ok(finish(into));
}

type ImportContext = Pick<Import, 'systemCollections' | 'instance' | 'parts'>;

function start(body: Record<string, unknown>, surroundings: ImportContext): Import {
  return {
    ...surroundings,
    vendor: vendorOf(body),
    prefix: body['service'] === undefined ? 'directus_' : SYSTEM_PREFIX,
    collections: new Map(),
    fields: new Map(),
    relations: new Map(),
    warnings: [],
    problems: [],
    namedMembers: new Set(),
  };
}

function warnOfSystemFields({ systemFields }: Record<string, unknown>, into: Import): void {
  if (!Array.isArray(systemFields) || systemFields.length === 0) return;
  const message = `systemFields (${systemFields.length}) were skipped: the service manages the indexes of its own tables.`;
  warn(into, 'SYSTEM_FIELDS_LEFT_OUT', {}, message);
}

function finish({ parts, collections, fields, relations, warnings }: Import): ImportedSnapshot {
  return {
    collections: parts.has('collections') ? [...collections.values()] : undefined,
    fields: parts.has('fields') ? [...fields.values()].flatMap((siblings) => [...siblings.values()]) : undefined,
    relations: parts.has('relations') ? [...relations.values()] : undefined,
    warnings,
  };
}
