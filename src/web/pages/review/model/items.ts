/* Splits a diff into items that can be selected, and joins them again. */
import type { Backfill } from '../../../../schema/model/backfill.js';
import type { ObjectKind } from '../../../../schema/model/objects.js';
import type { LeftOutParts } from '../../../draft/edits.js';
import type { ChangePlace, Entry, SchemaDiff } from '../../../service/types.js';
import { valueText } from '../../../shared/changes/sentences.js';
import type { ShownConflict } from '../../../shared/conflicts/shown-conflict.js';
import { locale } from '../../../shared/language.js';
import { messages } from './messages.js';

export type Part = 'collections' | 'fields' | 'relations' | 'objects';
export const PARTS: readonly Part[] = ['collections', 'fields', 'relations', 'objects'];

/** A changed member of a document. */
export interface Member {
  key: string;
  /** The path of the member. It ends before the first array index, because an array is one member. */
  path: readonly string[];
  before: unknown;
  after: unknown;
  /** Indexes of the member's entries in the item. */
  entries: readonly number[];
}

/** A collection, field, relation or view that differs. */
export interface Item {
  key: string;
  part: Part;
  /** The name of the collection or view. Tables and views share a namespace. */
  collection: string;
  field: string | null;
  /** The kind of a view: `materialized_view`. Null for collections, fields and relations. */
  kind: string | null;
  mark: 'made' | 'changed' | 'removed' | 'renamed';
  /** The whole document of a new or removed object. Otherwise null. */
  document: Readonly<Record<string, unknown>> | null;
  /** The members of a change. */
  members: readonly Member[];
  /** Position of the deletion, for an object that is restored from the trash. Otherwise null. */
  restores: number | null;
  /** How the change to a field fills rows. Null if it fills none. */
  backfill: Backfill | null;
  /** The index of the item in its part of the diff. */
  index: number;
}

interface RawItem {
  collection?: string;
  field?: string;
  /** Set for a view. */
  kind?: string;
  id?: string;
  restores?: number;
  backfill?: Backfill;
  diff: readonly Entry[];
}

/**
 * Returns the key of an item. If one name belongs to a removed and a new object, both have the same key, see `itemsOf`.
 * @param field the field of a relation, or the kind of a view. Null for a collection
 */
export const keyOf = (part: Part, collection: string, field: string | null): string =>
  JSON.stringify(field === null ? [part, collection] : [part, collection, field]);

/** @param item the key of the item */
export const memberKeyOf = (item: string, path: readonly string[]): string => `${item} ${JSON.stringify(path)}`;

const rawItems = (diff: Partial<SchemaDiff>, part: Part): readonly RawItem[] => diff[part] ?? [];

/** Returns the items in the order of the diff: collections, fields, relations, views. */
export function itemsOf(diff: Partial<SchemaDiff>): Item[] {
  return PARTS.flatMap((part) => {
    const names = new Map<string, number>();
    for (const raw of rawItems(diff, part)) {
      const key = nameKey(part, raw);
      names.set(key, (names.get(key) ?? 0) + 1);
    }
    return rawItems(diff, part).map((raw, index) => itemOf(part, raw, index, names));
  });
}

/** Returns the names of an item. A view has an id instead of a collection. */
function namesOf({ collection, id, field, kind }: RawItem): Pick<Item, 'collection' | 'field' | 'kind'> {
  return { collection: collection ?? id ?? '', field: field ?? null, kind: kind ?? null };
}

function nameKey(part: Part, raw: RawItem): string {
  const { collection, field, kind } = namesOf(raw);
  return keyOf(part, collection, kind ?? field);
}

