/** Merges one document: a collection without its fields, a field, or a relation. */
import { jsonEqual, type Json, isObject } from '../../kernel/json.js';
import type { Result } from '../../kernel/problem.js';
import type { Collection, ColumnSchema, Field, NewRelation } from '../model/model.js';
import type { SchemaObject } from '../model/object-document.js';
import { type StoredLocation, isElsewhere, storedLocation, withLocation } from '../model/state.js';
import { readNewCollection, readNewField, readNewRelation } from '../normal-form/index.js';
import { readNewObject } from '../normal-form/object.js';
import type { Decisions, MergeConflict, MergeLocation, Side } from './model.js';
import type { Step } from '../diff/entries.js';

/* Merges JSON values of one document member by member. */

/** The value on each side. Undefined where it does not exist. */
interface Three {
  base: Json | undefined;
  ours: Json | undefined;
  theirs: Json | undefined;
}

/** Called for a member that both sides changed differently. @returns the selected value */
type OnConflict = (path: Step[], values: Three) => Json | undefined;

/** Values that are never merged by member, because they have one meaning as a whole. */
const WHOLE: ReadonlySet<string> = new Set(['schema.default_value', 'meta.validation']);

/** Returns the value if at most one side changed it, or if both made the same change. Null if the changes differ. */
export function settle<T>({ base, ours, theirs }: { base: T; ours: T; theirs: T }): { value: T } | null {
  if (jsonEqual(ours, theirs) || jsonEqual(base, theirs)) return { value: ours };
  return jsonEqual(base, ours) ? { value: theirs } : null;
}

/** Returns the merged value, or undefined. */
export function mergeValues(values: Three, path: Step[], onConflict: OnConflict): Json | undefined {
  const value = settle(values);
  if (value !== null) return value.value;
  const { base, ours, theirs } = values;
  if (WHOLE.has(path.join('.'))) return onConflict(path, values);
  if (isObject(ours) && isObject(theirs)) {
    return mergeObjects({ base: isObject(base) ? base : {}, ours, theirs }, path, onConflict);
  }
  const named = readNamedLists(values);
  return named === null ? onConflict(path, values) : mergeNamed(named, path, onConflict);
}

type Members = { [member: string]: Json };

interface ThreeObjects {
  base: Members;
  ours: Members;
  theirs: Members;
}

function mergeObjects({ base, ours, theirs }: ThreeObjects, path: Step[], onConflict: OnConflict): Json {
  const merged: Members = {};
  for (const member of new Set([...Object.keys(ours), ...Object.keys(theirs)])) {
    const values = { base: ownMember(base, member), ours: ownMember(ours, member), theirs: ownMember(theirs, member) };
    const value = mergeValues(values, [...path, member], onConflict);
    // defineProperty treats a member named __proto__ like any other.
    if (value !== undefined) Object.defineProperty(merged, member, { value, ...PLAIN });
  }
  return merged;
}

const PLAIN = { writable: true, enumerable: true, configurable: true };

const ownMember = (object: Members, member: string): Json | undefined =>
  Object.hasOwn(object, member) ? object[member] : undefined;

type Named = Record<keyof Three, Map<string, Json>>;

/** Lists of objects with unique names: constraints, indexes, needs. Null for anything else. */
function readNamedLists({ base, ours, theirs }: Three): Named | null {
  if (!Array.isArray(ours) || !Array.isArray(theirs)) return null;
  const [b, o, t] = [indexByName(Array.isArray(base) ? base : []), indexByName(ours), indexByName(theirs)];
  return b === null || o === null || t === null ? null : { base: b, ours: o, theirs: t };
}

function indexByName(list: Json[]): Map<string, Json> | null {
  const documents = new Map<string, Json>();
  for (const element of list) {
    if (!isObject(element) || typeof element['name'] !== 'string') return null;
    documents.set(JSON.stringify([element['kind'] ?? null, element['name']]), element);
  }
  return documents.size === list.length ? documents : null;
}

