import type pg from 'pg';
import type { Point } from './fold.js';

/** What lets `work` see the log and the projections stand still: the pipeline. */
export interface LogLock {
  underLock<T>(work: (client: pg.ClientBase, point: Point) => Promise<T>, how?: { readOnly?: boolean }): Promise<T>;
}
