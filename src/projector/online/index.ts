/**
 * Online preparations: the slow parts of a change run before it and outside its transaction, while applications use
 * the table. The change itself is then one short transaction. `types.ts` is the interface for others.
 */
import { cleanUp } from './clean-up.js';
import { stepFailure } from './failure.js';
import { observeStep, writersOf } from './progress.js';
import { type Pace } from './throttle.js';
import { planPreparation } from './plan.js';
import { addConstraint, validateConstraint } from './run-constraint.js';
import { copyValues } from './run-copy.js';
import { buildIndex } from './run-index.js';
import { noteWrites } from './run-note.js';
import { type EngineStep, readStep } from './steps.js';
import type { PreparationEngine, PreparationStep, StepContext } from './types.js';
import { preparedStatements } from './short-transaction.js';

export type * from './types.js';
export { PreparationRefused } from './types.js';
export { PREPARATION_LOST } from './preparation-lost.js';

type Run = (context: StepContext, own: EngineStep, step: PreparationStep) => Promise<void>;

export interface EngineOptions {
  /** Milliseconds that one attempt waits for a strong lock. Other sessions queue behind it for that time. */
  lockWait: number;
  pace?: Partial<Pace>;
  /** Nothing is prepared for tables up to this size in bytes, because they are read quickly. */
  smallTable?: number;
}

/** Takes about 20 ms to read and index. */
const SMALL_TABLE = 8 * 1024 ** 2;

/** In milliseconds. */
const MAX_LAG = 10_000;

/** Stateless: everything it needs is stored in the steps and in the database. */
export function createPreparationEngine(options: EngineOptions): PreparationEngine {
  const { lockWait, smallTable = SMALL_TABLE } = options;
  const pace: Pace = { rate: null, maxLag: MAX_LAG, ...options.pace };
  const waits = { strong: lockWait };
  const run: Readonly<Record<EngineStep['kind'], Run>> = {
    add: (context, own) => addConstraint(context, own, waits),
    validate: (context, own) => validateConstraint(context, own, waits),
    index: (context, own) => buildIndex(context, own, pace),
    note: (context, own) => noteWrites(context, own, waits),
    copy: (context, own, { rows: total }) => copyValues(context, own, { pace, total }),
  };
  return {
    planPreparation: (client, change) => planPreparation(client, change, { smallTable }),
    async runStep(context, step) {
      const own = readStep(step);
      try {
        context.signal.throwIfAborted();
        await run[own.kind](context, own, step);
      } catch (error) {
        context.signal.throwIfAborted();
        throw await stepFailure(context, step, own, error);
      }
    },
    observeStep: (db, pid, step) => observeStep(db, pid, step.collection),
    writersOf,
    preparedStatements,
    cleanUp: (context) => cleanUp(context, waits),
  };
}
