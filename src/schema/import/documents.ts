/** Imports collections and relations. */
import { isObject } from '../../kernel/json.js';
import { collectionMeta, fieldMeta, tableSchema, RELATION_MEMBERS, REFERENTIAL_ACTIONS } from '../model/model.js';
import { memberKey, isPrimary } from '../model/state.js';
import { isSystemCollection, SYSTEM_PREFIX } from '../model/system-collections.js';
import { checksOf, InvalidValue } from '../normal-form/checks.js';
import { mergeField } from '../normal-form/field.js';
import { checkName, identifierFault } from '../normal-form/names.js';
import { NESTED } from '../normal-form/relation.js';
import { ALIAS_TYPE, dataTypesOf } from '../normal-form/types/field-types.js';
import { holdsText } from '../sql-text/data-types.js';
import { readColumn } from './columns.js';
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
  type RelationDocument,
  hasField,
  toServiceName,
} from './reading.js';

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

/* Combines the file with the target instance. */

/** Returns the field as it will be after the import. An unspecified type or column stays as in the instance. */
export function completeField(document: FieldDocument, { instance }: Import): FieldDocument {
  const existing = instance.columnOf(document.collection, document.field);
  if (existing === undefined) return document;
  const merged = mergeField(existing, document, [], { imported: true });
  const { collection, field, type, schema } = merged.ok ? merged.value : existing;
  return { collection, field, type, schema: schema === null ? null : { ...schema } };
}

/** True if the field has no column. Undefined if neither the file nor the instance determines that. */
export function isAlias({ collection, field, type, schema }: FieldDocument, { instance }: Import): boolean | undefined {
  if (schema !== undefined) return schema === null;
  const fieldType = type ?? instance.columnOf(collection, field)?.type;
  return fieldType === undefined ? undefined : fieldType === ALIAS_TYPE;
}

/** True if the field is the primary key. Undefined if neither the file nor the instance determines that. */
export function isKey({ collection, field, schema }: FieldDocument, { instance }: Import): boolean | undefined {
  if (schema === null) return false;
  const isPrimaryKey = schema?.['is_primary_key'];
  if (typeof isPrimaryKey === 'boolean') return isPrimaryKey;
  const existing = instance.columnOf(collection, field);
  return existing === undefined ? undefined : isPrimary(existing);
}

/** Returns the collection that the foreign key references. Null if there is no foreign key. */
export function keyTarget(relation: RelationDocument, { instance }: Import): string | null {
  const { many_collection, many_field } = relation;
  const existing = instance.relationOf(many_collection, many_field);
  const schema = relation.schema === undefined ? existing?.schema : relation.schema;
  const target = relation.one_collection === undefined ? existing?.one_collection : relation.one_collection;
  return schema === null || target == null ? null : target;
}

/** Maps the names in `meta` and at the top level to members of the flat form. */
const MEMBERS: ReadonlyMap<string, keyof RelationDocument> = new Map<string, keyof RelationDocument>([
  ...NESTED,
  ...RELATION_MEMBERS.map((name): [string, keyof RelationDocument] => [name, name]),
]);

type RelationInput = Partial<Record<keyof RelationDocument, unknown>>;

/** Reads the relations of a file into `into.relations`. Skips those with a skipped end. */
export function readRelations(body: Record<string, unknown>, into: Import): void {
  for (const { input } of documentsOf('relations', body, into)) {
    const relationInput = withTarget(flatten(input, into), into);
    const relation = readEnds(relationInput, into);
    if (relation === null) continue;
    const key = memberKey(relation.many_collection, relation.many_field);
    if (into.relations.has(key)) {
      skipRelation(relationInput, 'the file contains it twice, and the first was imported', into, 'DUPLICATE_LEFT_OUT');
      continue;
    }
    into.relations.set(key, {
      ...relation,
      ...weakMembers(relation, relationInput, into),
      ...foreignKey(relation, relationInput),
    });
  }
}

