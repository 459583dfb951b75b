/**
 * Online preparations: what takes long of a change is made before it and outside its transaction, beside the applications
 * that use the table, so that the change itself is one short transaction. `types.ts` is what others see of it.
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
  /** Milliseconds that a try waits for each strong lock; others queue behind it so long. */
  lockWait: number;
  pace?: Partial<Pace>;
  /** Bytes of a table up to which nothing is prepared on it: it is read in a moment. */
  smallTable?: number;
}

/** Read, and its index built, in some 20 ms. */
const SMALL_TABLE = 8 * 1024 ** 2;

/** Milliseconds. */
const MAX_LAG = 10_000;

/** It keeps nothing: all that it has to know again stands in the steps and in the database. */
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
