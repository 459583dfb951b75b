/** Primary keys, and the columns that reference them. */
import { memberKey } from '../model/state.js';
import { isObject } from '../../kernel/json.js';
import { keyFamily } from '../sql-text/data-types.js';
import { Wrong } from '../normal-form/checks.js';
import { dataTypesOf, typeOfDataType } from '../normal-form/types/field-types.js';
import { REFERABLE_SYSTEM_COLLECTIONS } from '../model/system-collections.js';
import { defaultOf } from './columns.js';
import type { FieldDocument, Import, RelationDocument } from './context.js';
import { hasField, quotedPath, warn } from './reading.js';
import { completedField, isKey, keyTarget } from './target-instance.js';

/**
 * Files of Directus lack primary keys without metadata. A table without a key gets one, with name and type from the
 * foreign keys that reference it, otherwise an auto-increment `id`.
 */
export function addPrimaryKeys(body: Record<string, unknown>, into: Import): void {
  const pointers = pointersOf(body);
  for (const { collection, schema } of into.collections.values()) {
    if (schema == null || into.instance.exists(collection)) continue;
    const fields = into.fields.get(collection) ?? new Map<string, FieldDocument>();
    const pointer = pointers.get(collection);
    const name = pointer?.key ?? keyInInstance(collection, into) ?? 'id';
    if (fields.has(name) || [...fields.values()].some((field) => isKey(field, into) !== false)) continue;
    const key = primaryKey(collection, name, pointer, into);
    into.fields.set(collection, new Map([[name, key], ...fields]));
    const message = `The file has no primary key for ${quotedPath(collection)}; ${quotedPath(name)} (${String(completedField(key, into).type)}) was added.`;
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
  // An existing key needs no warning.
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

/** Gives columns of relations the type of the referenced primary key, and removes foreign keys that are impossible. */
export function fitForeignKeys(into: Import): void {
  const keys = new Map<string, KeyType>();
  for (const relation of into.relations.values()) {
    const one = keyTarget(relation, into);
    if (one === null) continue;
    const field = into.fields.get(relation.many_collection)?.get(relation.many_field);
    const target = keyTypeOf(one, into, keys);
    if (target === 'none') dropForeignKey(relation, one, into);
    else if (field !== undefined) fit(field, target, one, into);
  }
}

/** `none`: there is no single primary key. `unsaid`: neither the file nor the instance defines it. */
type KeyType = FieldDocument | 'none' | 'unsaid';

/** Returns the field that finally defines the type, because a primary key can reference another table. */
function keyTypeOf(collection: string, into: Import, known: Map<string, KeyType>): KeyType {
  const found = known.get(collection);
  if (found !== undefined) return found;
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
  const typed = typeof key === 'object' ? completedField(key, into) : key;
  known.set(collection, typed);
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
  // If all other columns are explicitly no key, the only unspecified one is.
  const [candidate, ...others] = fields.filter((field) => isKey(field, into) === undefined);
  if (candidate !== undefined) return others.length === 0 ? candidate : 'unsaid';
  return fields.length === 0 ? 'unsaid' : 'none';
}

/** Fields of the file, and a key that only the instance has and keeps. */
function fieldsOf(collection: string, into: Import): FieldDocument[] {
  const given = into.fields.get(collection);
  const kept = into.instance.keyOf(collection).filter(({ field }) => given?.has(field) !== true);
  const stays = kept.filter(({ field }) => hasField(collection, field, into));
  return [...(given?.values() ?? []), ...stays.map(({ field, type }) => ({ collection, field, type }))];
}

function dropForeignKey(relation: RelationDocument, target: string, into: Import): void {
  const { many_collection: collection, many_field: field } = relation;
  const message = `The relation of ${quotedPath(collection, field)} has no foreign key: ${quotedPath(target)} has no single primary key.`;
  warn(into, 'FOREIGN_KEY_LEFT_OUT', { collection, field }, message);
  relation.schema = null;
}

function fit(field: FieldDocument, target: FieldDocument | 'unsaid', one: string, into: Import): void {
  const targetType = target === 'unsaid' ? undefined : dataTypeOf(target);
  if (target === 'unsaid' || targetType === undefined) return leaveGuess(field, into);
  const own = field.type === undefined ? undefined : dataTypeOf(completedField(field, into));
  if (own === undefined || keyFamily(own) === keyFamily(targetType)) return;
  const place = { collection: field.collection, field: field.field };
  const message = `${quotedPath(field.collection, field.field)} becomes ${target.type}, the type of the primary key of ${quotedPath(one)} that it points at.`;
  warn(into, 'TYPE_CHANGED', place, message);
  const numbers = { max_length: null, numeric_precision: null, numeric_scale: null };
  const schema = { ...field.schema, ...numbers, ...typeMembers(target), data_type: targetType };
  Object.assign(field, { type: target.type, schema: { ...schema, ...refitDefault(schema, target) } });
}

/** Some vendors store such key types as strings. Only an existing column shows the actual type. */
function leaveGuess(field: FieldDocument, { instance }: Import): void {
  const isTold = field.schema?.['data_type'] !== undefined || instance.columnOf(field.collection, field.field);
  if (field.type === 'string' && isTold) delete field.type;
}

/** Undefined if the file is not specific enough. */
function dataTypeOf({ type, schema }: FieldDocument): string | undefined {
  if (schema === null || type === undefined) return undefined;
  const said = schema?.['data_type'];
  return typeof said === 'string' ? said : dataTypesOf(type)?.[0];
}

/** A default that does not match the key's type never referenced a row. */
function refitDefault(schema: Record<string, unknown>, { type = 'unknown' }: FieldDocument): Record<string, unknown> {
  if (schema['default_value'] === undefined) return {};
  const { data_type, max_length, numeric_precision, numeric_scale } = schema as never;
  const value = defaultOf(type, { data_type, max_length, numeric_precision, numeric_scale }, schema['default_value']);
  return { default_value: value instanceof Wrong ? null : value };
}
