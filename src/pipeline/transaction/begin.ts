/** The transaction that a command runs in: its start, and how it catches up with the log. */
import type pg from 'pg';
import { runYielding } from '../../kernel/event-loop.js';
import { ProblemError } from '../../kernel/problem.js';
import { CHECK_QUERY, type CheckRow, isReplaced, toHeadCheck } from '../../log/divergence.js';
import { EVENT_COLUMNS, type EventRow, toEventRecord } from '../../log/read.js';
import { POLICY_QUERY, toPolicy } from '../../log/read-policy.js';
import { emptyHead } from '../../log/head.js';
import { advisoryKey } from '../../postgres/advisory.js';
import { type Backend, backendOf } from '../../postgres/backend.js';
import {
  ExchangeError,
  ReadOnlyServerError,
  SQLSTATE,
  isConnectionLoss,
  isLocked,
  sqlState,
  unavailable,
} from '../../postgres/errors.js';
import type { Parameterised } from '../../postgres/exchange.js';
import { sendNamed } from '../../postgres/named-batch.js';
import { REFUSE_OLDER_RELEASE } from '../../postgres/release-guard.js';
import { lostSchema, schemaThere } from '../../postgres/schemas.js';
import { writeLimits } from '../../postgres/write-limits.js';
import { LogDivergedError, type Point, foldLog, foldPage } from '../../log/fold.js';
import { HELD, type Held } from '../../projector/change-requests/rows.js';
import { type TrashGlance, glanceAt } from '../../projector/trash/facts.js';
import type { Store } from '../../reads/state-store.js';
import { readEvent } from '../../schema/fold/upcasting.js';
import type { Policy } from '../../schema/policy/index.js';
import type { Try } from '../keep-alive.js';
import { DivergedError } from '../diverged.js';
import { LogBusyError } from '../lock-conflict.js';
import { own } from '../../postgres/own-tables.js';
import type { PipelineOptions } from '../types.js';

/** Events that the first flight brings along. A process is rarely more than a few behind. */
const FIRST_PAGE = 200;

export interface Begun {
  /** What of the server runs the transaction, and the server's timeline. */
  backend: Backend;
  timeline: number | null;
  /** What this process had folded before. */
  base: Point;
  /** Exactly the log's head, as long as the transaction holds its lock. */
  point: Point;
  /** Whose tables nothing but their change request may change. */
  held: Held[];
  /** At the log's head: that of another process's last word. */
  policy: Policy;
  /** The rows of the caller's own question. */
  found: Record<string, unknown>[];
  /** What the trash has to know of the tables that are to be deleted. */
  glance: TrashGlance;
}

export interface Begin extends Pick<Try, 'attendance' | 'lockWait' | 'tableWait'> {
  /** Asked in the same flight, once the lock is held. */
  question?: Parameterised;
  /** Tables that are to be deleted, and kept. */
  keeps?: readonly string[];
  /** Set when the work may have to be rolled back while the transaction goes on. */
  savepoint?: boolean;
  /** Nothing is written: others write meanwhile, and all that is read is of one moment. */
  unlocked?: boolean;
  /** The log may be another one than was seen: nothing that rests on it is written. */
  evenDiverged?: boolean;
}

/** The name of the savepoint that `Begin.savepoint` sets. */
export const SAVEPOINT = 'command';

/**
 * BEGIN, limits, the log's lock, the events we lack and the caller's question, in one flight. Each statement sees what
 * is committed when it runs, so what comes after the lock sees everything that was written under it.
 * @throws LogBusyError, StaleConnectionError; ProblemError UNAVAILABLE where the managed schema is gone
 */
export async function begin(client: pg.ClientBase, options: PipelineOptions, how: Begin): Promise<Begun> {
  const { store } = options;
  const from = store.point();
  const answered = await sendNamed(client, firstFlight(from, options, how)).catch(notBegun);
  const backend = backendOf(client, answered.tableLimits[0]);
  how.attendance.began(backend);
  const check = answered.check[0] as unknown as CheckRow;
  admit(check, options);
  refuseWithoutSchema(answered.place, options);
  if (how.evenDiverged === true) await lookInto(check, { options, from });
  else refuseDiverged(check, from);
  const rows = answered.events as unknown as EventRow[];
  const point = await catchUp(client, store, { from, rows, head: toHead(check) }).catch((error: unknown) => {
    throw error instanceof LogDivergedError ? new DivergedError(from) : error;
  });
  return {
    point,
    base: from,
    backend,
    timeline: check.timeline,
    held: answered.held as unknown as Held[],
    policy: toPolicy(answered.policy as unknown as EventRow[]).policy,
    found: answered.question,
    glance: { tables: how.keeps ?? [], rows: answered.glance },
  };
}

