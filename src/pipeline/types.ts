/** Input and output types of the pipeline. */
import type { UnmatchedValues } from '../projector/ddl/trash.js';
import type pg from 'pg';
import type { Document } from '../log/document-lines.js';
import type { LogWatch } from '../log/watch.js';
import type { Logger } from '../postgres/logger.js';
import type { Statement } from '../projector/ddl/step.js';
import type { HeldCollections } from '../features/change-requests/rows.js';
import type { Preparation } from '../projector/online/types.js';
import type { Difference } from '../projector/verify/index.js';
import type { ChangedProperty } from '../projector/verify/properties.js';
import type { Return } from '../features/trash/rows.js';
import type { Parameterised } from '../postgres/exchange.js';
import type { Point, Store } from '../reads/state-store.js';
import type { Cause, Divergence, LogEvent, StoredEvent } from '../schema/model/events.js';
import type { Approval, ChangeRequest } from '../schema/change-requests/model.js';
import type { CollectionScope } from '../schema/collection-scope.js';
import type { CommandOf, OperationName } from '../schema/operations/index.js';
import type { Operation } from '../schema/operations/operation.js';
import type { Acknowledgement, Policy } from '../schema/policy.js';
import type { Path, Problem, Warning } from '../kernel/problem.js';
import type { State } from '../schema/model/state.js';
import type { ProposingCredential } from '../schema/model/token-scope.js';
import type { Json } from '../kernel/json.js';

/** Every schema change passes through the pipeline. */
export interface Pipeline {
  /** Decides, appends, projects and commits a command. If it is rejected, nothing changes. Throws only for bugs. */
  apply<C extends Recording>(name: 'record', command: Command<C>, request: RequestContext): Promise<Outcome<C>>;
  apply<N extends OperationName, C extends CommandOf<N>>(
    name: N,
    command: Command<C>,
    request: RequestContext,
  ): Promise<Outcome<C>>;
  /** Decides the command without running it. It locks and reads no table, and waits for no change. */
  plan<N extends OperationName, C extends CommandOf<N>>(
    name: N,
    command: Command<C>,
    request: PlanRequest,
  ): Promise<Plan<C> | Refusal>;
  /** Runs the command up to the commit and rolls it back. */
  dryRun<N extends OperationName, C extends CommandOf<N>>(
    name: N,
    command: Command<C>,
    request: PlanRequest,
  ): Promise<Plan<C> | Refusal>;
  /**
   * Runs `work` with the state at the head in a transaction that holds the log lock, so that log and projections cannot
   * change. Commits when `work` returns.
   * @throws ProblemError LOCK_TIMEOUT, UNAVAILABLE, LOG_UNREADABLE, or LOG_DIVERGED
   */
  underLock<T>(work: (client: pg.ClientBase, point: Point) => Promise<T>, mode?: UnderLock): Promise<T>;
  /**
   * Accepts a log that is not the one seen before. One event records all divergences.
   * @throws ProblemError LOCK_TIMEOUT, UNAVAILABLE or LOG_UNREADABLE
   */
  acknowledge(cause: Cause): Promise<Acknowledged>;
  /**
   * True if the last change failed because the server's disk is full. It becomes false after a minute. A process that
   * is not ready gets no requests, so it would otherwise never notice free space.
   */
  isDiskFull(): boolean;
}

/** The operations on the schema and the policy. `record` appends events that change neither. */
export type CommandName = OperationName | 'record';
/** Has the signature of `Pipeline.apply`, without the type relation between command names and commands. */
export type Apply = <C>(name: CommandName, command: Command<C>, request: RequestContext) => Promise<Outcome<C>>;

export interface Acknowledged {
  /** The position at the end of the log. */
  position: number;
  /** The acknowledged divergences. Empty if there were none, or if another process acknowledged them first. */
  divergences: Divergence[];
}

interface UnderLock {
  /** True for work that may change managed tables without events. PostgREST then reloads its schema cache. */
  altersTables?: boolean;
  /** True for work that writes nothing. It also runs on a diverged log. */
  readOnly?: boolean;
}