function itemOf(part: Part, raw: RawItem, index: number, names: ReadonlyMap<string, number>): Item {
  const { restores = null, backfill = null, diff } = raw;
  const name = nameKey(part, raw);
  const whole = diff.find(({ path }) => path === undefined);
  // If a new object takes the name of a removed one, the name occurs twice.
  const isReplaced = whole?.kind === 'D' && (names.get(name) ?? 0) > 1;
  const key = isReplaced ? `${name} gone` : name;
  const base = { key, part, ...namesOf(raw), restores, backfill, index };
  return whole === undefined ? { ...base, ...changeOf(key, diff) } : { ...base, ...wholeOf(whole) };
}

type ItemChange = Pick<Item, 'mark' | 'document' | 'members'>;

function wholeOf(entry: Entry): ItemChange {
  const isNew = entry.kind === 'N';
  const document = valueOf(entry, isNew ? 'rhs' : 'lhs') as Record<string, unknown>;
  return { mark: isNew ? 'made' : 'removed', document, members: [] };
}

function changeOf(key: string, entries: readonly Entry[]): ItemChange {
  const members = membersOf(key, entries);
  return { mark: members.some((member) => isRename(member)) ? 'renamed' : 'changed', document: null, members };
}

/** True if the member is the name of the object itself. */
export const isRename = ({ path }: Pick<Member, 'path'>): boolean =>
  path.length === 1 && (path[0] === 'collection' || path[0] === 'field' || path[0] === 'id');

const valueOf = (entry: object, side: 'lhs' | 'rhs'): unknown => (entry as { lhs?: unknown; rhs?: unknown })[side];

function membersOf(item: string, entries: readonly Entry[]): Member[] {
  const groups = new Map<string, { path: string[]; entries: number[] }>();
  for (const [index, entry] of entries.entries()) {
    const path = memberPath(entry);
    const key = JSON.stringify(path);
    const group = groups.get(key) ?? { path, entries: [] };
    group.entries.push(index);
    groups.set(key, group);
  }
  return [...groups.values()].map((group) => {
    const own = group.entries.map((index) => entries[index] as Entry);
    return { ...group, key: memberKeyOf(item, group.path), ...valuesOf(own, group.path.length) };
  });
}

function memberPath({ path = [] }: Entry): string[] {
  const until = path.findIndex((step) => typeof step === 'number');
  return (until < 0 ? path : path.slice(0, until)).map(String);
}

function valuesOf(entries: readonly Entry[], depth: number): { before: unknown; after: unknown } {
  const [first] = entries;
  if (first !== undefined && entries.length === 1 && first.kind !== 'A' && first.path?.length === depth) {
    return { before: valueOf(first, 'lhs'), after: valueOf(first, 'rhs') };
  }
  return { before: elementsOf(entries, depth, 'lhs'), after: elementsOf(entries, depth, 'rhs') };
}

/** Returns the elements of an array that differ, by index. The values of an enum are listed without their indexes. */
function elementsOf(entries: readonly Entry[], depth: number, side: 'lhs' | 'rhs'): unknown {
  const elements: Record<string, unknown> = {};
  const labels: [index: number, label: string][] = [];
  for (const entry of entries) {
    const place = [...(entry.path ?? []).slice(depth), ...(entry.kind === 'A' ? [entry.index] : [])];
    const value = valueOf(entry.kind === 'A' ? entry.item : entry, side);
    if (place.at(-2) === 'labels' && typeof value === 'string') labels.push([Number(place.at(-1)), value]);
    else if (value !== undefined) elements[place.join('.')] = value;
  }
  if (labels.length === 0) return elements;
  const listed = labels.sort(([one], [other]) => one - other).map(([, label]) => label);
  return Object.keys(elements).length === 0 ? listed.join(', ') : { ...elements, labels: listed };
}

/** A location in the diff that was sent. */
interface DiffLocation {
  item: string;
  member: string | null;
}

export interface Chosen {
  diff: SchemaDiff;
  /** Returns the object at an entry of an item. Without an entry, at the item itself. Undefined if there is none. */
  placeAt(part: Part, index: number, entry?: number): DiffLocation | undefined;
}

