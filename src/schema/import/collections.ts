import { isObject } from '../../kernel/json.js';
import { collectionMeta, fieldMeta, tableSchema } from '../model/model.js';
import { checksOf, InvalidValue } from '../normal-form/checks.js';
import { ALIAS_TYPE } from '../normal-form/types/field-types.js';
import { checkName } from '../normal-form/names.js';
import {
  type CollectionDocument,
  type Import,
  documentsOf,
  isSystem,
  quotedPath,
  requiredName,
  warn,
  warnOfMember,
  readMeta,
  warnOfValue,
  type FieldDocument,
  hasCollection,
} from './reading.js';
import { readColumn } from './columns.js';

const TOP_LEVEL: ReadonlySet<string> = new Set(['collection', 'meta', 'schema']);

/** Reads the collections of a file into `into.collections`. Skips system collections. */
export function readCollections(body: Record<string, unknown>, into: Import): void {
  for (const entry of documentsOf('collections', body, into)) {
    const collection = requiredName('collection', entry, into);
    if (collection === undefined) continue;
    into.problems.push(
      ...(isSystem(collection, into) ? [] : checkName('collection', collection, [...entry.at, 'collection'])),
    );
    if (isSystem(collection, into)) {
      const message = `The system collection ${quotedPath(collection)} was skipped: system collections belong to the service.`;
      warn(into, 'SYSTEM_COLLECTION_LEFT_OUT', { collection }, message);
    } else if (into.collections.has(collection)) {
      warn(
        into,
        'DUPLICATE_LEFT_OUT',
        { collection },
        `The file contains the collection ${quotedPath(collection)} twice. The first was imported.`,
      );
    } else into.collections.set(collection, readCollection(collection, entry.input, into));
  }
}

const META_CHECKS = checksOf(collectionMeta);

function readCollection(collection: string, input: Record<string, unknown>, into: Import): CollectionDocument {
  for (const name of Object.keys(input)) if (!TOP_LEVEL.has(name)) warnOfMember(into, 'collections', name);
  const location = { collection };
  const meta = readMeta(input['meta'], { part: 'collections', checks: META_CHECKS, location }, into);
  const schema = readSchema(collection, input['schema'], into);
  return { collection, ...(meta === undefined ? {} : { meta }), ...(schema === undefined ? {} : { schema }) };
}

const SCHEMA_CHECKS = checksOf(tableSchema);

/**
 * Reads the table schema of a collection. name, sql, schema and similar members are derived and skipped. Extras occur
 * only in snapshots of this service and are checked later.
 */
function readSchema(collection: string, input: unknown, into: Import): CollectionDocument['schema'] {
  if (!isObject(input)) return input === null ? null : undefined;
  const extras = { ...locationOf(input), ...(input['extras'] === undefined ? {} : { extras: input['extras'] }) };
  if (input['comment'] === undefined) return extras;
  const comment = SCHEMA_CHECKS.get('comment')?.(input['comment'], true);
  if (!(comment instanceof InvalidValue)) return { ...extras, comment };
  warnOfValue(into, { collection }, 'schema.comment', comment);
  return extras;
}

/**
 * Only snapshots of this service contain both members. The HTTP layer removes the names of schemas that are not
 * managed.
 */
function locationOf({ schema, name }: Record<string, unknown>): { schema?: string; name?: string } {
  return typeof schema === 'string' ? { schema, ...(typeof name === 'string' && { name }) } : {};
}

/**
 * Directus omits `schema` for folders, and people remove it from tables. A collection is a table if it has fields, if a
 * relation references it, or if it is a table in the instance. Otherwise the kind is unknown, and a new one becomes a
 * folder.
 */
export function resolveKinds(body: Record<string, unknown>, into: Import): void {
  const targets = targetsOf(body);
  for (const document of into.collections.values()) {
    const fields = [...(into.fields.get(document.collection)?.values() ?? [])];
    const schema = into.instance.collectionOf(document.collection)?.schema;
    const isTable =
      schema != null || targets.has(document.collection) || fields.some(({ type }) => type !== ALIAS_TYPE);
    if (document.schema === undefined && isTable) document.schema = {};
  }
}

/** Returns the collections that relations of the file reference. */
function targetsOf({ relations }: Record<string, unknown>): Set<unknown> {
  const names = new Set<unknown>();
  const list: unknown[] = Array.isArray(relations) ? relations : [];
  for (const relation of list.filter(isObject)) {
    const meta = isObject(relation['meta']) ? relation['meta'] : {};
    for (const name of [relation['related_collection'], relation['one_collection'], meta['one_collection']])
      names.add(name);
  }
  return names;
}

/** True if a collection has no table according to the file and the instance. */
export function isFolder(collection: string, into: Import): boolean {
  const document = into.collections.get(collection);
  if (document === undefined || document.schema != null) return false;
  return document.schema === null || !into.instance.exists(collection);
}

const FIELD_TOP_LEVEL: ReadonlySet<string> = new Set(['collection', 'field', 'type', 'meta', 'schema']);

/** Reads the fields of a file into `into.fields`. Skips those of skipped collections. */
export function readFields(body: Record<string, unknown>, into: Import): void {
  for (const entry of documentsOf('fields', body, into)) {
    const collection = requiredName('collection', entry, into);
    const field = requiredName('field', entry, into);
    if (collection === undefined || field === undefined) continue;
    const left = reasonToLeave(collection, field, into);
    if (left !== null) {
      warn(into, left.code, { collection, field }, `The field ${quotedPath(collection, field)} ${left.reason}.`);
      continue;
    }
    into.problems.push(...checkName('field', field, [...entry.at, 'field']));
    const siblings = into.fields.get(collection) ?? new Map<string, FieldDocument>();
    siblings.set(field, readField({ collection, field }, entry.input, into));
    into.fields.set(collection, siblings);
  }
}

function reasonToLeave(collection: string, field: string, into: Import): { code: string; reason: string } | null {
  if (isSystem(collection, into)) {
    return { code: 'SYSTEM_FIELD_LEFT_OUT', reason: 'was skipped: it belongs to a system collection' };
  }
  if (!hasCollection(collection, into)) {
    return { code: 'FIELD_LEFT_OUT', reason: 'was skipped: its collection is not in the file' };
  }
  if (into.fields.get(collection)?.has(field) !== true) return null;
  return { code: 'DUPLICATE_LEFT_OUT', reason: 'is in the file twice. The first was imported' };
}

const FIELD_META_CHECKS = checksOf(fieldMeta);

function readField(
  location: { collection: string; field: string },
  input: Record<string, unknown>,
  into: Import,
): FieldDocument {
  for (const name of Object.keys(input)) if (!FIELD_TOP_LEVEL.has(name)) warnOfMember(into, 'fields', name);
  const meta = readMeta(input['meta'], { part: 'fields', checks: FIELD_META_CHECKS, location }, into);
  const column = readColumn(
    { ...location, type: input['type'], schema: isObject(input['schema']) ? input['schema'] : undefined },
    into,
  );
  return { ...location, ...(meta === undefined ? {} : { meta }), ...column };
}

/** Removes fields of folders from the import, because a folder has no fields. */
export function dropFieldsOfFolders(isFolder: (collection: string) => boolean, into: Import): void {
  for (const [collection, fields] of into.fields) {
    if (!isFolder(collection)) continue;
    into.fields.delete(collection);
    for (const field of fields.keys()) {
      const message = `The field ${quotedPath(collection, field)} was skipped: its collection is a folder.`;
      warn(into, 'FIELD_LEFT_OUT', { collection, field }, message);
    }
  }
}
