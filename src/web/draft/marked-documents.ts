import type { Collection } from '../../schema/model/model.js';
import { objectNameParts } from '../../schema/model/object-ids.js';
import type { ObjectName } from '../../schema/model/objects.js';
import type { SchemaObject } from '../../schema/model/object-document.js';
import type { ListedCollection } from '../service/types.js';
import { byDraftNames, mergeSides } from './diff.js';
import {
  type Documents,
  type Draft,
  type Edit,
  type Part,
  collectionOfKey,
  formerName,
  formerObject,
  keyOf,
  collectionOf,
  isEmpty,
  namesIn,
} from './model.js';

export type Mark = 'made' | 'changed' | 'removed' | 'renamed';

export interface MarkedDocument<T> {
  document: T;
  /** The document at the head, with the names of the draft. Null if it is new. */
  before: T | null;
  /** The change by the draft. Undefined if the draft does not change the document. */
  mark: Mark | undefined;
}

const NO_REPORT = () => undefined;

/**
 * Returns the documents with the draft applied.
 * @param head all documents of the part, with their names at the head
 * @param within limits new objects to those of this collection. Undefined for all collections
 */
export function withDraftMarks<P extends Part>(
  draft: Draft,
  part: P,
  head: readonly Documents[P][],
  within?: string,
): MarkedDocument<Documents[P]>[] {
  const edits = draft[part] as ReadonlyMap<string, Edit<Documents[P]>>;
  const named = byDraftNames(draft, { collections: [], fields: [], relations: [], objects: [], [part]: head });
  const there = named[part] as ReadonlyMap<string, Documents[P]>;
  const documents: MarkedDocument<Documents[P]>[] = [];
  for (const [key, document] of there) {
    const edit = edits.get(key);
    const former = formerName(draft, part, key);
    const mark = edit === undefined ? (former === undefined ? undefined : 'renamed') : markOf(edit);
    documents.push({
      document: documentNow(edit, document),
      before: document,
      mark: isInRemovedCollection(draft, part, key) ? 'removed' : mark,
    });
  }
  for (const [key, { after }] of edits) {
    if (there.has(key) || after === null || (within !== undefined && collectionOfKey(key) !== within)) continue;
    documents.push({ document: after, before: null, mark: 'made' });
  }
  return documents;
}

/** True if the collection of the object is removed, and the object with it. */
function isInRemovedCollection(draft: Draft, part: Part, key: string): boolean {
  const { collection, kind } = namesIn(part, key);
  if (kind === null) return part !== 'collections' && draft.collections.get(collection)?.after === null;
  return draft.collections.get(objectNameParts({ kind, id: collection }).table ?? '')?.after === null;
}

const markOf = ({ after, recreated, before }: Edit<object>): Mark =>
  after === null ? 'removed' : recreated === true || before === null ? 'made' : 'changed';

function documentNow<T extends object>(edit: Edit<T> | undefined, now: T): T {
  if (edit === undefined || edit.after === null) return now;
  if (edit.before === null || edit.recreated === true) return edit.after;
  return mergeSides({ was: edit.before, mine: edit.after, now }, NO_REPORT) as T;
}

/** Returns the documents by `keyOf`, in their order. */
export const byKey = <P extends Part>(part: P, all: readonly MarkedDocument<Documents[P]>[]) =>
  new Map(all.map((each) => [keyOf[part](each.document), each]));

/**
 * Returns the object with this name in the draft, or the one that the draft has renamed from it.
 * @param name the name in an address
 */
export function findObject(
  draft: Draft,
  objects: readonly MarkedDocument<SchemaObject>[],
  { kind, id }: { kind: string | undefined; id: string },
): MarkedDocument<SchemaObject> | undefined {
  const ofKind = objects.filter(({ document }) => document.kind === kind);
  return (
    ofKind.find(({ document }) => document.id === id) ??
    ofKind.find(({ document }) => formerObject(draft, document).id === id)
  );
}

/** True if the draft contains an object with this name. */
export const hasObject = (objects: readonly MarkedDocument<SchemaObject>[], { kind, id }: ObjectName): boolean =>
  objects.some(({ document, mark }) => mark !== 'removed' && document.kind === kind && document.id === id);

/* Applies the draft to lists of collections. */

/**
 * Returns the members that lists contain. Of the schema, a list contains only the name of the table, or null for a
 * folder.
 */
export const listedOf = ({ collection, meta, schema }: Collection): ListedCollection => ({
  collection,
  meta: { collection, ...meta },
  schema: schema && { name: collection },
});

/** Returns the collections with the draft applied. Removed collections are not included. */
export function withDraft(draft: Draft, listed: readonly ListedCollection[]): readonly ListedCollection[] {
  if (isEmpty(draft)) return listed;
  const all = withDraftMarks(draft, 'collections', listed.map(collectionOf));
  return all.flatMap(({ document, mark }) => (mark === 'removed' ? [] : [listedOf(document)]));
}
