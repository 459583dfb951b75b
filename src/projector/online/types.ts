/**
 * Between change requests, which decide when something is prepared and tell people of it, and the engine of this room,
 * which knows what PostgreSQL needs. A preparation is planned from a change that was decided, carried out step by step
 * outside its transaction, and used by the short transaction that makes the change. The runner of change requests calls
 * everything here; nothing here knows of events or HTTP.
 */
import type pg from 'pg';
import type { Json } from '../../kernel/json.js';
import type { Problem } from '../../kernel/problem.js';
import type { Warning } from '../../kernel/warning.js';
import type { Queryable } from '../../postgres/pool.js';
import type { LogEvent } from '../../schema/model/events.js';
import type { State } from '../../schema/model/state.js';
import type { Statement } from '../ddl/statement.js';
import type { Holder } from '../ddl/table-locks.js';

/** A change as the pipeline decided and planned it, before anything of it was done. */
export interface DecidedChange {
  /** The uuid of the change request: what is made in the database for it carries its name (see `cleanUp`). */
  id: string;
  before: State;
  after: State;
  events: readonly LogEvent[];
  /** As `planBatch` has them, without a preparation. */
  statements: readonly Statement[];
  /** The schema that is managed. */
  schema: string;
}

/**
 * What has to be done before. Plain JSON: it is kept beside the log, so that any process goes on with it. Members beyond
 * these are the engine's own; the runner hands them back as they were.
 */
export interface PreparationStep {
  /** Names the step within its request, the same whenever the same change is planned: `validate articles.title not null`. */
  key: string;
  /** `check`, `validate`, `index`, `copy` …: for metrics and for machines. */
  kind: string;
  collection: string;
  field: string | null;
  /** One phrase for people: `validate that articles.title is never null`. */
  summary: string;
  /** What it works through, as PostgreSQL's statistics estimate it; null: not known. */
  rows: number | null;
  bytes: number | null;
  /** The engine's own. */
  [more: string]: Json;
}

export type Preparation =
  /** Nothing of it takes long, or nothing of it can be done before: it is applied at once, as without `online`. */
  | { kind: 'nothing' }
  /** `ONLINE_NOT_POSSIBLE`, each with its reason and place. Nothing was done. */
  | { kind: 'not possible'; problems: Problem[] }
  | {
      kind: 'steps';
      /** In the order they are run in, one at a time. */
      steps: PreparationStep[];
      /**
       * Collections that must stay as they are meanwhile, by name: every other change of their tables is refused (`IN_USE`).
       * For a foreign key both sides.
       */
      collections: string[];
      /** What people should know before it starts: that rows which break the rule are refused from now on, for one. */
      warnings: Warning[];
    };

/** How far a step has come. Kept beside the log and shown as it is. */
export interface StepProgress {
  /** 0 to 1; null: PostgreSQL doesn't tell. */
  done: number | null;
  /** What of it runs: `building index: scanning table`; null: nothing more to say than the step's summary. */
  phase: string | null;
  /** Whose transactions it waits for; empty: nobody's. */
  waiting_for: readonly Holder[];
}

/** What a step runs with. */
export interface StepContext {
  /** Of the change request. */
  id: string;
  /** A session of its own on the server itself, in no transaction; no statement_timeout, no lock_timeout. */
  session: pg.ClientBase;
  schema: string;
  /**
   * Aborted when the request is withdrawn or this process stops. The runner also cancels the statement that runs then
   * (`pg_cancel_backend`); a step looks at this between its statements and throws `signal.reason`.
   */
  signal: AbortSignal;
  /** What `save` was last given for this step, also by another process; null: nothing. */
  checkpoint: Json;
  /**
   * Keeps a checkpoint; in the session's transaction where there is one, so that a batch and its checkpoint are one.
   * @throws when the request is no longer ours to prepare: it was withdrawn, or another process has it
   */
  save(checkpoint: Json): Promise<void>;
  /** What the step itself knows of its progress: cheap, also often. */
  progress(progress: Partial<StepProgress>): void;
}

/** The request fails with these: rows in the way, for one. Anything else that a step throws is tried again later. */
export class PreparationRefused extends Error {
  override readonly name = 'PreparationRefused';
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[], cause?: unknown) {
    super(problems[0]?.message ?? 'refused', { cause });
    this.problems = problems;
  }
}

/** What the short transaction runs. */
export type PreparedStatements =
  /** In place of `DecidedChange.statements`: what was prepared is used, and gone or under its last name afterwards. */
  | { kind: 'prepared'; statements: Statement[] }
  /** The change needs something else than was prepared, as it is decided now: these steps first. */
  | { kind: 'missing'; steps: PreparationStep[] };

/** The engine: what stands in `index.ts` of this room. */
export interface PreparationEngine {
  /**
   * What has to be prepared for a change. Asks the catalog on `client`, which may be in a transaction that holds the log's
   * lock: quick, and writes nothing.
   */
  planPreparation(client: Queryable, change: DecidedChange): Promise<Preparation>;
  /**
   * Does one step, or what is left of it: idempotent, whatever a killed process left, and whoever did it. Returns when it
   * is done. What PostgreSQL refuses for good is a `PreparationRefused`; a lock that can't be had is waited for in short
   * tries, with whose it is in `progress`, and never given up.
   */
  runStep(context: StepContext, step: PreparationStep): Promise<void>;
  /**
   * Asked each second on another connection while a step runs: progress as pg_stat_progress_* tells it, and whom the
   * session waits for.
   * @param pid of the session's server process
   */
  observeStep(db: Queryable, pid: number, step: PreparationStep): Promise<Partial<StepProgress>>;
  /** Who writes a table now: whose transactions have locks of writers on it. */
  writersOf(db: Queryable, place: { schema: string; table: string }): Promise<Holder[]>;
  /** The statements of the short transaction. Pure. `steps`: what was prepared. */
  preparedStatements(change: DecidedChange, steps: readonly PreparationStep[]): PreparedStatements;
  /**
   * Takes away whatever was made for a request and is not used: found in the catalog by its name, so that nothing has to be
   * known of its steps. Idempotent; waits for locks in short tries like a step.
   */
  cleanUp(context: Pick<StepContext, 'id' | 'session' | 'schema' | 'signal'>): Promise<void>;
}