/** Returns the diff without items that are not selected. */
export function selectChosen(diff: Partial<SchemaDiff>, items: readonly Item[], leftOut: ReadonlySet<string>): Chosen {
  const chosen: Record<Part, RawItem[]> = { collections: [], fields: [], relations: [], objects: [] };
  const sent: Record<Part, { item: Item; kept: readonly number[] | null }[]> = {
    collections: [],
    fields: [],
    relations: [],
    objects: [],
  };
  for (const item of items) {
    const raw = rawItems(diff, item.part)[item.index];
    if (raw === undefined || leftOut.has(item.key)) continue;
    const kept = listKeptEntries(item, raw, leftOut);
    if (kept?.length === 0) continue;
    sent[item.part].push({ item, kept });
    chosen[item.part].push(kept === null ? raw : { ...raw, diff: kept.map((index) => raw.diff[index] as Entry) });
  }
  const { objects, ...others } = chosen;
  return {
    // A service that does not manage views rejects this member, so it is omitted if it is empty.
    diff: (objects.length === 0 ? others : chosen) as unknown as SchemaDiff,
    placeAt(part, index, entry) {
      const element = sent[part][index];
      if (element === undefined) return undefined;
      const { item, kept } = element;
      const own = entry === undefined ? undefined : kept === null ? entry : kept[entry];
      const member = own === undefined ? undefined : item.members.find(({ entries }) => entries.includes(own));
      return { item: item.key, member: member?.key ?? null };
    },
  };
}

/** Returns the indexes of the entries to send. Null for all of them. */
function listKeptEntries({ members }: Item, raw: RawItem, leftOut: ReadonlySet<string>): number[] | null {
  const left = members.filter(({ key }) => leftOut.has(key));
  if (left.length === 0) return null;
  const out = new Set(left.flatMap(({ entries }) => entries));
  return [...raw.diff.keys()].filter((index) => !out.has(index));
}

/** Deleted collections. */
export const deletedCollections = (items: readonly Item[]): readonly Item[] =>
  items.filter(({ part, mark }) => part === 'collections' && mark === 'removed');

/**
 * Returns the items that are excluded together with an item: the fields of a new collection, and the relation of a new
 * field.
 */
export function withDependents(items: readonly Item[], { key, part, collection, field, mark }: Item): string[] {
  if (mark !== 'made' || part === 'relations' || part === 'objects') return [key];
  const isDeletedWith = (each: Item): boolean =>
    each.collection === collection && (part === 'collections' || (each.part === 'relations' && each.field === field));
  return [key, ...items.filter((each) => each.key !== key && isDeletedWith(each)).map((each) => each.key)];
}

/** The parts of the reviewed diff that the user excluded. */
export interface LeftOutItems {
  items: readonly Item[];
  /** Keys of items and of their members. */
  keys: ReadonlySet<string>;
}

/** Returns the excluded parts in the format of the draft. */
export function leftOutOf({ items, keys }: LeftOutItems): LeftOutParts {
  const byName = new Map<string, Item[]>();
  for (const item of items) {
    const name = keyOf(item.part, item.collection, item.kind ?? item.field);
    byName.set(name, [...(byName.get(name) ?? []), item]);
  }
  const itemsAt = (part: Part, key: string): readonly Item[] => {
    const [collection = '', field = null] = key.split('\0');
    return byName.get(keyOf(part, collection, field)) ?? [];
  };
  return {
    hasObject: (part, key, isReplaced = false) => {
      const siblings = itemsAt(part, key);
      const item =
        siblings.length === 1 ? siblings[0] : siblings.find(({ mark }) => (mark === 'removed') === isReplaced);
      return item !== undefined && keys.has(item.key);
    },
    membersOf: (part, key) =>
      itemsAt(part, key).flatMap(({ members }) =>
        members.filter((member) => keys.has(member.key)).map(({ path }) => path),
      ),
  };
}

/** Returns the location of an item, as a comment on it names it. */
export function placeOf({ part, collection, field, kind }: Item): ChangePlace {
  if (part === 'objects') return { part, kind: kind as ObjectKind, id: collection };
  return part === 'collections' ? { part, collection } : { part, collection, field: field ?? '' };
}

