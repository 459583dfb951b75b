/**
 * Defines edits of a draft. Each function returns a new draft. An edit that restores the former state removes the
 * change.
 */
import { isObject, jsonEqual } from '../../kernel/json.js';
import { type Backfill, sourceOf } from '../../schema/model/backfill.js';
import { foreignKeyName } from '../../schema/model/name-length.js';
import type { Collection, Field, ForeignKey, NewRelation } from '../../schema/model/model.js';
import { idOnTable, idOnTarget, objectNameParts, quoteUnlessPlain } from '../../schema/model/object-ids.js';
import { KINDS, type ObjectKind, type ObjectName, RELATION_KINDS, TARGETS } from '../../schema/model/objects.js';
import type { SchemaObject } from '../../schema/model/object-document.js';
import {
  type Documents,
  type Draft,
  EMPTY,
  type Edit,
  type Part,
  PARTS,
  collectionOfKey,
  formerName,
  isEmpty,
  keyOf,
  memberKey,
  namesIn,
  objectKeyOf,
} from './model.js';

type Edits<P extends Part> = ReadonlyMap<string, Edit<Documents[P]>>;

const withEdits = <P extends Part>(draft: Draft, part: P, edits: Edits<P>): Draft => ({ ...draft, [part]: edits });

/**
 * Creates or changes a document.
 * @param before the document at the head with the names of the draft. Null if it is new. Used only if the draft does
 * not contain the document yet
 */
export function put<P extends Part>(
  draft: Draft,
  part: P,
  { before, after }: { before: Documents[P] | null; after: Documents[P] },
): Draft {
  const key = keyOf[part](after);
  const edit = (draft[part] as Edits<P>).get(key);
  // An object that is removed and added again is a new one.
  const recreated = edit?.recreated === true || (edit !== undefined && edit.after === null && before === null);
  const was = edit === undefined ? before : edit.before;
  return withEdit(draft, part, key, { before: was, after, ...(recreated && { recreated }), ...backfillOf(edit) });
}

const backfillOf = (edit: Edit<unknown> | undefined): Pick<Edit<unknown>, 'backfill'> =>
  edit?.backfill === undefined ? {} : { backfill: edit.backfill };

/**
 * Sets how the change to a field fills rows. Without a change, the draft stays the same.
 * @param key the field, by `memberKey`
 */
export function setBackfill(draft: Draft, key: string, backfill: Backfill | null): Draft {
  const edit = draft.fields.get(key);
  if (edit === undefined) return draft;
  const { backfill: _, ...rest } = edit;
  return withEdit(draft, 'fields', key, backfill === null ? rest : { ...rest, backfill });
}

/** Removes a document. For a collection, this includes its fields and relations. */
export function remove<P extends Part>(draft: Draft, part: P, document: Documents[P]): Draft {
  const key = keyOf[part](document);
  const edit = (draft[part] as Edits<P>).get(key);
  const before = edit === undefined ? document : edit.before;
  if (part === 'collections') return removeCollection(draft, key, before as Documents['collections'] | null);
  if (part === 'objects') return removeObject(draft, key, before as SchemaObject | null);
  if (part !== 'fields') return withEdit(draft, part, key, { before, after: null });
  // The removal is stored under the name at the head.
  const { collection, field } = document as Documents['fields'];
  const former = draft.names.fields.get(collection)?.get(field) ?? field;
  const named = former === field ? draft : renameField(draft, collection, field, former);
  const gone = before && { ...(before as Documents['fields']), field: former };
  return withEdit(named, 'fields', memberKey(collection, former), { before: gone, after: null });
}

function removeCollection(draft: Draft, name: string, before: Documents['collections'] | null): Draft {
  const former = draft.names.collections.get(name);
  const named = former === undefined ? draft : renameCollection(draft, name, former);
  const key = former ?? name;
  const next = withoutMembers(named, key);
  return withEdit(next, 'collections', key, { before: before && { ...before, collection: key }, after: null });
}