function flatten(input: Record<string, unknown>, into: Import): RelationInput {
  const relation: RelationInput = { schema: input['schema'] };
  const meta = isObject(input['meta']) ? input['meta'] : {};
  // The values of the database, at the top level, override the metadata.
  for (const [part, from] of [
    ['', input],
    ['meta.', meta],
  ] as const) {
    for (const name of Object.keys(from)) {
      if (name === 'id' || (part === '' && (name === 'meta' || name === 'schema'))) continue;
      const member = MEMBERS.get(name);
      if (member === undefined) warnOfMember(into, 'relations', part + name);
      else relation[member] ??= from[name];
    }
  }
  return relation;
}

/** Adds the referenced collection from the foreign key or the instance if no member names it. */
function withTarget(input: RelationInput, { instance, prefix }: Import): RelationInput {
  const { many_collection, many_field, one_collection, one_allowed_collections: allowed, schema } = input;
  if (one_collection !== undefined || Array.isArray(allowed)) return input;
  const table = isObject(schema) ? schema['foreign_key_table'] : undefined;
  if (typeof table === 'string') return { ...input, one_collection: table };
  if (typeof many_collection !== 'string' || typeof many_field !== 'string') return input;
  const target = instance.relationOf(many_collection, many_field)?.one_collection;
  if (target == null) return input;
  const theirs = isSystemCollection(target) ? prefix + target.slice(SYSTEM_PREFIX.length) : target;
  return { ...input, one_collection: theirs };
}

function skipRelation(input: RelationInput, reason: string, into: Import, code = 'RELATION_LEFT_OUT'): null {
  const names = [input.many_collection, input.many_field].map((name) => (typeof name === 'string' ? name : '?'));
  const [collection = '', field = ''] = names;
  const target = typeof input.one_collection === 'string' ? ` to ${quotedPath(input.one_collection)}` : '';
  warn(
    into,
    code,
    { collection, field },
    `The relation of ${quotedPath(collection, field)}${target} was skipped: ${reason}.`,
  );
  return null;
}

function readEnds(input: RelationInput, into: Import): RelationDocument | null {
  const { many_collection, many_field, one_collection } = input;
  if (typeof many_collection !== 'string' || typeof many_field !== 'string')
    return skipRelation(input, 'it does not name its field', into);
  const fault = manyFault(many_collection, many_field, into);
  if (fault !== null) return skipRelation(input, fault, into);
  const many = { many_collection, many_field };
  if (typeof one_collection !== 'string') return manyToAny(many, input, into);
  const target = toServiceName(one_collection, into);
  const reason = oneFault(one_collection, into);
  return reason === null ? { ...many, one_collection: target } : skipRelation(input, reason, into);
}

function manyFault(collection: string, field: string, into: Import): string | null {
  if (isSystem(collection, into)) return 'it belongs to a system collection';
  if (!into.collections.has(collection) && into.parts.has('collections'))
    return `${quotedPath(collection)} is not in the file`;
  if (!hasField(collection, field, into)) return `field ${quotedPath(field)} is not in the file`;
  const document = into.fields.get(collection)?.get(field);
  return document !== undefined && isAlias(document, into) === true ? `${quotedPath(field)} has no column` : null;
}

/** Returns why no relation can reference a collection, or null. */
function oneFault(collection: string, into: Import): string | null {
  if (isSystem(collection, into)) {
    if (into.systemCollections.has(toServiceName(collection, into))) return null;
    return 'this service does not have that system collection. The column is imported without a foreign key';
  }
  if (!hasCollection(collection, into))
    return `${quotedPath(collection)} is not in the file. The column is imported without a foreign key`;
  return isFolder(collection, into) ? `${quotedPath(collection)} is a folder` : null;
}

type Many = Pick<RelationDocument, 'many_collection' | 'many_field'>;

/** Unspecified members stay absent. A new relation that lacks required members is rejected later. */
function manyToAny(many: Many, input: RelationInput, into: Import): RelationDocument | null {
  const { one_allowed_collections: allowed, one_collection_field: pointer } = input;
  if (allowed === null) return skipRelation(input, 'it does not name a related collection', into);
  const isColumn = typeof pointer === 'string' && canHoldText(many.many_collection, pointer, into);
  if (pointer !== undefined && (!isColumn || pointer === many.many_field))
    return skipRelation(input, 'it does not name the field that stores the collection of an item', into);
  return {
    ...many,
    ...(pointer === undefined ? {} : { one_collection_field: pointer }),
    ...(Array.isArray(allowed)
      ? { one_collection: null, one_allowed_collections: allowedOf(many, allowed, into) }
      : {}),
  };
}

