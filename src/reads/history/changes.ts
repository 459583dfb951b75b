/**
 * Returns the changes of batches as whole documents. A client that has the documents at one position can move to the
 * next or previous one without another request.
 */
import { runYielding } from '../../kernel/event-loop.js';
import { type Point, foldPage } from '../../log/fold.js';
import { readEventPages } from '../../log/read.js';
import type { Queryable } from '../../postgres/pool.js';
import { collectionsChanged } from '../../schema/fold/event-schemas.js';
import type { State } from '../../schema/model/state.js';
import { type Batch, type BatchSelection, readBatches } from './batches.js';
import { type DocumentChanges, changedDocuments, countOf } from './changed-documents.js';
import type { TimeTravel } from './time-travel.js';

export interface ChangedBatch extends Batch {
  /** Null if there are too many to list. */
  changes: DocumentChanges | null;
}

export interface ChangedBatches {
  /** In the requested order. Fewer than the limit if they contain many documents. */
  batches: ChangedBatch[];
  /** True if there are more in this direction. */
  more: boolean;
}

/** Documents per answer. One batch may contain that many and is then returned alone. */
const MOST_DOCUMENTS = 2_000;

/** Collections compared per batch. More collections nearly always exceed the limit of documents. */
const MOST_TOUCHED = 1_000;

/** The batches are consecutive. The filter only determines the first one. */
export async function readChanges(
  db: Queryable,
  travel: TimeTravel,
  selection: BatchSelection,
): Promise<ChangedBatches> {
  const { limit, order } = selection;
  const found = await readBatches(db, { ...selection, limit: limit + 1 });
  const page = found.slice(0, limit);
  const shown = createShown(order);
  await follow({ db, travel, batches: order === 'asc' ? page : page.toReversed() }, shown);
  const batches = order === 'asc' ? [...shown.batches] : shown.batches.toReversed();
  return { batches, more: found.length > batches.length };
}

interface Followed {
  db: Queryable;
  travel: TimeTravel;
  /** Consecutive, in order of position. */
  batches: readonly Batch[];
}

async function follow({ db, travel, batches }: Followed, shown: Shown): Promise<void> {
  const [first] = batches;
  const last = batches.at(-1);
  if (first === undefined || last === undefined) return;
  const following = comparing(batches, shown);
  let point = await travel.at(first.first_position - 1);
  following.begin(point.state);
  for await (const events of readEventPages(db, { after: point.head.position, upTo: last.last_position })) {
    for (let at = 0; at < events.length;) {
      const { last_position: end } = following.batch();
      const within = events.slice(at, at + end - point.head.position);
      point = await runYielding(foldPage(point, within));
      at += within.length;
      following.touch(collectionsChanged(within));
      if (point.head.position === end && !(await following.end(point))) return;
    }
  }
}

/** Compares the states before and after each batch, in the collections it touched. */
function comparing(batches: readonly Batch[], shown: Shown) {
  let done = 0;
  const touched = new Set<string>();
  let before: State;
  const batch = (): Batch => {
    const next = batches[done];
    if (next === undefined) throw new Error('events behind the last batch');
    return next;
  };
  return {
    batch,
    begin: (state: State) => void (before = state),
    touch(names: Iterable<string>): void {
      for (const name of names) touched.add(name);
    },
    /** @returns true if the next batch should be compared */
    async end({ state }: Point): Promise<boolean> {
      const isTooMuch = touched.size > MOST_TOUCHED;
      const changes = isTooMuch ? null : await runYielding(changedDocuments(before, state, touched));
      const isTooMany = changes !== null && countOf(changes) > MOST_DOCUMENTS;
      const goesOn = shown.add({ ...batch(), changes: isTooMany ? null : changes });
      done += 1;
      touched.clear();
      before = state;
      return goesOn;
    },
  };
}

export interface Shown {
  /** In order of position. */
  readonly batches: readonly ChangedBatch[];
  /** @returns true if there may be room for the next batch */
  add(batch: ChangedBatch): boolean;
}

/**
 * Collects batches with at most `MOST_DOCUMENTS` documents in total, added in order of position. Forward it keeps the
 * first ones, backward the last ones. A single batch never exceeds the limit, so at least one is returned.
 */
export function createShown(order: BatchSelection['order']): Shown {
  const batches: ChangedBatch[] = [];
  let documents = 0;
  const isOver = (): boolean => documents > MOST_DOCUMENTS;
  const without = (batch: ChangedBatch | undefined): void => void (documents -= documentsOf(batch));
  return {
    batches,
    add(batch) {
      batches.push(batch);
      documents += documentsOf(batch);
      if (order === 'asc' && isOver()) {
        without(batches.pop());
        return false;
      }
      while (isOver()) without(batches.shift());
      return true;
    },
  };
}

const documentsOf = (batch: ChangedBatch | undefined): number => (batch?.changes ? countOf(batch.changes) : 0);