export interface PipelineOptions {
  pool: pg.Pool;
  /** Names of the database and of the default schema, and all managed schemas. */
  location: { database: string; schema: string; schemas: readonly string[] };
  release: string;
  store: Store;
  /** Tracks divergences of the log. Defaults to a new watch. */
  watch?: LogWatch;
  /**
   * `refuse` (the default) rejects every change until the divergence is acknowledged. `continue` acknowledges it
   * immediately.
   */
  onLogDivergence?: 'refuse' | 'continue';
  /** True if each schema change asks PostgREST to reload its schema cache. */
  notifyPostgrest?: boolean;
  /** URL of the service that accepts changes while this database is read-only. */
  primaryUrl?: string | null;
  logger: Logger;
  /** Milliseconds that a caller waits for its turn and its locks in total. */
  lockTimeout: number;
  /** Milliseconds that one attempt waits for each table lock, while others queue behind it. */
  lockWait: number;
  /** Milliseconds per statement. 0 sets no limit. */
  statementTimeout: number;
  /**
   * How long deleted objects stay in the trash (milliseconds), and up to how many rows of a table the values of deleted
   * fields are copied.
   */
  keep: RetentionOptions;
  /** True if the instance manages objects other than tables. */
  objects?: boolean;
  /** The role of OBJECTS_OWNER. Absent or null if there is none. */
  objectsOwner?: string | null;
  readers: Readers;
  /** The server on which proofs create a scratch database. Absent or null to prove changes in the database itself. */
  proveDatabaseUrl?: string | null;
  clock?: () => Date;
}

export interface RetentionOptions {
  /** In milliseconds. 0 drops deleted objects immediately. */
  deleted: number;
  copyRows: number;
}

export interface RequestContext {
  cause: Cause;
  /** The credential of the caller, which proposals record. */
  credential?: ProposingCredential;
  /** The id of the caller's API token, if a trust rule issued it. It must still exist when the transaction begins. */
  pipelineToken?: string;
  /** True to drop deleted objects immediately. */
  purge?: boolean;
  /** True to reject a change that deletes rows or values of a table that is not empty. */
  lossless?: boolean;
  /** The caller's token is limited to these collections. Batches that affect other collections are rejected. */
  collections?: CollectionScope;
  /** The snapshot hash that the caller believes to be current. */
  ifMatch?: string;
  idempotency?: Idempotency;
  /** Milliseconds that the caller has already waited for the database. They count towards the lock timeout. */
  waited?: number;
  /** True if the caller has disconnected. A command that waits for a lock then stops. */
  abandoned?: () => boolean;
  /** Findings that the caller acknowledges. */
  acknowledges?: Acknowledgements;
  /** Called with the holders of locks before each wait. */
  onBlocked?: OnBlocked;
  /** Replaces the batch by that of a change request. */
  revise?(...planned: Parameters<Revise>): ReturnType<Revise>;
  /** True if the change is prepared online. That copies the values of deleted fields, however many there are. */
  online?: boolean;
  /** True if a dry run also compares the database before and after the change. */
  proves?: boolean;
}

/** A plan stores no response. */
export type PlanRequest = Omit<RequestContext, 'idempotency'>;

/** The effects of a change that its plan does not contain. Both lists are empty if there are none. */
export interface Proof {
  /** Differences between the log, the rows of the service and the catalog that did not exist before the change. */
  differences: Difference[];
  /** Properties that no event describes and that the change altered. */
  properties: ChangedProperty[];
}

export interface Acknowledgements {
  findings: readonly Acknowledgement[];
  /** Location of an acknowledgement in the request, for problems. Absent if it came from an earlier request. */
  at?: (index: number) => Path;
}

/** @param problem the rejection that would be returned without time left */
export type OnBlocked = (problem: Problem) => Promise<void>;

/** A batch that was decided and planned. None of its statements has run. */
export interface PlannedBatch<C = unknown> {
  /** The command that was decided. It may have been read from the database. */
  command: C;
  before: Point;
  after: State;
  /** Empty if the command changes nothing. */
  events: LogEvent[];
  statements: Statement[];
  /** The managed schema. */
  schema: string;
  /** Tables that only their change request may change, oldest first. */
  held: readonly HeldCollections[];
  /** The policy at the head of the log. */
  policy: Policy;
}

/** A command that only appends events. They change neither the schema nor the policy. */
export interface Recording {
  events: LogEvent[];
  /** Further statements of the transaction. */
  also?: readonly Parameterised[];
}

/** A batch that replaces a planned one. */
export interface RevisedBatch {
  kind: 'revised';
  /** Contains all schema events of the planned batch in their order, or none of them. */
  events: LogEvent[];
  statements: Statement[];
  /** The resulting state. Its position does not matter. */
  after: State;
  /** Further statements of the transaction. */
  also: readonly Parameterised[];
  /** The change request whose held tables this batch may change. */
  change?: string;
  /** True if everything that needs preparation was prepared, or will be. */
  online?: boolean;
  /** For plans: the steps that would be prepared first. PostgreSQL then runs nothing. */
  preparation?: PreparedSteps;
  /** Approvals of exactly this change that the policy counts. Absent if there are none. */
  approvals?: readonly Approval[];
  /** For a request that reverts another: the objects that the planned batch would restore. */
  returns?: readonly Return[];
  /** The requested change, if the batch opens a request for an online change. */
  document?: Document;
}

