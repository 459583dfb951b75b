import type pg from 'pg';
import type { Point } from './fold.js';

/** Runs `work` while no other writer changes the log or the projections. The pipeline implements it. */
export interface LogLock {
  underLock<T>(work: (client: pg.ClientBase, point: Point) => Promise<T>, how?: { readOnly?: boolean }): Promise<T>;
}
