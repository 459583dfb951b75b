/** Closes the parts of the service in reverse order of their start. */
import type { Logger } from './postgres/logger.js';

export interface Shutdown {
  /** Registers a part that has just been started. */
  add(name: string, close: () => Promise<unknown> | void): void;
  /**
   * Closes everything, newest first. A failure is logged and does not prevent the other parts from closing. Idempotent.
   */
  run(): Promise<void>;
  begun(): boolean;
}

/**
 * Creates the list of parts to close. Nothing closes automatically. The code that starts the process calls `run` at
 * least once.
 */
export function createShutdown(logger: Logger): Shutdown {
  const steps: { name: string; close: () => Promise<unknown> | void }[] = [];
  let running: Promise<void> | undefined;

  const closeAll = async (): Promise<void> => {
    for (let step = steps.pop(); step; step = steps.pop()) {
      try {
        await step.close();
        logger.debug('closed', { part: step.name });
      } catch (error) {
        logger.error('could not be closed', { part: step.name, error });
      }
    }
  };

  return {
    add: (name, close) => {
      steps.push({ name, close });
    },
    run: () => (running ??= closeAll()),
    begun: () => running !== undefined,
  };
}