function removeObject(draft: Draft, key: string, before: SchemaObject | null): Draft {
  const former = draft.names.objects.get(key);
  const { collection: id, kind } = namesIn('objects', key);
  const name = { kind: kind as ObjectKind, id };
  const named = former === undefined ? draft : renameObject(draft, name, former);
  const gone = former === undefined ? name : { ...name, id: former };
  return withEdit(named, 'objects', objectKeyOf(gone), {
    before: before && { ...before, ...gone },
    after: null,
  });
}

/**
 * Discards the change to a document. If the draft created a collection, all its fields and relations are discarded too.
 */
export function discard(draft: Draft, part: Part, key: string): Draft {
  const [collection = '', field = ''] = key.split('\0');
  const isMade = part === 'collections' && draft.collections.get(key)?.before === null;
  const whole = isMade ? withoutMembers(draft, key) : draft;
  const next = withoutPosition({ ...whole, [part]: without<unknown>(whole[part], key) });
  const former = formerName(draft, part, key);
  if (former === undefined) return next;
  if (part === 'objects') return renameObject(next, objectIn(key), former);
  return part === 'collections' ? renameCollection(next, key, former) : renameField(next, collection, field, former);
}

/** Returns the name in the key of an object. */
function objectIn(key: string): ObjectName {
  const { collection: id, kind } = namesIn('objects', key);
  return { kind: kind as ObjectKind, id };
}

/** Returns the draft without the fields, relations and objects of a collection. */
function withoutMembers(draft: Draft, collection: string): Draft {
  const others = <T>(edits: ReadonlyMap<string, T>) =>
    new Map([...edits].filter(([key]) => collectionOfKey(key) !== collection));
  const isOther = ([key]: readonly [string, unknown]) => objectNameParts(objectIn(key)).table !== collection;
  const names = {
    collections: draft.names.collections,
    fields: without(draft.names.fields, collection),
    objects: new Map([...draft.names.objects].filter(isOther)),
  };
  const objects = new Map([...draft.objects].filter(isOther));
  return { ...draft, names, fields: others(draft.fields), relations: others(draft.relations), objects };
}

function withEdit<P extends Part>(draft: Draft, part: P, key: string, edit: Edit<Documents[P]>): Draft {
  const edits = new Map(draft[part] as Edits<P>);
  const isSame = edit.recreated !== true && jsonEqual(edit.before, edit.after);
  if (isSame) edits.delete(key);
  else edits.set(key, edit);
  return withoutPosition(withEdits(draft, part, edits));
}

/** Returns an empty draft without a position, and any other draft unchanged. */
const withoutPosition = (draft: Draft): Draft => (isEmpty(draft) ? EMPTY : draft);

function without<T>(map: ReadonlyMap<string, T>, key: string): Map<string, T> {
  const next = new Map(map);
  next.delete(key);
  return next;
}

/** @param from the name of the collection in the draft */
export function renameCollection(draft: Draft, from: string, to: string): Draft {
  const isMade = draft.collections.get(from)?.before === null;
  const former = draft.names.collections.get(from) ?? from;
  const names = without(draft.names.collections, from);
  if (!isMade && former !== to) names.set(to, former);
  const fields = new Map([...draft.names.fields].map(([name, each]) => [name === from ? to : name, each]));
  const next = renamedDraft(draft, { ...NO_NAMES, collections: new Map([[from, to]]) });
  return withoutPosition({ ...next, names: { ...next.names, collections: names, fields } });
}

/**
 * @param object the object by its name in the draft
 * @param to the new id
 */
export function renameObject(draft: Draft, object: ObjectName, to: string): Draft {
  const key = objectKeyOf(object);
  const edit = draft.objects.get(key);
  const isMade = edit?.before === null || edit?.recreated === true;
  const former = draft.names.objects.get(key) ?? object.id;
  const next = renamedDraft(draft, { ...NO_NAMES, objects: new Map([[key, to]]) });
  const renamed = { ...object, id: to };
  const toKey = objectKeyOf(renamed);
  const objects = without(next.names.objects, toKey);
  if (!isMade && former !== to) objects.set(toKey, former);
  const edits = new Map(next.objects);
  const own = edits.get(toKey);
  if (own?.after != null && typeof own.after.definition === 'string')
    edits.set(toKey, {
      ...own,
      after: { ...own.after, definition: withNameOf(own.after.definition, object, renamed) },
    });
  return withoutPosition({ ...next, objects: edits, names: { ...next.names, objects } });
}