export type PreparedSteps = Extract<Preparation, { kind: 'steps' }>;

/** Runs in the command's transaction under the log lock, and again when the transaction is repeated. */
export type Revise<C = unknown> = (client: pg.ClientBase, batch: PlannedBatch<C>) => Promise<RevisedBatch | Refusal>;

export interface Idempotency {
  key: string;
  /** Hash of everything that identifies the request. */
  requestHash: string;
  /**
   * Renders the response to store, using only the outcome. Called before COMMIT, without I/O. Long responses yield to
   * the event loop.
   */
  render(outcome: CompletedChange | Refusal): StoredAnswer | Promise<StoredAnswer>;
}

/** The stored response for a repeated request. Headers and body are returned unchanged. */
export interface StoredAnswer {
  status: number;
  headers: Json;
  body: Json;
}

export interface CompletedChange<C = unknown> {
  kind: 'done';
  /** The command that the transaction carried out. It may have been read from the database. */
  command: C;
  before: State;
  state: State;
  /** Empty if the command changes nothing. */
  events: StoredEvent[];
  /** Position of the state. */
  position: number;
  /** The change requests that the events are about, in their state after the events. */
  changes?: ReadonlyMap<string, ChangeRequest>;
  /** True if the caller requested permanent deletion. */
  purge?: boolean;
  /** Values in the trash whose rows no longer exist. They are permanently deleted. */
  unmatched?: readonly UnmatchedValues[];
  /** See `RevisedBatch`. */
  returns?: readonly Return[];
  document?: Document;
}

/** A rejected command. Nothing was written. */
export interface Refusal {
  kind: 'refused';
  problems: Problem[];
}

export interface Replay extends StoredAnswer {
  kind: 'replayed';
}

export type Outcome<C = unknown> = CompletedChange<C> | Refusal | Replay;

export interface Plan<C = unknown> {
  kind: 'planned';
  /** The command that the transaction carried out. It may have been read from the database. */
  command: C;
  /**
   * The steps that are prepared first. Absent if there are none, or if they were not requested. If present, PostgreSQL
   * has run nothing.
   */
  preparation?: PreparedSteps;
  events: LogEvent[];
  statements: Statement[];
  /** True if PostgreSQL ran all statements. Null if none were run. */
  accepted: boolean | null;
  /** The error if PostgreSQL rejected one of the statements. */
  refusal?: Problem;
  /** Present if a proof was requested and PostgreSQL ran all statements. */
  proof?: Proof;
  /** The state before the plan. */
  before: State;
  /** The state after the plan. */
  after: State;
  /** Warnings that do not describe the costs of statements. */
  warnings: Warning[];
}

/**
 * A command, or a function that creates one from data in the database. The function runs in the command's transaction
 * under the log lock, so that nothing changes in between. It runs again when the transaction is repeated. The outcome
 * contains the command that it returned last. Throws `CommandRefused`.
 */
export type Command<C> = C | Prepare<C>;

/**
 * Reads what an operation needs from the database, in the command's transaction under the log lock, so that nothing
 * changes in between. It runs again when the transaction is repeated. The outcome contains the command that it returned
 * last. Throws `CommandRefused` or `ProblemError`.
 */
export type Reader<C> = (client: pg.ClientBase, command: C, context: ReadContext) => Promise<C>;
export type Readers = { readonly [N in OperationName]?: Reader<CommandOf<N>> };

export interface ReadContext {
  /** The state and the policy at the head of the log. */
  state: State;
  policy: Policy;
  /** The managed schema. */
  schema: string;
  /** All managed schemas. */
  schemas: readonly string[];
  /** True if the instance manages objects other than tables. */
  objects: boolean;
}

export type Prepare<C> = (client: pg.ClientBase, state: State, policy: Policy) => Promise<C>;

/** Rejects a command while it is being created or its batch is being processed. Nothing is written. */
export class CommandRefused extends Error {
  override readonly name = 'CommandRefused';
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(problems[0]?.message ?? 'refused');
    this.problems = problems;
  }
}

export interface Decider<C> extends Pick<
  Operation<string, never, C, LogEvent>,
  'decide' | 'locations' | 'deletes' | 'alters' | 'isLight'
> {
  /** Further statements of the transaction. */
  also?(command: C): readonly Parameterised[];
  read?: Reader<C> | undefined;
}

/** A command with its operation and the request that it belongs to. */
export interface Job<C = unknown> {
  operation: Decider<C>;
  command: Command<C>;
  request: RequestContext;
}