/** Returns `articles.title`. */
export const titleOf = ({ collection, field }: Pick<Item, 'collection' | 'field'>): string =>
  field === null ? collection : `${collection}.${field}`;

/**
 * Groups items by collection, by name. In each group, the collection itself comes first, and new fields have the order
 * of the forms.
 */
export function byCollection(items: readonly Item[]): [collection: string, items: Item[]][] {
  const groups = new Map<string, Item[]>();
  for (const item of [...items].sort(compareItems)) {
    const group = groups.get(item.collection);
    if (group === undefined) groups.set(item.collection, [item]);
    else group.push(item);
  }
  return [...groups].sort(([one], [other]) => ORDER.compare(one, other));
}

/** Fields without a `sort` come last, in the order of the diff. */
const compareItems = (one: Item, other: Item): number =>
  PARTS.indexOf(one.part) - PARTS.indexOf(other.part) || sortOf(one) - sortOf(other) || 0;

function sortOf({ part, document }: Item): number {
  const { sort } = (document?.['meta'] ?? {}) as { sort?: unknown };
  return part === 'fields' && typeof sort === 'number' ? sort : Number.MAX_SAFE_INTEGER;
}

/** A collator is much faster than localeCompare. */
const ORDER = new Intl.Collator(locale);

/* Compare concurrent changes with the review. If both changed the same member, there are three values. */

/** The key of the item or member that is excluded if the user chooses the concurrent change. */
export interface Conflict extends ShownConflict {
  path: readonly string[];
}

/**
 * @param mine the reviewed items
 * @param since the concurrent changes to the same schema
 */
export function conflictsOf(mine: readonly Item[], since: Partial<SchemaDiff>): Conflict[] {
  const theirs = new Map(itemsOf(since).map((item) => [item.key, item]));
  return mine.flatMap((item) => {
    const other = theirs.get(item.key);
    return other === undefined ? [] : conflictsBetween(item, other);
  });
}

function conflictsBetween(mine: Item, theirs: Item): Conflict[] {
  if (mine.document !== null || theirs.document !== null) return findDocumentConflict(mine, theirs);
  const others = new Map(theirs.members.map((member) => [member.key, member]));
  return mine.members.flatMap((member) => {
    const other = others.get(member.key);
    if (other === undefined || isSame(member, other)) return [];
    const [base, own, their] = [member.before, member.after, other.after].map(valueText) as [string, string, string];
    return [{ key: member.key, name: titleOf(mine), path: member.path, base, mine: own, theirs: their }];
  });
}

const isSame = (one: Member, other: Member): boolean => JSON.stringify(one.after) === JSON.stringify(other.after);

function findDocumentConflict(mine: Item, theirs: Item): Conflict[] {
  if (mine.mark === theirs.mark && JSON.stringify(mine.document) === JSON.stringify(theirs.document)) return [];
  const base = mine.mark === 'made' || theirs.mark === 'made' ? messages.values.absent : messages.values.present;
  return [{ key: mine.key, name: titleOf(mine), path: [], base, mine: wordOf(mine), theirs: wordOf(theirs) }];
}

function wordOf({ mark, members }: Item): string {
  if (mark === 'made') return messages.values.made;
  if (mark === 'removed') return messages.values.removed;
  return messages.values.changed(members.map(({ path }) => path.join('.')).join(', '));
}

/** Returns the keys of items that only the new review contains. Applying these would undo concurrent changes. */
export function keysSince(before: readonly Item[], now: readonly Item[]): string[] {
  const keysOf = (items: readonly Item[]) =>
    items.flatMap(({ key, members }) => (members.length === 0 ? [key] : members.map((member) => member.key)));
  const keys = new Set([...keysOf(before), ...before.map(({ key }) => key)]);
  return keysOf(now).filter((key) => !keys.has(key));
}
