/** What the pipeline takes and answers. */
import type pg from 'pg';
import type { LogWatch } from '../log/watch.js';
import type { Logger } from '../postgres/logger.js';
import type { Statement } from '../projector/ddl/statement.js';
import type { Held } from '../projector/change-requests/rows.js';
import type { Preparation } from '../projector/online/types.js';
import type { Parameterised } from '../postgres/exchange.js';
import type { Queryable } from '../postgres/pool.js';
import type { Point, Store } from '../reads/state-store.js';
import type { Cause, Divergence, LogEvent, StoredEvent } from '../schema/model/events.js';
import type { Approval, ChangeRequest } from '../schema/change-requests/model.js';
import type { CommandOf, OperationName } from '../schema/operations/index.js';
import type { Acknowledgement, Policy } from '../schema/policy/index.js';
import type { Path, Problem, Result } from '../kernel/problem.js';
import type { State } from '../schema/model/state.js';
import type { Resumable } from '../kernel/resumable.js';
import type { Json } from '../kernel/json.js';
import type { Warning } from '../kernel/warning.js';

/** The one way the schema changes. */
export interface Pipeline {
  /** Decides, appends, projects and commits, or does none of it. Throws only for our own bugs. */
  execute<N extends OperationName>(name: N, command: Command<CommandOf<N>>, request: RequestContext): Promise<Outcome>;
  /** The same up to the commit, then takes everything back. */
  dryRun<N extends OperationName>(name: N, command: Command<CommandOf<N>>, request: RequestContext): Promise<DryRun>;
  /** Appends events that change no schema: those that `revise` makes of an empty batch. */
  record(revise: Revise, request: Omit<RequestContext, 'revise'>): Promise<Outcome>;
  /**
   * Runs `work` in a transaction that holds the log's lock, with the state at the head: for what must see the log and
   * the projections stand still. Committed when `work` returns.
   * @throws ProblemError LOCK_TIMEOUT, UNAVAILABLE, LOG_UNREADABLE, or LOG_DIVERGED
   */
  underLock<T>(work: (client: pg.ClientBase, point: Point) => Promise<T>, how?: UnderLock): Promise<T>;
  /**
   * Goes on with a log that is not the one that was seen: one event names all that was noticed.
   * @throws ProblemError LOCK_TIMEOUT, UNAVAILABLE or LOG_UNREADABLE
   */
  acknowledge(cause: Cause): Promise<Acknowledged>;
}

export interface Acknowledged {
  /** The end of the log. */
  position: number;
  /** What was acknowledged; none where nothing was noticed, or another process was quicker. */
  divergences: Divergence[];
}

export interface UnderLock {
  /** For work that writes nothing: also while the log is not the one that was seen. */
  readOnly?: boolean;
}

export interface PipelineOptions {
  pool: pg.Pool;
  /** The name of the database and of the schema that is managed. */
  place: { database: string; schema: string };
  release: string;
  store: Store;
  /** Told of a log that is not the one that was seen; one of its own when absent. */
  watch?: LogWatch;
  /** What to do then: refuse every change until it is acknowledged (the default), or acknowledge it at once. */
  onLogDivergence?: 'refuse' | 'continue';
  /** Where changes can be made while the database of this process takes none. */
  primaryUrl?: string | null;
  logger: Logger;
  /** Milliseconds that a caller waits for the turn of its command and for its locks, all together. */
  lockTimeout: number;
  /** Milliseconds that a try waits for each lock on a table; others queue behind it so long. */
  lockWait: number;
  /** Milliseconds that one statement may take; 0: no limit. */
  statementTimeout: number;
  /** What is deleted: milliseconds that it stays in the trash, and rows at most of which a field's values are copied. */
  keep: Keep;
  clock?: () => Date;
}

export interface Keep {
  /** 0: it is dropped at once. */
  deleted: number;
  copyRows: number;
}

export interface RequestContext {
  cause: Cause;
  /** What is deleted is dropped at once, and not kept. */
  purge?: boolean;
  /** The snapshot hash that the caller believes to be current. */
  ifMatch?: string;
  idempotency?: Idempotency;
  /** Milliseconds that the caller has waited for the database already; they count for the time it waits for locks. */
  waited?: number;
  /** Whether the caller has gone: a command that waits for a lock is given up then. */
  abandoned?: () => boolean;
  /** What whoever makes the change says to know of it. */
  acknowledges?: Acknowledgements;
  /** Told whose locks are in the way, each time before they are waited for. */
  onBlocked?: OnBlocked;
  /** What a change request makes of the batch. */
  revise?: Revise;
  /** Of a change request that prepares nothing: what is deleted is kept as without one. */
  unprepared?: boolean;
  /** Of a dry run: what would be prepared first. Then nothing is run. */
  foresee?: Foresee;
  /** Of a dry run: the plan alone. No table is locked or read, and nothing is run. */
  plansOnly?: boolean;
}

