/** What batches changed, as whole documents: whoever holds those of one moment goes on to the next, or back, without asking. */
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
  /** Null: too many to be listed here. */
  changes: DocumentChanges | null;
}

export interface ChangedBatches {
  /** In the order that was asked for; fewer than the limit where their documents are many. */
  batches: ChangedBatch[];
  /** Whether there are more in this direction. */
  more: boolean;
}

/** Documents of one answer; one batch may have so many, then it is alone. */
const MOST_DOCUMENTS = 2_000;

/** Collections that one batch is compared in: more are more documents than that, or nearly. */
const MOST_TOUCHED = 1_000;

/** Batches side by side: the filter says where they begin, and nothing else. */
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
  /** Side by side, in order of position. */
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

/** Batch by batch, what is touched between the states at its ends. */
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
    /** @returns whether the next one is to be looked at */
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
  /** @returns whether there may be room for the next one */
  add(batch: ChangedBatch): boolean;
}

/**
 * Batches with at most `MOST_DOCUMENTS` documents together, added in order of position: forward the first ones, and back
 * the last ones. No more is held on the way. One alone holds no more than that, so that there is at least one.
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