/** @param from the name of the field in the draft */
export function renameField(draft: Draft, collection: string, from: string, to: string): Draft {
  const edit = draft.fields.get(`${collection}\0${from}`);
  const isMade = edit?.before === null || edit?.recreated === true;
  const own = draft.names.fields.get(collection) ?? new Map<string, string>();
  const former = own.get(from) ?? from;
  const names = without(own, from);
  if (!isMade && former !== to) names.set(to, former);
  const fields = without(draft.names.fields, collection);
  if (names.size > 0) fields.set(collection, names);
  const renaming = { ...NO_NAMES, fields: new Map([[collection, new Map([[from, to]])]]) };
  return withoutPosition({ ...renamedDraft(draft, renaming), names: { ...draft.names, fields } });
}

/** Renames in every document of the draft. An object that replaces another one keeps the name of the other. */
function renamedDraft(draft: Draft, renaming: Renaming): Draft {
  const rename = createRenamer(renaming);
  let next = draft;
  for (const part of PARTS) {
    const change = rename[part] as (document: object) => object;
    const edits = new Map<string, Edit<never>>();
    for (const edit of draft[part].values()) {
      const before = edit.before && (change(edit.before) as never);
      const after = edit.after && (change(edit.after) as never);
      const backfill = edit.backfill && renamedBackfill(edit.backfill, renaming, (after ?? before) as never);
      edits.set(keyOf[part]((after ?? before) as never), { ...edit, before, after, ...(backfill && { backfill }) });
    }
    next = { ...next, [part]: edits };
  }
  const objects = new Map([...draft.names.objects].map(([key, former]) => [renamedKey(key, renaming), former]));
  return { ...next, names: { ...next.names, objects } };
}

const renamedKey = (key: string, renaming: Renaming): string => {
  const object = objectIn(key);
  return objectKeyOf({ ...object, id: renamedId(object, renaming) });
};

/** Renames the source of the values. @param field the field with its new names */
function renamedBackfill(backfill: Backfill, { fields }: Renaming, { collection }: Documents['fields']): Backfill {
  const source = sourceOf(backfill);
  const name = source === undefined ? undefined : fields.get(collection)?.get(source);
  return name === undefined ? backfill : { ...backfill, field: name };
}

/** The parts of a draft that the user excluded when applying the rest. */
export interface LeftOutParts {
  /**
   * True if the user excluded the whole object.
   * @param isReplaced true for the object that is deleted so that another can take its name
   */
  hasObject: (part: Part, key: string, isReplaced?: boolean) => boolean;
  /**
   * Returns the paths of the members that the user excluded from a change. `['collection']` and `['field']` are the new
   * name.
   */
  membersOf: (part: Part, key: string) => readonly (readonly string[])[];
}

/**
 * Returns the draft that remains after `sent` was applied without the excluded parts. Edits that were made in the
 * meantime stay. `sent` is the draft at the time of the request.
 */
