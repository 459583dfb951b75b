/** Root hooks of the test run. */
import fc from 'fast-check';
import { stopAll } from './at-end.js';

/**
 * Property tests use the same examples in every run, so that failures come from changes. PROPERTY_SEED=random
 * explores; a number repeats a named failure. Findings become fixtures.
 */
const seed = process.env['PROPERTY_SEED'] ?? '20261121';
if (seed !== 'random') fc.configureGlobal({ seed: Number(seed) });

export const mochaHooks = {
  async afterAll() {
    await stopAll();
  },
};
