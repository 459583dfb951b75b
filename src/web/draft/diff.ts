import { invertMap } from '../../kernel/lists-and-maps.js';
import { type Json, jsonEqual, isObject } from '../../kernel/json.js';
import type { CollectionDiff, FieldDiff, ObjectDiff, RelationDiff, SchemaDiff } from '../../schema/diff/diff.js';
import { type Entry, entriesBetween } from '../../schema/diff/entries.js';
import type { Backfill } from '../../schema/model/backfill.js';
import type { Collection, Field, NewRelation } from '../../schema/model/model.js';
import type { SchemaObject } from '../../schema/model/object-document.js';
import { discard, createRenamer } from './edits.js';
import {
  type Documents,
  type Draft,
  type Edit,
  type Part,
  PARTS,
  formerName,
  keyOf,
  memberKey,
  namesIn,
  renamedKeys,
} from './model.js';

/** The current state of a draft's collections, with their fields and relations. */
export interface Head {
  position: number;
  /** The hash of the whole schema, for `hash` and `If-Match`. */
  hash: string;
  collections: readonly Collection[];
  fields: readonly Field[];
  relations: readonly NewRelation[];
  /** All objects of the schema. */
  objects: readonly SchemaObject[];
}

/** A conflict with a concurrent change to something that the draft changes. */
interface Conflict extends Difference {
  part: Part;
  /** The key of the document in the draft. */
  key: string;
}

interface DraftDiff {
  hash: string;
  diff: SchemaDiff;
  /** The conflicts. `diff` contains the changes of the draft. */
  conflicts: Conflict[];
}

/**
 * Returns the diff from the head to the draft. It has no entry for changes that the head already contains. It includes
 * conflicts, so the caller must ask the user before sending it.
 */
export function draftDiff(draft: Draft, head: Head): DraftDiff {
  const now = byDraftNames(draft, head);
  const diff: Required<SchemaDiff> = { collections: [], fields: [], relations: [], objects: [] };
  const conflicts: Conflict[] = [];
  for (const part of PARTS) {
    const keys = new Set([...draft[part].keys(), ...renamedKeys(draft, part)]);
    for (const key of [...keys].sort()) {
      const edit = draft[part].get(key) as Edit<object> | undefined;
      const theirs = (now[part].get(key) ?? null) as object | null;
      const changed = entriesOf({ draft, part, key }, theirs, (each) => conflicts.push({ part, key, ...each }));
      const named = itemOf(part, key, (edit?.after ?? theirs) as NewRelation | null);
      diff[part].push(...(itemsWith(named, changed, edit?.backfill) as never[]));
    }
  }
  const { objects, ...others } = diff;
  // A service that manages only tables rejects this member.
  return { hash: head.hash, diff: objects.length === 0 ? others : diff, conflicts };
}

/** Returns the items of an object. Rows are filled by the last one, which is the one that the draft leads to. */
const itemsWith = (named: Item, changed: readonly Entry<unknown>[][], backfill: Backfill | undefined): object[] =>
  changed.map((entries, index) => ({
    ...named,
    diff: entries,
    ...(index === changed.length - 1 && backfill !== undefined && { backfill }),
  }));

interface DraftEntry {
  draft: Draft;
  part: Part;
  key: string;
}

type Report = (found: Difference) => void;

/** Returns one list of entries for each item of the diff. */
function entriesOf({ draft, part, key }: DraftEntry, theirs: object | null, report: Report): Entry<unknown>[][] {
  const edit = draft[part].get(key) as Edit<object> | undefined;
  const lists = edit === undefined ? [] : diffEdit(edit, theirs, report);
  const former = formerName(draft, part, key);
  // If a renamed object exists at the head, all its other entries are about members.
  const renamed = former === undefined ? lists : [[renameEntry(part, key, former), ...lists.flat()]];
  return renamed.filter((entries) => entries.length > 0);
}

/** Returns the entries of an edit. There are two lists if another object of the same name replaces the object. */
function diffEdit(edit: Edit<object>, theirs: object | null, report: Report): Entry<unknown>[][] {
  const { before, after, recreated } = edit;
  if (isWholeConflict(edit, theirs))
    report({ path: [], base: before ?? undefined, mine: after ?? undefined, theirs: theirs ?? undefined });
  const gone: Entry<unknown>[] = theirs === null ? [] : [{ kind: 'D', lhs: theirs }];
  if (after === null) return [gone];
  const made: Entry<unknown>[] = [{ kind: 'N', rhs: after }];
  if (recreated === true) return [gone, made];
  if (theirs === null) return [made];
  const result =
    before === null ? overlayMembers(theirs, after) : mergeSides({ was: before, mine: after, now: theirs }, report);
  return [entriesBetween(asJson(theirs), asJson(result))];
}

/** True if the object at the head is no longer the one that the draft created, changed or removed. */
function isWholeConflict({ before, after, recreated }: Edit<object>, theirs: object | null): boolean {
  if (theirs === null) return before !== null && after !== null && recreated !== true;
  if (before === null) return after !== null && !isSameAsListed(theirs, after);
  return (after === null || recreated === true) && !isSameAsListed(theirs, before);
}

const asJson = (document: object): Json => document as unknown as Json;

/**
 * True if the two documents are equal. Lists contain fewer members than snapshots, so members that `base` lacks are no
 * difference.
 */
const isSameAsListed = (theirs: object, base: object): boolean => jsonEqual(overlayMembers(theirs, base), theirs);

type HeadByKey = { [P in Part]: ReadonlyMap<string, Documents[P]> };

