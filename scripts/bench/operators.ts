/**
 * `npm run bench -- operators`: compares operations of operators with COPY … TO STDOUT of the same rows. Settings:
 * BENCH_EVENTS (100000; also 1000000) events of the log, BENCH_COLLECTIONS (10000) collections of 20 fields.
 */
import { readFile } from 'node:fs/promises';
import type pg from 'pg';
import { readDatabase } from '../../src/postgres/server.js';
import { sendScript } from '../../src/postgres/exchange.js';
import { migrate } from '../../src/postgres/migrate.js';
import { createPool, withClient } from '../../src/postgres/pool.js';
import { type RebuiltMetadata, rebuildMetadataRows } from '../../src/projector/metadata/rebuild.js';
import { foldLog, createStartPoint } from '../../src/log/fold.js';
import { readRelease } from '../../src/release.js';
import { growingHistory, wideHistory, writeEvents } from './logs.js';
import { median, milliseconds } from './measure.js';
import { printTable } from './runner.js';
import { startServer, startService } from './servers.js';

const RUNS = 3;
const silent = { debug() {}, info() {}, warn() {}, error() {} };

const sizes = (process.env['BENCH_EVENTS'] ?? '100000').split(',').map(Number);
const collections = Number(process.env['BENCH_COLLECTIONS'] ?? 10_000);
const server = await startServer();
const lines: string[][] = [];
try {
  for (const size of sizes) await rebuilds(size);
  await memory(collections);
  const title = `PostgreSQL ${server.version}, Node.js ${process.version}, release ${readRelease()}`;
  printTable(title, ['work', 'measured', 'limit', 'ratio'], lines);
} finally {
  await server.stop();
}

async function onDatabase<T>(work: (pool: pg.Pool, connectionString: string) => Promise<T>): Promise<T> {
  const connectionString = await server.createDatabase();
  const pool = createPool({ connectionString, schema: 'public', serviceSchema: 'service', max: 2, logger: silent });
  try {
    await migrate({
      pool,
      schema: 'public',
      serviceSchema: 'service',
      database: await readDatabase(pool),
      logger: silent,
    });
    return await work(pool, connectionString);
  } finally {
    await pool.end();
  }
}

async function rebuilds(events: number): Promise<void> {
  await onDatabase(async (pool, connectionString) => {
    await withClient(pool, (client) => writeEvents(client, growingHistory(events)));
    const { database } = await readDatabase(pool);
    const rebuild = () =>
      rebuildMetadataRows({
        connection: { connectionString, schema: 'public', serviceSchema: 'service' },
        database,
        lockTimeout: 10_000,
        logger: silent,
      });
    const copies = { log: [] as number[], rows: [] as number[] };
    const runs = { fold: [] as number[], all: [] as RebuiltMetadata[], none: [] as RebuiltMetadata[] };
    for (let run = 0; run < RUNS; run += 1) {
      await pool.query('TRUNCATE service.service_collections, service.service_fields, service.service_relations');
      copies.log.push(await measureCopy(pool, 'service_events'));
      runs.fold.push(await milliseconds(() => foldLog(pool, createStartPoint())));
      runs.all.push(await rebuild());
      copies.rows.push(await measureCopy(pool, 'service_collections', 'service_fields', 'service_relations'));
      runs.none.push(await rebuild());
    }
    const limit = median(copies.log);
    const show = (work: string, took: number, locked?: number): void => {
      const waited = locked === undefined ? '' : `, writers waited ${locked} ms`;
      const rate = Math.round((events / took) * 1000);
      lines.push([
        `${work}, ${events} events`,
        `${rate} events/s (${Math.round(took)} ms${waited})`,
        `${Math.round(limit)} ms COPY of the log`,
        (took / limit).toFixed(2),
      ]);
    };
    show('fold, cold', median(runs.fold));
    show(
      'rebuild of all rows',
      median(runs.all.map((each) => each.milliseconds)),
      median(runs.all.map((each) => each.locked_milliseconds)),
    );
    show(
      'rebuild where nothing is wrong',
      median(runs.none.map((each) => each.milliseconds)),
      median(runs.none.map((each) => each.locked_milliseconds)),
    );
    const rows = (runs.all[0]?.collections ?? 0) + (runs.all[0]?.fields ?? 0);
    lines.push([`COPY of the ${rows} metadata rows`, `${Math.round(median(copies.rows))} ms`, '', '']);
  });
}

/** Milliseconds until the last byte has arrived. */
async function measureCopy(pool: pg.Pool, ...tables: string[]): Promise<number> {
  return withClient(pool, async (client) => {
    await client.query('SELECT 1');
    return milliseconds(async () => {
      for (const table of tables) await sendScript(client, `COPY service.${table} TO STDOUT`);
    });
  });
}

async function memory(count: number): Promise<void> {
  const empty = await onDatabase((_pool, connectionString) => resident(connectionString));
  const full = await onDatabase(async (pool, connectionString) => {
    await withClient(pool, (client) => writeEvents(client, wideHistory(count)));
    return resident(connectionString);
  });
  const mib = (bytes: number): string => `${Math.round(bytes / 1024 ** 2)} MiB`;
  lines.push([
    `memory, ${count} collections × 20 fields`,
    `${mib(full.started)} after the start, ${mib(full.read)} after a snapshot`,
    `${mib(empty.started)} without any`,
    (full.started / empty.started).toFixed(2),
  ]);
}

/** RSS of the service in bytes: at the start, and after it has rendered the complete schema. */
async function resident(connectionString: string): Promise<{ started: number; read: number }> {
  const service = await startService(connectionString);
  try {
    const started = await rssOf(service.process.pid);
    await service.call('GET', '/schema/snapshot');
    return { started, read: await rssOf(service.process.pid) };
  } finally {
    await service.stop();
  }
}

async function rssOf(pid = 0): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}
