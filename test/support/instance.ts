/** The core of a service process without HTTP, on a database of the test server. */
import type pg from 'pg';
import { READERS } from '../../src/features/readers.js';
import { defaultServiceSchema } from '../../src/postgres/own-tables.js';
import { type Outcome, type Pipeline, type PipelineOptions, createPipeline } from '../../src/pipeline/index.js';
import { readDatabase } from '../../src/postgres/server.js';
import type { Logger } from '../../src/postgres/logger.js';
import { migrate } from '../../src/postgres/migrate.js';
import { createPool } from '../../src/postgres/pool.js';
import { type Store, createStore } from '../../src/reads/state-store.js';
import type { Cause } from '../../src/schema/model/events.js';
import type { CommandOf, InputOf, OperationName } from '../../src/schema/operations/index.js';
import { parsed } from './given.js';

export const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} };

export const CAUSE: Cause = {
  actor: { id: '7f4cbd86-9a3f-4d0b-9f0a-3f1ff5d6b1c2', name: 'Ada' },
  command: 'create-collection',
  reason: null,
  request_id: null,
  ip: null,
  user_agent: null,
};

export interface Instance {
  pool: pg.Pool;
  store: Store;
  pipeline: Pipeline;
  schema: string;
  stop(): Promise<void>;
}

export interface InstanceOptions extends Partial<
  Pick<PipelineOptions, 'lockTimeout' | 'lockWait' | 'statementTimeout' | 'clock' | 'keep'>
> {
  schema?: string;
  logger?: Logger;
  /** Another address of the same database for commands, for example through a proxy. */
  writeThrough?: string;
  /** Maximum connections of a pool. With one, each command uses the connection of the command before. */
  max?: number;
  /** True if that address connects through a pooler. */
  pooled?: boolean;
}

const USUAL = {
  lockTimeout: 20_000,
  lockWait: 200,
  statementTimeout: 20_000,
  keep: { deleted: 7 * 86_400_000, copyRows: 100_000 },
};

/** Migrates the database, loads the state, and accepts commands. */
export async function startInstance(connectionString: string, options: InstanceOptions = {}): Promise<Instance> {
  const { schema = 'public', logger = silent, writeThrough } = options;
  const pool = createPool({
    connectionString,
    schema,
    serviceSchema: defaultServiceSchema(schema),
    max: options.max ?? 5,
    logger,
  });
  const database = await readDatabase(pool);
  await migrate({ pool, schema, serviceSchema: defaultServiceSchema(schema), database, logger });
  const store = createStore({ pool, logger });
  await store.load();
  const writers =
    writeThrough === undefined
      ? pool
      : createPool({
          connectionString: writeThrough,
          ...(options.pooled === true && { pooler: 'transaction', direct: connectionString }),
          schema,
          serviceSchema: defaultServiceSchema(schema),
          max: options.max ?? 3,
          logger,
        });
  const pipeline = createPipeline({
    ...USUAL,
    ...options,
    pool: writers,
    location: { database: database.database, schema, schemas: [schema] },
    release: '1.2.3',
    store,
    readers: READERS,
    logger,
  });
  const stop = async (): Promise<void> => {
    await pool.end();
    if (writers !== pool) await writers.end();
  };
  return { pool, store, pipeline, schema, stop };
}

/** Parses a valid input. */
export function command<N extends OperationName>(name: N, input: InputOf<N>): CommandOf<N> {
  const result = parsed(name, input);
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.value;
}

/** create-collection for a table with these fields. */
export function table(collection: string, fields: object[] = [], meta: object = {}): CommandOf<'create-collection'> {
  return command('create-collection', { body: { collection, schema: {}, fields, meta }, concurrentIndexes: false });
}

/** A field in a create body. */
export function field(name: string, type = 'string', schema: object = {}, meta: object = {}): object {
  return { field: name, type, meta: { interface: 'input', ...meta }, schema };
}

/** The outcome of a command that must be accepted. */
export function expectDone(outcome: Outcome): Extract<Outcome, { kind: 'done' }> {
  if (outcome.kind !== 'done') throw new Error(`not done: ${JSON.stringify(outcome)}`);
  return outcome;
}

/** The code of the first problem of a rejected command. */
export function refusedWith(outcome: { kind: string }): string {
  if (outcome.kind !== 'refused') throw new Error(`not refused but ${outcome.kind}`);
  return (outcome as Extract<Outcome, { kind: 'refused' }>).problems[0]?.code ?? '';
}
