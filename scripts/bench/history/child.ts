/** One measurement in its own process, with nothing compiled or cached, as when the service starts. */
import type pg from 'pg';
import { createPool } from '../../../src/postgres/pool.js';
import { createStore } from '../../../src/reads/state-store.js';
import { createStoredFolds } from '../../../src/reads/stored-folds.js';
import { createTimeTravel } from '../../../src/reads/history/time-travel.js';
import { verifyLog } from '../../../src/log/verification.js';
import { emptyHead } from '../../../src/log/head.js';
import { readBatches } from '../../../src/reads/history/batches.js';
import { median } from '../measure.js';
import { generator } from '../logs.js';

const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** Milliseconds, or one value per operation. */
type Measurement = (pool: pg.Pool) => Promise<number | number[] | object>;

async function measure(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

const MEASUREMENTS: Readonly<Record<string, Measurement>> = {
  /** Folds the complete log without stored folds. */
  fold: (pool) => measure(() => createStore({ pool, logger: silent }).load()),

  /** Starts like the service, from the newest stored fold. */
  start: (pool) =>
    measure(() =>
      createStore({
        pool,
        logger: silent,
        folds: createStoredFolds({ pool, logger: silent, secret: 'secret' }),
      }).load(),
    ),

  /** Stores folds along the log, as a long-running service does. */
  store: async (pool) => {
    const folds = createStoredFolds({ pool, logger: silent, secret: 'secret' });
    const store = createStore({ pool, logger: silent, folds });
    return measure(async () => {
      await store.load();
      await folds.idle();
      const travel = createTimeTravel({ pool, store, folds });
      const { head, state } = store.point();
      const step = folds.nextStop({ head: emptyHead(), state });
      for (let position = step; position < head.position; position += step) {
        await travel.at(position);
        await folds.idle();
      }
    });
  },

  /** Reads random positions, each with cold caches. */
  travel: async (pool) => {
    const folds = createStoredFolds({ pool, logger: silent, secret: 'secret' });
    const store = createStore({ pool, logger: silent, folds });
    await store.load();
    const random = generator(7);
    const times: number[] = [];
    for (let count = 0; count < Number(process.env['BENCH_TRAVELS'] ?? 200); count += 1) {
      const position = 1 + random(store.point().head.position);
      times.push(await measure(() => createTimeTravel({ pool, store, folds }).at(position)));
    }
    await folds.idle();
    return times;
  },

  /** One collection at random positions. */
  collection: async (pool) => {
    const folds = createStoredFolds({ pool, logger: silent, secret: 'secret' });
    const store = createStore({ pool, logger: silent, folds });
    await store.load();
    const random = generator(7);
    const { head, state } = store.point();
    const names = [...state.collections.keys()];
    const times: number[] = [];
    for (let count = 0; count < Number(process.env['BENCH_TRAVELS'] ?? 200); count += 1) {
      const name = names[random(names.length)] ?? '';
      const position = 1 + random(head.position);
      times.push(await measure(() => createTimeTravel({ pool, store, folds }).collectionsAt([name], position)));
    }
    return times;
  },

  /** Reads a page of large batches twice. */
  batches: async (pool) => {
    const page = () => readBatches(pool, { filter: {}, order: 'desc', limit: 100 });
    const first = await measure(page);
    const secondRun: number[] = [];
    for (let count = 0; count < 20; count += 1) secondRun.push(await measure(page));
    return { first, again: median(secondRun) };
  },

  verify: (pool) => measure(() => verifyLog(pool, emptyHead())),

  /** Reads the rows of a fold as fast as PostgreSQL sends them. */
  copy: (pool) =>
    measure(() => copyOut(pool, 'position, type, version, collection, field, data, previous_hash, hash, occurred_at')),

  copyAll: (pool) => measure(() => copyOut(pool, '*')),

  memory: async (pool) => {
    const store = createStore({ pool, logger: silent });
    globalThis.gc?.();
    const before = process.memoryUsage().heapUsed;
    await store.load();
    globalThis.gc?.();
    return {
      heap: process.memoryUsage().heapUsed - before,
      rss: process.memoryUsage().rss,
      position: store.point().head.position,
    };
  },
};

/** The driver reads the rows from the connection and discards them. */
async function copyOut(pool: pg.Pool, columns: string): Promise<void> {
  await pool.query(`COPY (SELECT ${columns} FROM service.service_events ORDER BY position) TO STDOUT`);
}

const [, , name = '', connectionString = ''] = process.argv;
const pool = createPool({ connectionString, schema: 'public', serviceSchema: 'service', max: 3, logger: silent });
await pool.query('SELECT 1');
process.stdout.write(JSON.stringify(await MEASUREMENTS[name]?.(pool)));
await pool.end();