export function byDraftNames(draft: Draft, head: Pick<Head, Part>): HeadByKey {
  const rename = createRenamer({
    collections: invertMap(draft.names.collections),
    fields: new Map([...draft.names.fields].map(([name, former]) => [name, invertMap(former)])),
    objects: formerObjects(draft),
  });
  const keyed = <P extends Part>(part: P) =>
    new Map(
      (head[part] as readonly Documents[P][]).map((document) => {
        const changed = (rename[part] as unknown as (each: Documents[P]) => Documents[P])(document);
        return [keyOf[part](changed), changed];
      }),
    );
  return {
    collections: keyed('collections'),
    fields: keyed('fields'),
    relations: keyed('relations'),
    objects: keyed('objects'),
  };
}

function renameEntry(part: Part, key: string, lhs: string): Entry<never> {
  const { collection, field } = namesIn(part, key);
  if (part === 'objects') return { kind: 'E', path: ['id'], lhs, rhs: collection };
  return part === 'collections'
    ? { kind: 'E', path: ['collection'], lhs, rhs: collection }
    : { kind: 'E', path: ['field'], lhs, rhs: field ?? '' };
}

/** Returns the ids in the draft by the keys of the objects at the head. */
const formerObjects = ({ names }: Draft): ReadonlyMap<string, string> =>
  new Map(
    [...names.objects].map(([key, former]) => {
      const { collection: id, kind } = namesIn('objects', key);
      return [memberKey(former, kind ?? ''), id];
    }),
  );

type Item =
  Omit<CollectionDiff, 'diff'> | Omit<FieldDiff, 'diff'> | Omit<RelationDiff, 'diff'> | Omit<ObjectDiff, 'diff'>;

function itemOf(part: Part, key: string, relation: NewRelation | null): Item {
  const { collection, field, kind } = namesIn(part, key);
  if (kind !== null) return { kind, id: collection };
  if (field === null) return { collection };
  if (part === 'fields') return { collection, field };
  return { collection, field, related_collection: relation?.one_collection ?? null };
}

/** Returns the draft without a conflict. Returns the same draft if it no longer contains the conflict. */
export function resolveConflict(draft: Draft, head: Head, conflict: Conflict, choice: 'mine' | 'theirs'): Draft {
  const { part, key, path } = conflict;
  const edit = draft[part].get(key) as Edit<object> | undefined;
  if (edit === undefined) return draft;
  if (path.length === 0) {
    if (choice === 'theirs') return discard(draft, part, key);
    const theirs = byDraftNames(draft, head)[part].get(key) ?? null;
    return withEdit(draft, part, key, { ...edit, before: theirs });
  }
  const theirs = (document: object | null) => document && withMember(document, path, conflict.theirs);
  const after = choice === 'mine' ? edit.after : theirs(edit.after);
  return withEdit(draft, part, key, { ...edit, before: theirs(edit.before), after });
}

const withEdit = (draft: Draft, part: Conflict['part'], key: string, edit: Edit<object>): Draft => ({
  ...draft,
  [part]: new Map(draft[part] as ReadonlyMap<string, Edit<object>>).set(key, edit),
});

function withMember(document: object, [first = '', ...rest]: readonly string[], value: unknown): object {
  const members = { ...document } as { [member: string]: unknown };
  if (rest.length > 0) members[first] = withMember(members[first] as object, rest, value);
  else if (value === undefined) delete members[first];
  else members[first] = value;
  return members;
}

/* Three-way merge of documents, member by member. */

/** A member that both sides changed. `undefined` means that the member does not exist. */
interface Difference {
  /** The path of the member. Empty if the whole document was created or removed. */
  path: string[];
  base: unknown;
  mine: unknown;
  theirs: unknown;
}

interface Sides {
  was: Members;
  mine: Members;
  now: Members;
}

type Members = { [member: string]: unknown };

const STRUCTURED = ['meta', 'schema'];

/**
 * Applies the changes from `was` to `mine` to `now`. `meta` and `schema` are merged member by member. Reports
 * conflicts.
 */
export function mergeSides(
  sides: { was: object; mine: object; now: object },
  report: (found: Difference) => void,
): object {
  const { was, mine, now } = sides as Sides;
  const [result, deep] = [{ ...now }, STRUCTURED.filter((member) => isDeep(sides as Sides, member))];
  for (const member of deep) {
    const inner = { was: was[member], mine: mine[member], now: now[member] } as Sides;
    result[member] = mergedMembers(inner, (conflict) => report({ ...conflict, path: [member, ...conflict.path] }));
  }
  const others = (document: Members) =>
    Object.fromEntries(Object.entries(document).filter(([member]) => !deep.includes(member)));
  const flat = mergedMembers({ was: others(was), mine: others(mine), now: others(now) }, report);
  return { ...flat, ...Object.fromEntries(deep.map((member) => [member, result[member]])) };
}

const isDeep = ({ was, mine, now }: Sides, member: string): boolean =>
  [was, mine, now].every((document) => isObject(document[member]));

function mergedMembers({ was, mine, now }: Sides, report: (found: Difference) => void): Members {
  const result = { ...now };
  for (const member of new Set([...Object.keys(was), ...Object.keys(mine)])) {
    const [base, own, theirs] = [was[member], mine[member], now[member]];
    if (jsonEqual(base, own)) continue;
    if (!jsonEqual(base, theirs) && !jsonEqual(own, theirs)) report({ path: [member], base, mine: own, theirs });
    if (own === undefined) delete result[member];
    else result[member] = own;
  }
  return result;
}

/** Returns `base` with the members of an incomplete document. */
function overlayMembers(now: object, base: object): object {
  const merged = (from: unknown, what: unknown) => (isObject(from) && isObject(what) ? { ...from, ...what } : what);
  const members = Object.entries(base).map(([member, value]) => [
    member,
    STRUCTURED.includes(member) ? merged((now as Members)[member], value) : value,
  ]);
  return { ...now, ...(Object.fromEntries(members) as object) };
}
