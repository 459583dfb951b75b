import { byDraftNames } from './diff.js';
import { mergeSides } from './merge.js';
import { type Documents, type Draft, type Edit, type Part, collectionOfKey, formerName, keyOf } from './model.js';

export type Mark = 'made' | 'changed' | 'removed' | 'renamed';

export interface MarkedDocument<T> {
  document: T;
  /** The document without the draft, in the draft's names; null if it is new. */
  before: T | null;
  /** Undefined if the draft does not change it. */
  mark: Mark | undefined;
}

const NO_REPORT = () => undefined;

/**
 * @param head all documents of the part, in their own names
 * @param within adds only new objects of this collection; undefined: of all
 */
export function withDraftMarks<P extends Part>(
  draft: Draft,
  part: P,
  head: readonly Documents[P][],
  within?: string,
): MarkedDocument<Documents[P]>[] {
  const edits = draft[part] as ReadonlyMap<string, Edit<Documents[P]>>;
  const named = byDraftNames(draft, { collections: [], fields: [], relations: [], [part]: head });
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

/** The content of a removed collection is removed too. */
const isInRemovedCollection = (draft: Draft, part: Part, key: string): boolean =>
  part !== 'collections' && draft.collections.get(collectionOfKey(key))?.after === null;

const markOf = ({ after, recreated, before }: Edit<object>): Mark =>
  after === null ? 'removed' : recreated === true || before === null ? 'made' : 'changed';

function documentNow<T extends object>(edit: Edit<T> | undefined, now: T): T {
  if (edit === undefined || edit.after === null) return now;
  if (edit.before === null || edit.recreated === true) return edit.after;
  return mergeSides({ was: edit.before, mine: edit.after, now }, NO_REPORT) as T;
}

/** Keyed by `keyOf`, in their order. */
export const byKey = <P extends Part>(part: P, all: readonly MarkedDocument<Documents[P]>[]) =>
  new Map(all.map((each) => [keyOf[part](each.document), each]));
