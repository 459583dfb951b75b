/** What auditors ask: the log itself, and the schema as it was. */
import { isInLog } from '../../log/divergence.js';
import { exportedLines } from '../../log/documents.js';
import { type EventText, readEventTexts, selectEventTexts } from '../../log/event-text.js';
import type { Queryable } from '../../postgres/pool.js';
import type { Identity } from '../../schema/model/state.js';
import type { InTrash } from '../../schema/transition/restoring-transition.js';
import type { Warning } from '../../kernel/warning.js';
import type { Point } from '../../log/fold.js';
import type { Store } from '../state-store.js';
import type { StoredFolds } from '../stored-folds/index.js';
import { type Batch, type BatchSelection, readBatches } from './batches.js';
import { type ChangedBatches, readChanges } from './changes.js';
import type { Problem } from '../../kernel/problem.js';
import { type Difference, differenceBetween, obstaclesBetween } from './difference.js';
import { type EventFilter, conditionOf } from './filter.js';
import { type CollectionHistory, type CollectionHistoryOptions, readCollectionHistory } from './collection-history.js';
import { type Moment, isReached, positionAt, positionBefore } from './moment.js';
import { inTrash } from './in-trash.js';
import { type NamesChanged, namesMentioned } from './names-mentioned.js';
import { type Plan, returnsOf } from './returns.js';
import type { Resumable } from '../../kernel/resumable.js';
import type { Planned } from './rows-before.js';
import { rowsInTheWay } from './rows-in-the-way.js';
import { scriptOf } from './script.js';
import { type Tail, createTail } from './tail.js';
import { createTimeTravel } from './time-travel.js';
import { type LogVerification, verifyLog } from '../../log/verify-log.js';
import { shareNext } from '../../kernel/share-next.js';

export interface History {
  /** Events that fit, in order of position; one more than `limit` when there are more. */
  events(filter: EventFilter, order: 'asc' | 'desc', limit: number): Promise<EventText[]>;
  /** Undefined: there is none at this position. */
  event(position: number): Promise<EventText | undefined>;
  /** Whether a position holds the event with this hash, or with one that begins so. */
  holds(place: { position: number; hash: string }): Promise<boolean>;
  /** One batch more than `limit` when there are more. */
  batches(selection: BatchSelection): Promise<Batch[]>;
  /** The same, each with the documents that it changed; fewer where they are many. */
  changes(selection: BatchSelection): Promise<ChangedBatches>;
  /** One event more than `limit` when there are more. Undefined: there never was a collection of this name. */
  collection(options: CollectionHistoryOptions): Promise<CollectionHistory | undefined>;
  /**
   * The last position at or before a moment, in a log that ends at `head`. Null: the position isn't in the log.
   * @throws FutureMomentError
   */
  resolve(moment: Moment, head: number): Promise<number | null>;
  /** The last position before a time, for filters: it may lie in the future. */
  positionBefore(time: Date): Promise<number>;
  /** The schema after the event at a position of the log. */
  at(position: number): Promise<Point>;
  /** What leads from one to the other. */
  difference(from: Point, to: Point, isFromNow: boolean): Promise<Difference>;
  /** Why apply would refuse what leads from one to the other; empty when it takes it. */
  obstacles(from: Point, to: Point): Promise<Problem[]>;
  /** The schema as a SQL script. */
  script(point: Point): Resumable<Buffer>;
  /** What a plan makes that was there before: with its rows, or empty; and what rows are in its way. */
  returns(plan: Plan & Planned): Promise<Warning[]>;
  /** What the trash holds of what has these identities, with what it was. */
  inTrash(identities: readonly Identity[]): Promise<InTrash[]>;
  /** Where names that a plan changes are still said. */
  namesMentioned(changed: NamesChanged): Promise<Warning[]>;
  verify(): Promise<LogVerification>;
  /** The lines of the exported log up to a position, in pages, as long as the next one is asked for. */
  exported(upTo: number): AsyncGenerator<readonly string[], void, undefined>;
  tail: Tail;
}

