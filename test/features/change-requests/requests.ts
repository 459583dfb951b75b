/** Change requests on an instance without HTTP: opened, processed by the runner, and awaited. */
import { expect } from 'chai';
import pg from 'pg';
import {
  createChangeRequests,
  createChangeRunner,
  findOpenedRequest,
} from '../../../src/features/change-requests/index.js';
import { readDatabase } from '../../../src/postgres/server.js';
import { createChanges, type ChangeView } from '../../../src/features/change-requests/read.js';
import { createPreparationEngine } from '../../../src/projector/online/index.js';
import type { InputOf, OperationName } from '../../../src/schema/operations/index.js';
import { CAUSE, type Instance, command, expectDone, silent, startInstance } from '../../support/instance.js';
import { type TestDatabase, createDatabase } from '../../support/postgres.js';
import { until } from '../../support/until.js';

export interface Requests {
  instance: Instance;
  database: TestDatabase;
  /** An application. */
  db: pg.Client;
  /** Statements that the application runs while the service reads who writes to a table. They are rolled back. */
  writing?: string;
  open<N extends OperationName>(name: N, input: InputOf<N>): Promise<string>;
  retrieve(id: string): Promise<ChangeView>;
  /** Waits for its end and for its cleanup. */
  ended(id: string, state: 'applied' | 'failed' | 'withdrawn'): Promise<ChangeView>;
  stop(): Promise<void>;
}

/**
 * Treats every table as large.
 * @param tries how often a preparation may be retried
 */
export async function startRequests({ tries }: { tries: number }): Promise<Requests> {
  const database = await createDatabase('migrated');
  const { connectionString } = database;
  const instance = await startInstance(connectionString);
  const { pool, pipeline, schema, store } = instance;
  const engine = createPreparationEngine({ lockWait: 100, smallTable: -1 });
  const { writersOf } = engine;
  engine.writersOf = async (...place) => {
    if (started.writing === undefined) return writersOf(...place);
    await db.query(`BEGIN; ${started.writing}`);
    try {
      return await writersOf(...place);
    } finally {
      await db.query('ROLLBACK');
    }
  };
  const requests = createChangeRequests(engine, pipeline);
  const changes = createChanges(pool);
  const runner = createChangeRunner({
    pool,
    pipeline,
    engine,
    schema,
    tries,
    release: '1.2.3',
    inTrash: () => Promise.resolve([]),
    connection: { connectionString, schema, serviceSchema: 'service' },
    database: (await readDatabase(pool)).database,
    logger: silent,
    pauses: { gather: 1, look: 100, retry: 20, maximum: 50 },
  });
  store.subscribe(() => runner.wake());
  runner.wake();
  const db = new pg.Client({ connectionString, application_name: 'shop' });
  await db.connect();
  const retrieve = async (id: string): Promise<ChangeView> => {
    const result = await changes.retrieve(id);
    if (result === undefined) throw new Error(`there is no ${id}`);
    return result;
  };
  const started: Requests = {
    instance,
    database,
    db,
    retrieve,
    async open(name, input) {
      const opened = findOpenedRequest(
        expectDone(await requests.online.apply(name, command(name, input), { cause: CAUSE, input: input as object })),
      );
      if (opened === undefined) throw new Error('it was done at once');
      return opened.id;
    },
    async ended(id, state) {
      let change = await retrieve(id);
      await until('the request ends', async () => {
        change = await retrieve(id);
        return ['applied', 'failed', 'withdrawn'].includes(change.state) && !change.cleaning;
      });
      expect(change.state, JSON.stringify(change.problems)).to.equal(state);
      return change;
    },
    async stop() {
      await runner.stop();
      await db.end();
      await instance.stop();
      await database.drop();
    },
  };
  return started;
}

/** Objects in the database that were created for a request. */
export async function listLeftovers(db: pg.Client): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(`
    SELECT conname AS name FROM pg_constraint WHERE conname LIKE 'dps_online%' OR NOT convalidated
    UNION ALL SELECT relname FROM pg_class WHERE relname LIKE 'dps_online%'
    UNION ALL SELECT tgname FROM pg_trigger WHERE tgname LIKE 'dps_online%'
    UNION ALL SELECT proname FROM pg_proc WHERE proname LIKE 'dps_online%'
    UNION ALL SELECT indexrelid::regclass::text FROM pg_index WHERE NOT indisvalid
    UNION ALL SELECT nspname FROM pg_namespace WHERE nspname = 'service_trash_0'
    UNION ALL SELECT step ->> 'key' FROM service.service_preparations`);
  return rows.map(({ name }) => name);
}
