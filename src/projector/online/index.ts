/**
 * Online preparations: what takes long of a change is made before it and outside its transaction, beside the applications
 * that use the table, so that the change itself is one short transaction. `types.ts` is what others see of it.
 */
import { cleanUp } from './clean-up.js';
import { stepFailure } from './failure.js';
import { observeStep } from './observe.js';
import { planPreparation } from './plan.js';
import { addConstraint, validateConstraint } from './run-constraint.js';
import { buildIndex } from './run-index.js';
import { readStep } from './steps.js';
import type { PreparationEngine, StepContext } from './types.js';
import { preparedStatements } from './use.js';

export type * from './types.js';
export { PreparationRefused } from './types.js';
export { PREPARATION_LOST } from './check.js';

export interface EngineOptions {
  /** Milliseconds that a try waits for each strong lock; others queue behind it so long. */
  lockWait: number;
  /** Bytes of a table up to which nothing is prepared on it: it is read in a moment. */
  smallTable?: number;
}

/** Read, and its index built, in some 20 ms. */
const SMALL_TABLE = 8 * 1024 ** 2;

export function createPreparationEngine({ lockWait, smallTable = SMALL_TABLE }: EngineOptions): PreparationEngine {
  const waits = { strong: lockWait };
  const RUN = {
    add: (context: StepContext, step: ReturnType<typeof readStep>) => addConstraint(context, step, waits),
    validate: (context: StepContext, step: ReturnType<typeof readStep>) => validateConstraint(context, step, waits),
    index: buildIndex,
  };
  return {
    planPreparation: (client, change) => planPreparation(client, change, { smallTable }),
    async runStep(context, step) {
      const own = readStep(step);
      try {
        context.signal.throwIfAborted();
        await RUN[own.kind](context, own);
      } catch (error) {
        context.signal.throwIfAborted();
        throw await stepFailure(context, step, own, error);
      }
    },
    observeStep: (db, pid, step) => observeStep(db, pid, step.collection),
    preparedStatements,
    cleanUp: (context) => cleanUp(context, waits),
  };
}