export function remainingDraft(draft: Draft, sent: Draft, leftOut: LeftOutParts): Draft {
  const remaining = <P extends Part>(part: P): Edits<P> => {
    const edits = new Map<string, Edit<Documents[P]>>();
    for (const [key, edit] of draft[part] as Edits<P>) {
      const rest = jsonEqual(edit, sent[part].get(key)) ? unappliedEdit(edit, part, key, leftOut) : edit;
      if (rest !== null) edits.set(key, rest);
    }
    return edits;
  };
  const isApplied = (part: 'collections' | 'fields' | 'objects', key: string, former: string): boolean =>
    formerName(sent, part, key) === former &&
    !leftOut.hasObject(part, key) &&
    !leftOut.membersOf(part, key).some((path) => path.length === 1);
  const collections = [...draft.names.collections].filter(([name, former]) => !isApplied('collections', name, former));
  const fields = [...draft.names.fields]
    .map(([collection, names]) => {
      const kept = [...names].filter(([name, former]) => !isApplied('fields', memberKey(collection, name), former));
      return [collection, new Map(kept)] as const;
    })
    .filter(([, names]) => names.size > 0);
  const objects = [...draft.names.objects].filter(([key, former]) => !isApplied('objects', key, former));
  return withoutPosition({
    ...draft,
    names: { collections: new Map(collections), fields: new Map(fields), objects: new Map(objects) },
    collections: remaining('collections'),
    fields: remaining('fields'),
    relations: remaining('relations'),
    objects: remaining('objects'),
  });
}

/** Returns the part of an edit that was not applied. Null if the whole edit was applied. */
function unappliedEdit<T extends object>(
  edit: Edit<T>,
  part: Part,
  key: string,
  leftOut: LeftOutParts,
): Edit<T> | null {
  const { before, after, recreated } = edit;
  if (leftOut.hasObject(part, key)) {
    const isOldDeleted = recreated === true && !leftOut.hasObject(part, key, true);
    return isOldDeleted ? { before: null, after, ...backfillOf(edit) } : edit;
  }
  const paths = leftOut.membersOf(part, key);
  if (before === null || after === null || paths.length === 0) return null;
  const applied = paths.reduce<object>((document, path) => withMember(document, before, path), after) as T;
  return jsonEqual(applied, after) ? null : { before: applied, after, ...backfillOf(edit) };
}

/** Returns `document` with the member at `path` replaced by that of `source`. */
function withMember(document: object, source: object, [step = '', ...rest]: readonly string[]): object {
  const own = document as Record<string, unknown>;
  const other = source as Record<string, unknown>;
  if (rest.length > 0 && isObject(own[step]) && isObject(other[step]))
    return { ...own, [step]: withMember(own[step], other[step], rest) };
  const { [step]: _, ...others } = own;
  return step in other ? { ...own, [step]: other[step] } : others;
}

/* Renames in documents. As in the service, every member that equals the old name is changed. */

/** Maps old names to new names. */
type Names = ReadonlyMap<string, string>;

interface Renaming {
  collections: Names;
  /** Keyed by the collection's new name. */
  fields: ReadonlyMap<string, Names>;
  /** The new ids by the keys of the objects. */
  objects: Names;
}

const NO_NAMES: Renaming = { collections: new Map(), fields: new Map(), objects: new Map() };

type RenameOwn = <T extends string | null>(name: T) => T;

const ownOf =
  (names: Names | undefined): RenameOwn =>
  (name) =>
    (name === null ? name : (names?.get(name) ?? name)) as typeof name;

/** Returns one function per part. Each returns a copy of a document with new names. */
export const createRenamer = (renaming: Renaming) => ({
  collections: (document: Collection): Collection => renamedCollection(document, renaming),
  fields: (document: Field): Field => renamedField(document, renaming),
  relations: (document: NewRelation): NewRelation => renamedRelation(document, renaming),
  objects: (document: SchemaObject): SchemaObject => ({ ...document, id: renamedId(document, renaming) }),
});

/**
 * Returns the id of an object after renames. Objects of a table or a view follow it, and privileges follow their target.
 * Their definitions stay, because only the service can rewrite SQL.
 */
function renamedId(object: ObjectName, { collections, objects }: Renaming): string {
  const own = objects.get(objectKeyOf(object));
  if (own !== undefined) return own;
  const { name, table, target } = objectNameParts(object);
  const renamedAs = (kinds: readonly ObjectKind[], id: string): string | undefined =>
    kinds.map((kind) => objects.get(memberKey(id, kind))).find((to) => to !== undefined);
  if (target !== null) {
    const to = renamedAs(TARGETS[target.type].kinds, target.id);
    return to === undefined ? object.id : idOnTarget(name, { ...target, id: to });
  }
  if (table === null) return object.id;
  const to = collections.get(table) ?? renamedAs(RELATION_KINDS, table);
  return to === undefined ? object.id : idOnTable(object.kind, name, to);
}