export interface HistoryOptions {
  pool: Queryable;
  store: Pick<Store, 'point' | 'subscribe'>;
  folds: StoredFolds;
  release: string;
  /** The database schema that holds the managed tables. */
  schema: string;
  /** The one that holds the service's own. */
  serviceSchema: string;
  /** Milliseconds that what is deleted is kept; 0: it is dropped at once. */
  keepDeleted: number;
}

/** Nothing can be said of it yet. */
export class FutureMomentError extends Error {
  override readonly name = 'FutureMomentError';
}

/** Events of one query of an export: some hundred kilobytes. */
const EXPORT_PAGE = 200;

/** Concurrent calls of `verify` share one look at the log. */
export function createHistory(options: HistoryOptions): History {
  const { pool, schema, serviceSchema } = options;
  const travel = createTimeTravel(options);

  return {
    events: async (filter, order, limit) => {
      const values: unknown[] = [];
      const where = await conditionOf(pool, filter, values);
      return selectEventTexts(pool, { where, values, order, limit: limit + 1 });
    },
    event: async (position) => (await readEventTexts(pool, { after: position - 1, upTo: position, limit: 1 }))[0],
    holds: (place) => isInLog(pool, place),
    batches: (selection) => readBatches(pool, { ...selection, limit: selection.limit + 1 }),
    changes: (selection) => readChanges(pool, travel, selection),
    collection: (options) => readCollectionHistory(pool, travel, { ...options, limit: options.limit + 1 }),
    resolve: (moment, head) => resolve(pool, moment, head),
    positionBefore: (time) => positionBefore(pool, time),
    at: travel.at,
    difference: (from, to, isFromNow) =>
      differenceBetween(pool, { from: from.state, to: to.state, isFromNow }, { ...options, travel }),
    obstacles: (from, to) => obstaclesBetween(from.state, to.state),
    script: (point) => scriptOf(point, { schema, serviceSchema }),
    returns: async (plan) => [...(await returnsOf(pool, schema, plan)), ...(await rowsInTheWay(pool, schema, plan))],
    inTrash: (identities) => inTrash(pool, travel, identities),
    namesMentioned: (changed) => namesMentioned(pool, changed),
    // It takes the whole log: concurrent requests share it.
    verify: shareNext(() => verifyLog(pool, options.store.point().head)),
    exported: (upTo) => exportedOf(pool, upTo),
    tail: createTail(options),
  };
}

async function resolve(pool: Queryable, moment: Moment, head: number): Promise<number | null> {
  if (moment.kind === 'now') return head;
  if (moment.kind === 'position') return moment.position <= head ? moment.position : null;
  const { time } = moment;
  // The log's own time counts where it is ahead of this machine's clock.
  if (time.getTime() > Date.now() && !(await isReached(pool, time))) {
    throw new FutureMomentError(`${time.toISOString()} is in the future`);
  }
  return positionAt(pool, time, head);
}

async function* exportedOf(pool: Queryable, upTo: number): AsyncGenerator<readonly string[], void, undefined> {
  for await (const events of pagesOf(pool, upTo)) yield await exportedLines(pool, events);
}

async function* pagesOf(pool: Queryable, upTo: number): AsyncGenerator<readonly EventText[], void, undefined> {
  let next = readEventTexts(pool, { after: 0, upTo, limit: EXPORT_PAGE });
  for (;;) {
    const events = await next;
    const last = events.at(-1);
    if (last === undefined) return;
    if (last.position < upTo) {
      next = readEventTexts(pool, { after: last.position, upTo, limit: EXPORT_PAGE });
      // Awaited in the next iteration, or never when the reader stops here; then its failure is of no concern.
      next.catch(() => undefined);
    }
    yield events;
    if (last.position >= upTo) return;
  }
}