/** Merges lists whose elements have names. Elements with equal names correspond. */
function mergeNamed(named: Named, path: Step[], onConflict: OnConflict): Json {
  const merged = new Map<string, Json>();
  for (const key of orderNames(named)) {
    const values = { base: named.base.get(key), ours: named.ours.get(key), theirs: named.theirs.get(key) };
    const value = mergeValues(values, [...path, (JSON.parse(key) as [unknown, string])[1]], onConflict);
    if (value !== undefined) merged.set(key, value);
  }
  // A side that already contains the merged elements keeps its order. Otherwise, merging the same file twice would
  // change the order.
  const whole = [named.ours, named.theirs].find(
    (side) => side.size === merged.size && [...side.keys()].every((key) => merged.has(key)),
  );
  return [...(whole ?? merged).keys()].map((key) => merged.get(key) as Json);
}

/**
 * Returns the order of the merged names. Additions of both sides come last, in an order that does not depend on which
 * side is ours.
 */
function orderNames(named: Named): string[] {
  const common = [...named.ours.keys()].filter((key) => named.base.has(key) || named.theirs.has(key));
  const others = [...named.theirs.keys()].filter((key) => named.base.has(key) && !named.ours.has(key));
  const added = [named.ours, named.theirs].map((list) => [...list.keys()].filter((key) => isAlone(named, key)));
  const [first = [], second = []] = added.sort((a, b) => (a.join() < b.join() ? -1 : 1));
  return [...common, ...others, ...first, ...second];
}

const isAlone = ({ base, ours, theirs }: Named, key: string): boolean =>
  !base.has(key) && ours.has(key) !== theirs.has(key);

export interface Merging {
  decisions: Decisions;
  conflicts: MergeConflict[];
}

export interface Sides<T> {
  base: T | undefined;
  ours: T | undefined;
  theirs: T | undefined;
}

/** Describes how to merge one kind of document. */
export interface Kind<T> {
  /** Returns the document in normal form, or its problems. */
  read(document: unknown): Result<T>;
  /** Handles members that are only meaningful together. */
  align?(sides: Required<Documents<T>>, member: MergeMembers): Documents<T>;
}

type Documents<T> = { base?: T; ours: T; theirs: T };

/** Merges several members as one value. */
type MergeMembers = (name: string, values: Three) => Json | undefined;

const OWN = { imported: false } as const;

export const COLLECTION: Kind<Collection> = {
  read: (document) => readNewCollection(document, [], OWN),
  align: alignLocations,
};
export const FIELD: Kind<Field> = { read: (document) => readNewField(document, [], OWN), align: alignTypes };
export const RELATION: Kind<NewRelation> = { read: (document) => readNewRelation(document, [], OWN) };
export const OBJECT: Kind<SchemaObject> = { read: (document) => readNewObject(document, []) };

/**
 * Returns the merged document at `place`, or undefined. A resolution selects one side.
 * @param isOther true if one side has a different object with the name of the base's object. Different objects are
 * never merged member by member.
 */
export function mergeDocument<T extends object>(
  merging: Merging,
  location: MergeLocation,
  sides: Sides<T>,
  { kind, isOther = false }: { kind: Kind<T>; isOther?: boolean },
): T | undefined {
  const decided = merging.decisions.at(location);
  if (decided !== undefined) return sides[decided];
  const value = settle(sides);
  if (value !== null) return value.value;
  const { base, ours, theirs } = sides;
  if (ours === undefined || theirs === undefined || isOther) {
    merging.conflicts.push(createRemovedConflict(location, sides));
    return ours;
  }
  return mixSides(merging, location, { base, ours, theirs }, kind);
}

/** Creates the conflict of an object that one side removed or recreated and the other changed. */
export function createRemovedConflict<T extends object>(location: MergeLocation, sides: Sides<T>): MergeConflict {
  const deletion =
    sides.ours === undefined ? 'ours deleted it' : sides.theirs === undefined ? 'theirs deleted it' : null;
  const message =
    deletion === null
      ? 'ours deleted it and created another one with the same name, and theirs changed it'
      : `${deletion}, and ${sides.ours === undefined ? 'theirs' : 'ours'} changed it`;
  return { kind: 'removed', place: location, message, ...showSides(sides) };
}

/** Returns the values of the sides on which the object exists. */
export const showSides = <T>({ base, ours, theirs }: Sides<T>): Partial<Record<'base' | Side, Json>> => ({
  ...(base !== undefined && { base: base as Json }),
  ...(ours !== undefined && { ours: ours as Json }),
  ...(theirs !== undefined && { theirs: theirs as Json }),
});

