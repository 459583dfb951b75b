/** A standby cancels queries that delay its recovery. They are sent again. */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { isRecoveryConflict } from './errors.js';

/** Attempts per query, and milliseconds between them, which grow with each attempt. */
const TRIES = 3;
const PAUSE = 50;

type Query = (...given: unknown[]) => Promise<unknown>;

/**
 * Applies to queries of the pool itself, which are separate transactions. A cancelled one has changed and returned
 * nothing.
 */
export function retryRecoveryConflicts(pool: pg.Pool): void {
  const query = pool.query.bind(pool) as Query;
  const retried: Query = async (...given) => {
    for (let count = 1; ; count += 1) {
      try {
        return await query(...given);
      } catch (error) {
        if (count === TRIES || !isRecoveryConflict(error)) throw error;
        await sleep(PAUSE * count);
      }
    }
  };
  Object.assign(pool, { query: retried });
}