/** Matches comments, quoted names and words. */
const TOKEN = /"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|[\w$]+|\S/g;

/**
 * Returns the definition with the new name of its object, where it is easy to find. The service checks the name.
 * @param to the object by its new name
 */
export function withNameOf(definition: string, from: ObjectName, to: ObjectName): string {
  const [old, now] = [objectNameParts(from).name, objectNameParts(to).name];
  if (old === now) return definition;
  const words: readonly string[] = [...KINDS[from.kind].sqlWords.split(' ').slice(-1), 'DOMAIN'];
  let isAfterKind = false;
  for (const { 0: token, index } of definition.matchAll(TOKEN)) {
    const name = token.startsWith('"') ? token.slice(1, -1).replaceAll('""', '"') : token.toLowerCase();
    if (isAfterKind && name === old) {
      return definition.slice(0, index) + quoteUnlessPlain(now) + definition.slice(index + token.length);
    }
    isAfterKind ||= words.includes(token.toUpperCase());
  }
  return definition;
}

function renamedCollection(document: Collection, { collections, fields }: Renaming): Collection {
  const table = ownOf(collections);
  const collection = table(document.collection);
  const own = ownOf(fields.get(collection));
  const { meta } = document;
  const copied = meta.item_duplication_fields;
  return {
    ...document,
    collection,
    schema: document.schema && retargetTable(document.schema, table),
    meta: {
      ...meta,
      group: table(meta.group),
      archive_field: own(meta.archive_field),
      sort_field: own(meta.sort_field),
      item_duplication_fields: Array.isArray(copied)
        ? copied.map((each) => (typeof each === 'string' ? own(each) : each))
        : copied,
    },
  };
}

function retargetTable(schema: NonNullable<Collection['schema']>, table: RenameOwn): NonNullable<Collection['schema']> {
  const { extras } = schema;
  if (extras?.constraints === undefined && extras?.partition_of === undefined) return schema;
  const constraints = extras.constraints?.map((each) =>
    each.references === undefined ? each : { ...each, references: table(each.references) },
  );
  const parent = extras.partition_of && { ...extras.partition_of, table: table(extras.partition_of.table) };
  return {
    ...schema,
    extras: { ...extras, ...(constraints && { constraints }), ...(parent && { partition_of: parent }) },
  };
}

function renamedField(document: Field, { collections, fields }: Renaming): Field {
  const collection = ownOf(collections)(document.collection);
  const own = ownOf(fields.get(collection));
  const { meta } = document;
  return { ...document, collection, field: own(document.field), meta: { ...meta, group: own(meta.group) } };
}

function renamedRelation(document: NewRelation, { collections, fields }: Renaming): NewRelation {
  const table = ownOf(collections);
  const many_collection = table(document.many_collection);
  const one_collection = table(document.one_collection);
  const own = ownOf(fields.get(many_collection));
  const there = ownOf(one_collection === null ? undefined : fields.get(one_collection));
  const many_field = own(document.many_field);
  return {
    ...document,
    schema: document.schema && renameDefaultKey(document.schema, document, { many_collection, many_field }),
    many_collection,
    many_field,
    one_collection,
    one_field: there(document.one_field),
    one_collection_field: own(document.one_collection_field),
    one_allowed_collections: document.one_allowed_collections?.map((each) => table(each)) ?? null,
    junction_field: own(document.junction_field),
    sort_field: own(document.sort_field),
  };
}

type ManySide = Pick<NewRelation, 'many_collection' | 'many_field'>;

/** Renames a foreign key if it has a default name, which derives from its two ends. */
function renameDefaultKey(key: ForeignKey, before: ManySide, after: ManySide): ForeignKey {
  return key.constraint_name === impliedName(before) ? { ...key, constraint_name: impliedName(after) } : key;
}

const impliedName = ({ many_collection, many_field }: ManySide): string => foreignKeyName(many_collection, many_field);