function mixSides<T extends object>(
  { decisions, conflicts }: Merging,
  location: MergeLocation,
  sides: { base: T | undefined; ours: T; theirs: T },
  { read, align }: Kind<T>,
): T {
  const before = conflicts.length;
  const onConflict = (path: (string | number)[], values: Three): Json | undefined => {
    const at = { ...location, path };
    const decided = decisions.at(at);
    if (decided !== undefined) return values[decided];
    const message = 'both changed it differently';
    conflicts.push({ kind: 'changed', place: at, message, ...showSides(values) });
    return values.ours;
  };
  const aligned =
    align === undefined
      ? sides
      : align(sides as Required<Documents<T>>, (name, values) => {
          const value = settle(values);
          return value === null ? onConflict([name], values) : value.value;
        });
  const merged = mergeValues(aligned as Three & typeof aligned, [], onConflict) as T;
  // A document that equals one side is known to be valid. After a conflict, the conflicting members are missing, so the
  // document is not checked.
  if (conflicts.length > before || jsonEqual(merged, sides.ours) || jsonEqual(merged, sides.theirs)) return merged;
  const result = read(merged);
  if (result.ok) return result.value;
  for (const { message, path } of result.problems) {
    const where = path === undefined || path === '' ? '' : `${path}: `;
    conflicts.push({
      kind: 'invalid',
      place: location,
      message: `the merged schema is not valid: ${where}${message}`,
      ...showSides(sides),
    });
  }
  return sides.ours;
}

/** Merges the schema and the name of a table as one value. */
function alignLocations(sides: Documents<Collection>, member: MergeMembers): Documents<Collection> {
  const { base, ours, theirs } = sides;
  if (!isElsewhere(ours, theirs)) return sides;
  const at = (collection: Collection | undefined): Json | undefined => collection && { ...storedLocation(collection) };
  const location = member('schema', {
    base: at(base),
    ours: at(ours),
    theirs: at(theirs),
  }) as unknown as StoredLocation;
  const located = (collection: Collection): Collection => ({
    ...collection,
    schema: collection.schema && withLocation(collection.schema, location),
  });
  return { ...(base !== undefined && { base: located(base) }), ours: located(ours), theirs: located(theirs) };
}

const TYPE_MEMBERS = ['data_type', 'max_length', 'numeric_precision', 'numeric_scale'] as const;

/**
 * Merges the members that define the type of a column as one value, because they are meaningful only together. The
 * members also decide if there is a column.
 */
function alignTypes(sides: Documents<Field>, member: MergeMembers): Documents<Field> {
  const all = [sides.base, sides.ours, sides.theirs].filter((each) => each !== undefined);
  const hasColumns = all.every(({ schema }) => schema !== null);
  const unitOf = (field: Field | undefined): Json | undefined => {
    if (field === undefined) return undefined;
    const { type, schema } = field;
    if (!hasColumns || schema === null) return { type, schema: schema as unknown as Json };
    const precision = schema.extras?.precision;
    return { type, ...pick(schema), ...(precision !== undefined && { precision }) };
  };
  const unit = member('type', { base: unitOf(sides.base), ours: unitOf(sides.ours), theirs: unitOf(sides.theirs) });
  const withUnit = (field: Field): Field => setUnit(field, unit as unknown as Unit, hasColumns);
  const { base, ours, theirs } = sides;
  return { ...(base !== undefined && { base: withUnit(base) }), ours: withUnit(ours), theirs: withUnit(theirs) };
}

type Unit = { type: string; schema?: ColumnSchema | null; precision?: number } & Partial<ColumnSchema>;

const pick = (schema: ColumnSchema): Record<string, Json> =>
  Object.fromEntries(TYPE_MEMBERS.map((member) => [member, schema[member]]));

function setUnit(field: Field, { type, schema, precision, ...members }: Unit, hasColumns: boolean): Field {
  if (!hasColumns) return { ...field, type, schema: schema ?? null };
  const { extras, ...column } = field.schema as ColumnSchema;
  const { precision: _, ...others } = extras ?? {};
  const merged = { ...others, ...(precision !== undefined && { precision }) };
  const kept = Object.keys(merged).length > 0 ? { extras: merged } : {};
  return { ...field, type, schema: { ...column, ...members, ...kept } };
}