function allowedOf(many: Many, allowed: unknown[], into: Import): string[] {
  const names = allowed.filter((name) => typeof name === 'string');
  const kept = names.filter((name) => oneFault(name, into) === null);
  for (const name of names.filter((other) => !kept.includes(other))) {
    const location = { collection: many.many_collection, field: many.many_field };
    const message = `${quotedPath(name)} was removed from the allowed collections of ${quotedPath(location.collection, location.field)}: it was not imported.`;
    warn(into, 'REFERENCE_LEFT_OUT', location, message);
  }
  return [...new Set(kept.map((name) => toServiceName(name, into)))];
}

const WEAK = ['one_field', 'junction_field', 'sort_field'] as const;

/** Reads the members that name optional fields, and `one_deselect_action`. */
function weakMembers(relation: RelationDocument, input: RelationInput, into: Import): Partial<RelationDocument> {
  const members: Partial<RelationDocument> = {};
  const location = { collection: relation.many_collection, field: relation.many_field };
  for (const member of WEAK) {
    const name = input[member];
    if (name === undefined) continue;
    const exists = typeof name === 'string' && name !== '' && isThere(member, name, { ...relation, ...members }, into);
    members[member] = exists ? name : null;
    if (exists || name === null) continue;
    const message = `${member} of the relation of ${quotedPath(location.collection, location.field)} names ${JSON.stringify(name)}, which is not a suitable field of the file. It is set to null.`;
    warn(into, 'REFERENCE_LEFT_OUT', location, message);
  }
  const action = input.one_deselect_action;
  if (action === 'nullify' || action === 'delete') members.one_deselect_action = action;
  return members;
}

function isThere(member: (typeof WEAK)[number], name: string, relation: RelationDocument, into: Import): boolean {
  if (member !== 'one_field') return isFree(name, relation) && canHold(relation.many_collection, name, into);
  const one = relation.one_collection;
  // The name cannot be checked for two kinds of relations. A many-to-any relation has no one side, and the file has no
  // fields of system collections.
  if (one == null) return false;
  const document = into.fields.get(one)?.get(name);
  return document === undefined ? !isSystem(one, into) && hasField(one, name, into) : isAlias(document, into) !== false;
}

/** True if the column has no other role in the relation. A column can have only one. */
const isFree = (name: string, { many_field, one_collection_field, junction_field }: RelationDocument): boolean =>
  ![many_field, one_collection_field, junction_field].includes(name);

function canHold(collection: string, name: string, into: Import): boolean {
  const document = into.fields.get(collection)?.get(name);
  return hasField(collection, name, into) && (document === undefined || isAlias(document, into) !== true);
}

/** True if the field can hold text. The type in the file decides. */
function canHoldText(collection: string, name: string, into: Import): boolean {
  const { type, schema } = into.fields.get(collection)?.get(name) ?? {};
  const holds = dataTypesOf(type ?? '')?.some(holdsText) ?? true;
  return holds && schema?.['generation_expression'] == null && canHold(collection, name, into);
}

/** Returns the foreign key, if the file contains it. */
function foreignKey(relation: RelationDocument, input: RelationInput): Pick<RelationDocument, 'schema'> {
  const { schema } = input;
  if (schema === undefined) return {};
  if (!isObject(schema) || relation.one_collection == null) return { schema: null };
  const key: Record<string, unknown> = {};
  const name = schema['constraint_name'];
  if (typeof name === 'string' && identifierFault(name) === null) key['constraint_name'] = name;
  for (const member of ['on_update', 'on_delete'] as const) {
    const written = schema[member];
    const action = typeof written === 'string' ? written.toUpperCase() : undefined;
    if (REFERENTIAL_ACTIONS.some((candidate) => candidate === action)) key[member] = action;
  }
  if (schema['deferrable'] !== undefined) key['deferrable'] = schema['deferrable'];
  return { schema: key };
}