export interface Acknowledgements {
  findings: readonly Acknowledgement[];
  /** The place of one in the request: what isn't found is refused there. Absent: it was said when a change request was opened. */
  at?: (index: number) => Path;
}

/** @param problem as the refusal would be, were there no time left */
export type OnBlocked = (problem: Problem) => Promise<void>;

export type Foresee = (client: pg.ClientBase, batch: PlannedBatch) => Promise<Preparation>;

/** A batch that was decided and planned, before anything of it is done. */
export interface PlannedBatch {
  before: Point;
  after: State;
  /** May be none. */
  events: LogEvent[];
  statements: Statement[];
  /** The schema that is managed. */
  schema: string;
  /** Whose tables nothing but their change request may change, oldest first. */
  held: readonly Held[];
  /** At the log's head. */
  policy: Policy;
}

/** What is done in place of a planned batch. */
export interface RevisedBatch {
  kind: 'revised';
  /** Those that change the schema are all of the planned batch's, in their order, or none. */
  events: LogEvent[];
  statements: Statement[];
  /** The state that the events lead to; its position doesn't matter. */
  after: State;
  /** What else is written in the transaction. */
  also: readonly Parameterised[];
  /** The change request that may change the tables which it holds. */
  change?: string;
  /** What gains by being prepared was prepared, or is. */
  online?: boolean;
  /** The approvals of exactly this change that the policy counts; absent: none. */
  approvals?: readonly Approval[];
}

/** In the command's transaction, under the log's lock. Called again when the transaction is repeated. */
export type Revise = (client: pg.ClientBase, batch: PlannedBatch) => Promise<RevisedBatch | Refusal>;

export interface Idempotency {
  key: string;
  /** Of everything that makes the request what it is. */
  requestHash: string;
  /** The answer to keep. Without I/O; a long one lets the event loop run. */
  render(outcome: Done | Refusal): StoredAnswer | Promise<StoredAnswer>;
}

/** An answer as it is stored for the same request again; headers and body are returned as they were. */
export interface StoredAnswer {
  status: number;
  headers: Json;
  body: Json;
}

export interface Done {
  kind: 'done';
  before: State;
  state: State;
  /** Empty when the command changes nothing. */
  events: StoredEvent[];
  /** Of the state. */
  position: number;
  /** The change requests that the events are about, after them. */
  changes?: ReadonlyMap<string, ChangeRequest>;
}

/** Nothing was written. */
export interface Refusal {
  kind: 'refused';
  problems: Problem[];
}

export interface Replay extends StoredAnswer {
  kind: 'replayed';
}

export type Outcome = Done | Refusal | Replay;

export interface Plan {
  kind: 'planned';
  /** What is prepared first; absent: nothing is, or it wasn't asked for. Then PostgreSQL hasn't run anything. */
  preparation?: Extract<Preparation, { kind: 'steps' }>;
  events: LogEvent[];
  statements: Statement[];
  /** Whether PostgreSQL ran all statements; null: it wasn't asked. */
  accepted: boolean | null;
  /** Why it didn't. */
  refusal?: Problem;
  /** The state that the plan starts from. */
  before: State;
  /** The one that it leads to. */
  after: State;
  /** What there is to say of it beside what its statements cost. */
  warnings: Warning[];
}

export type DryRun = Plan | Refusal;

/**
 * A command, or what makes one of what the database says: asked in the command's transaction, under the log's lock, so
 * that nothing moves between the look and the change. Asked again when the transaction is repeated. Throws `CommandRefused`.
 */
export type Command<C> = C | Prepare<C>;
export type Prepare<C> = (client: pg.ClientBase, state: State) => Promise<C>;
/** One that needs no transaction: it can also be asked beside one. */
export type Ask<C> = (db: Queryable, state: State) => Promise<C>;

/** Thrown by what makes a command of the moment, or something of its batch: nothing is done. */
export class CommandRefused extends Error {
  override readonly name = 'CommandRefused';
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(problems[0]?.message ?? 'refused');
    this.problems = problems;
  }
}

/** A command, ready to be decided. */
export interface Job {
  /** What there is to ask the database before; undefined: nothing. */
  prepare?: (client: pg.ClientBase, state: State) => Promise<Job['decide']>;
  decide(state: State): Resumable<Result<LogEvent[]>>;
  /** Collections that it deletes, as far as that is known before it is decided. */
  deletes?: readonly string[];
  request: RequestContext;
}
