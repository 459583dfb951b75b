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
  const changed = await withChanges(db, travel, order === 'asc' ? page : page.reverse());
  const batches = order === 'asc' ? changed : changed.reverse();
  const shown = withinLimit(batches);
  return { batches: shown, more: found.length > shown.length };
}

/** @param batches side by side, in order of position */
async function withChanges(db: Queryable, travel: TimeTravel, batches: readonly Batch[]): Promise<ChangedBatch[]> {
  const [first] = batches;
  const last = batches.at(-1);
  if (first === undefined || last === undefined) return [];
  const following = follow(batches);
  let point = await travel.at(first.first_position - 1);
  following.begin(point.state);
  for await (const events of readEventPages(db, { after: point.head.position, upTo: last.last_position })) {
    for (let at = 0; at < events.length;) {
      const { last_position: end } = following.batch();
      const within = events.slice(at, at + end - point.head.position);
      point = await runYielding(foldPage(point, within));
      at += within.length;
      following.touch(collectionsChanged(within));
      if (point.head.position === end) await following.end(point);
    }
  }
  return following.done;
}

/** Batch by batch, what is touched between the states at its ends. */
function follow(batches: readonly Batch[]) {
  const done: ChangedBatch[] = [];
  const touched = new Set<string>();
  let before: State;
  const batch = (): Batch => {
    const next = batches[done.length];
    if (next === undefined) throw new Error('events behind the last batch');
    return next;
  };
  return {
    done,
    batch,
    begin: (state: State) => void (before = state),
    touch(names: Iterable<string>): void {
      for (const name of names) touched.add(name);
    },
    async end({ state }: Point): Promise<void> {
      const isTooMuch = touched.size > MOST_TOUCHED;
      const changes = isTooMuch ? null : await runYielding(changedDocuments(before, state, touched));
      done.push({ ...batch(), changes: changes !== null && countOf(changes) > MOST_DOCUMENTS ? null : changes });
      touched.clear();
      before = state;
    },
  };
}

/** At least one. */
function withinLimit(batches: readonly ChangedBatch[]): ChangedBatch[] {
  let documents = 0;
  const end = batches.findIndex(({ changes }, index) => {
    documents += changes === null ? 0 : countOf(changes);
    return index > 0 && documents > MOST_DOCUMENTS;
  });
  return end < 0 ? [...batches] : batches.slice(0, end);
}
