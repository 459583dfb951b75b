/*
 * The interface between change requests, which decide when to prepare and inform people, and this engine, which knows
 * PostgreSQL. A preparation is planned from a decided change and runs step by step outside its transaction. The short
 * transaction of the change uses it. The runner of change requests calls everything here; nothing here knows events
 * or HTTP.
 */
import type pg from 'pg';
import type { Json } from '../../kernel/json.js';
import type { Problem, Warning } from '../../kernel/problem.js';
import type { Queryable } from '../../postgres/pool.js';
import type { LogEvent } from '../../schema/model/events.js';
import type { State } from '../../schema/model/state.js';
import type { Statement } from '../ddl/step.js';
import type { Holder } from '../ddl/table-locks.js';

/** A change that the pipeline decided and planned but has not carried out. */
export interface DecidedChange {
  id: string;
  before: State;
  after: State;
  events: readonly LogEvent[];
  /** The statements of `planBatch` without a preparation. */
  statements: readonly Statement[];
  schema: string;
}

/**
 * A step that must run before the change. It is plain JSON stored outside the log, so any process can continue it.
 * Other members belong to the engine, and the runner returns them unchanged.
 */
export interface PreparationStep {
  /**
   * Identifies the step within its request. Planning the same change again yields the same key: `validate
   * articles.title not null`.
   */
  key: string;
  /** The kind of the step, for metrics and programs: `check`, `validate`, `index`, `copy` … */
  kind: string;
  collection: string;
  field: string | null;
  /** A phrase for display: `validate that articles.title is never null`. */
  summary: string;
  /** PostgreSQL's estimate of the rows to process; null if unknown. */
  rows: number | null;
  bytes: number | null;
  /** Members that belong to the engine. */
  [more: string]: Json;
}

export type Preparation =
  /** No step is slow, or none can be prepared. The change is then applied immediately, as without `online`. */
  | { kind: 'nothing' }
  /** Each problem is `ONLINE_NOT_POSSIBLE` with its reason and location. Nothing was changed. */
  | { kind: 'not possible'; problems: Problem[] }
  | {
      kind: 'steps';
      /** The steps in execution order. They run one at a time. */
      steps: PreparationStep[];
      /**
       * Names of collections that must not change until the change is applied. Other changes to their tables are
       * rejected (`IN_USE`). A foreign key includes both sides.
       */
      collections: string[];
      /** Warnings before the start, for example that rows violating the rule are rejected from now on. */
      warnings: Warning[];
    };

/** The progress of a step. It is stored outside the log and shown to clients unchanged. */
export interface StepProgress {
  /** The completed fraction from 0 to 1; null if PostgreSQL does not report it. */
  done: number | null;
  /** The current phase: `building index: scanning table`; null if there is nothing to add to the summary. */
  phase: string | null;
  /** The transactions that the step waits for. */
  waiting_for: readonly Holder[];
}

/** The context in which a step runs. */
export interface StepContext {
  id: string;
  /** A dedicated session on the server, outside transactions, without statement_timeout or lock_timeout. */
  session: pg.ClientBase;
  schema: string;
  /**
   * Aborted when the request is withdrawn or this process stops. The runner also cancels the running statement
   * (`pg_cancel_backend`). A step checks it between statements and throws `signal.reason`.
   */
  signal: AbortSignal;
  /** The last value that `save` stored for this step, in any process; null if there is none. */
  checkpoint: Json;
  /**
   * Stores a checkpoint. If the session has an open transaction, that transaction stores it, so that a batch and its
   * checkpoint commit together.
   * @throws if this process may no longer prepare the request: it was withdrawn, or another process has it
   */
  save(checkpoint: Json): Promise<void>;
  /** Reports progress that the step itself knows. The call is cheap, so it may be frequent. */
  progress(progress: Partial<StepProgress>): void;
}

/** The request fails with these problems, for example violating rows. Any other error of a step is retried later. */
export class PreparationRefused extends Error {
  override readonly name = 'PreparationRefused';
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[], cause?: unknown) {
    super(problems[0]?.message ?? 'refused', { cause });
    this.problems = problems;
  }
}

/** The statements of the short transaction. */
export type PreparedStatements =
  /**
   * These statements replace `DecidedChange.statements`. Afterwards prepared objects are dropped or have their final
   * name.
   */
  | { kind: 'prepared'; statements: Statement[] }
  /** The change, as now decided, needs other preparations. These steps must run first. */
  | { kind: 'missing'; steps: PreparationStep[] };

/** The engine, implemented by `index.ts` of this folder. */
export interface PreparationEngine {
  /**
   * Plans the preparation of a change. Queries the catalog on `client`, which may be in a transaction that holds the
   * log's lock. The query is fast and read-only.
   */
  planPreparation(client: Queryable, change: DecidedChange): Promise<Preparation>;
  /**
   * Runs a step, or the rest of it. Idempotent, regardless of what an earlier process completed. Permanent PostgreSQL
   * errors become a `PreparationRefused`. A lock is requested in short attempts without limit, and `progress` names its
   * holders.
   */
  runStep(context: StepContext, step: PreparationStep): Promise<void>;
  /**
   * Reads pg_stat_progress_* and the sessions that the step waits for. The runner calls it each second on another
   * connection while a step runs.
   * @param pid of the session's server process
   */
  observeStep(db: Queryable, pid: number, step: PreparationStep): Promise<Partial<StepProgress>>;
  /** Transactions that currently hold write locks on the table. */
  writersOf(db: Queryable, place: { schema: string; table: string }): Promise<Holder[]>;
  /**
   * Returns the statements of the short transaction, without I/O.
   * @param steps the prepared steps
   */
  preparedStatements(change: DecidedChange, steps: readonly PreparationStep[]): PreparedStatements;
  /**
   * Drops all unused objects of a request. Finds them in the catalog by name, so it needs no steps. Idempotent. Waits
   * for locks in short attempts like a step.
   */
  cleanUp(context: Pick<StepContext, 'id' | 'session' | 'schema' | 'signal'>): Promise<void>;
}

/** The SQLSTATE that the short transaction raises if a prepared object is missing or invalid. */
export const PREPARATION_LOST = 'DPS02';