function firstFlight(from: Point, options: PipelineOptions, how: Begin) {
  const { keeps = [], unlocked = false } = how;
  const statement = options.statementTimeout;
  return {
    begin: { text: `BEGIN ISOLATION LEVEL ${unlocked ? 'REPEATABLE READ' : 'READ COMMITTED'}` },
    logLimits: writeLimits({ lock: how.lockWait, statement }),
    logLock: unlocked
      ? undefined
      : { text: 'SELECT pg_catalog.pg_advisory_xact_lock($1)', values: [advisoryKey(options.place, 'log')] },
    tableLimits: writeLimits({ lock: how.tableWait, statement }),
    release: REFUSE_OLDER_RELEASE,
    // What doesn't change it may go on, and say what is missing.
    place: how.evenDiverged === true ? undefined : schemaThere(options.place.schema),
    check: { text: CHECK_QUERY },
    events: {
      text: `SELECT ${EVENT_COLUMNS} FROM ${own.events} WHERE position > $1 ORDER BY position LIMIT ${FIRST_PAGE}`,
      values: [from.head.position],
    },
    held: { text: HELD },
    policy: { text: POLICY_QUERY },
    question: how.question,
    glance: keeps.length > 0 ? glanceAt(options.place.schema, keeps) : undefined,
    savepoint: how.savepoint === true ? { text: `SAVEPOINT ${SAVEPOINT}` } : undefined,
  } satisfies Record<string, Parameterised | undefined>;
}

/**
 * The connection was gone before anything was done on it. A restart of the server leaves a pool full of such
 * connections, and the same on another one is as good as new.
 */
export class StaleConnectionError extends Error {
  override readonly name = 'StaleConnectionError';
}

/** A standby, or a primary that was deposed: another connection leads to the one in its place. */
function admit(check: CheckRow, { watch }: PipelineOptions): void {
  if (check.timeline === null) throw new StaleConnectionError('the server is a standby', { cause: notWritable() });
  try {
    watch?.admit(check);
  } catch (cause) {
    throw new StaleConnectionError('the server was deposed', { cause });
  }
}

const notWritable = () => new ReadOnlyServerError('the server accepts no changes');

/** What was lost with its connection was never there, and is tried again; after a COMMIT it is another error. */
export function notCommitted(error: unknown): never {
  if (isConnectionLoss(error)) throw new StaleConnectionError('the connection was lost', { cause: error });
  throw error;
}

function notBegun(error: unknown): never {
  if (error instanceof ExchangeError && error.at === 'logLock' && isLocked(error)) throw new LogBusyError();
  if (isConnectionLoss(error)) throw new StaleConnectionError('the connection was gone', { cause: error });
  // It was the primary when the connection was made.
  if (sqlState(error) === SQLSTATE.read_only_sql_transaction)
    throw new StaleConnectionError('the server accepts no changes', { cause: notWritable() });
  throw error;
}

/** A statement that passes over what is gone already would find nothing of all that has only got another name. */
function refuseWithoutSchema(rows: Begun['found'] | undefined, { place }: PipelineOptions): void {
  if (rows?.[0]?.['there'] === false)
    throw new ProblemError(unavailable(`${lostSchema(place.schema)} Nothing was written.`));
}

interface Missing {
  from: Point;
  rows: EventRow[];
  head: Point['head'];
}

function refuseDiverged(row: CheckRow, from: Point): void {
  const check = toHeadCheck(row);
  if (isReplaced(check, from.head)) throw new DivergedError(from);
  if (check.forgotten !== null || check.pending !== null) throw new DivergedError(from);
}

/** What this process remembers is written down before it is forgotten. */
async function lookInto(row: CheckRow, { options, from }: { options: PipelineOptions; from: Point }): Promise<void> {
  const check = toHeadCheck(row);
  if (await options.watch?.examine(check, from.head)) throw new DivergedError(from);
}

async function catchUp(client: pg.ClientBase, store: Store, { from, rows, head }: Missing): Promise<Point> {
  const events = rows.map((row) => readEvent(toEventRecord(row)));
  let point = await runYielding(foldPage(from, events));
  if (point.head.position < head.position) {
    point = await foldLog(client, point);
  }
  if (point.head.hash !== head.hash) throw new LogDivergedError(head.position, 'is not the one that was folded');
  store.publish(point, from);
  return point;
}

function toHead({ position, hash, occurred_at }: CheckRow): Point['head'] {
  if (position === null || hash === null || occurred_at === null) return emptyHead();
  return { position, hash, occurred_at: occurred_at.toISOString() };
}
