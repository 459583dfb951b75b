/** Single changes, compared with the minimum work that PostgreSQL needs for them. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import pg from 'pg';
import { runToEnd, stepsTo } from '../../../src/kernel/resumable.js';
import { planBatch } from '../../../src/projector/ddl/plan.js';
import { initialState } from '../../../src/schema/model/state.js';
import { createCollection } from '../../../src/schema/operations/collections.js';
import { milliseconds } from '../measure.js';
import type { Case, Comparison, Resources } from '../runner.js';
import { applySnapshot, createBody, snapshotOf } from '../schemas.js';
import type { Service } from '../servers.js';

/** The DDL of a create, as the service sends it. */
function ddlOf(collection: string): string {
  const command = runToEnd(stepsTo(createCollection.parse({ body: createBody(collection), concurrentIndexes: false })));
  if (!command.ok) throw new Error(JSON.stringify(command.problems));
  const events = runToEnd(stepsTo(createCollection.decide(initialState(), command.value)));
  if (!events.ok) throw new Error(JSON.stringify(events.problems));
  return runToEnd(planBatch(initialState(), events.value, 'public'))
    .statements.map(({ sql }) => `${sql};`)
    .join('\n');
}

/** Its own session, which stays open: a new one would read PostgreSQL's catalogs first. */
async function plainSession(resources: Resources): Promise<(script: string) => Promise<number>> {
  const client = new pg.Client({ connectionString: await resources.server.createDatabase() });
  await client.connect();
  resources.onEnd(() => client.end());
  return (script) => milliseconds(() => client.query(`BEGIN;\n${script}\nCOMMIT;`));
}

const nameOf = (run: number): string => `measured_${run + 100}`;

const note = (run: number): object => ({ meta: { note: `text ${run}` } });

export const create =
  (runs: number): Case =>
  async (resources) => {
    const run = await plainSession(resources);
    const service = await resources.service();
    return [
      {
        work: 'create one collection with 7 fields',
        against: 'plain SQL',
        goal: 'create',
        runs,
        warmUps: 20,
        measured: (n) => milliseconds(() => service.call('POST', '/collections', createBody(nameOf(n)))),
        limit: (n) => run(ddlOf(nameOf(n))),
      },
    ];
  };

/** A log and a row of metadata in the plain database: what one change has to write at least. */
const PLAIN_TABLES = `
  CREATE TABLE log (position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, collection text, data jsonb, hash bytea);
  CREATE INDEX ON log (collection, position);
  CREATE TABLE rows (collection text PRIMARY KEY, meta jsonb);
  INSERT INTO rows VALUES ('measured', '{}');`;

const plainPatch = (run: number): string => `
  INSERT INTO log (collection, data, hash) VALUES ('measured', '{"meta": {"note": "text ${run}"}}', sha256('text'));
  UPDATE rows SET meta = '{"note": "text ${run}"}' WHERE collection = 'measured';
  NOTIFY measured;`;

export const patch =
  (runs: number): Case =>
  async (resources) => {
    const run = await plainSession(resources);
    await run(PLAIN_TABLES);
    const service = await resources.service();
    await service.call('POST', '/collections', createBody('measured'));
    return [
      {
        work: 'change the note of a collection',
        against: 'an event and a row in one round trip',
        goal: 'patch',
        runs,
        warmUps: 20,
        measured: (n) => milliseconds(() => service.call('PATCH', '/collections/measured', note(n))),
        limit: (n) => run(plainPatch(n)),
      },
    ];
  };

/** Deletion into the trash, compared with a deletion that drops the table immediately. */
export const remove =
  (runs: number): Case =>
  async (resources) => {
    const service = await resources.service();
    let created = 0;
    // New names each time: at most 32 tables of one name share the schemas of the trash.
    const deleted = async (query: string): Promise<number> => {
      const name = `measured_${(created += 1)}`;
      await service.call('POST', '/collections', createBody(name));
      return milliseconds(() => service.call('DELETE', `/collections/${name}${query}`));
    };
    return [
      {
        work: 'delete one collection into the trash',
        against: 'dropped at once',
        goal: 'delete',
        runs,
        warmUps: 10,
        measured: () => deleted(''),
        limit: () => deleted('?purge'),
      },
    ];
  };

const CLIENTS = 64;

/** Creates per second by many clients, compared with those by one client. */
export const clients =
  (runs: number): Case =>
  async (resources) => {
    const service = await resources.service();
    let created = 0;
    const creates = async (count: number): Promise<void> => {
      for (let left = count; left > 0; left -= 1) {
        created += 1;
        await service.call('POST', '/collections', createBody(`measured_${created}`));
      }
    };
    const rate = async (at: number, each: number): Promise<number> => {
      const spent = await milliseconds(() => Promise.all(Array.from({ length: at }, () => creates(each))));
      return (at * each * 1000) / spent;
    };
    return [
      {
        work: `create collections by ${CLIENTS} clients`,
        against: 'one client',
        unit: 'per second',
        goal: 'clients',
        runs,
        warmUps: 1,
        measured: () => rate(CLIENTS, 2),
        limit: () => rate(1, 32),
      },
    ];
  };

/** A patch while another thread reads streams of events. */
export const streams =
  (count: number, runs: number): Case =>
  async (resources) => {
    const ownService = await resources.service();
    const crowded = await resources.service(undefined, { STREAMS_PER_USER: String(count) });
    for (const service of [ownService, crowded]) await service.call('POST', '/collections', createBody('measured'));
    const worker = new Worker(new URL('../streams.mjs', import.meta.url), {
      workerData: { url: crowded.url, headers: crowded.headers, count },
    });
    resources.onEnd(() => worker.terminate());
    await once(worker, 'message');
    const patched = (service: Service) => (run: number) =>
      milliseconds(() => service.call('PATCH', '/collections/measured', note(run)));
    return [
      {
        work: `change a note beside ${count.toLocaleString('en')} open streams`,
        against: 'without streams',
        goal: 'streams',
        runs,
        measured: patched(crowded),
        limit: patched(ownService),
      },
    ];
  };

const NEW_FIELD = {
  field: 'added',
  type: 'string',
  meta: { interface: 'input', note: 'measured' },
  schema: { default_value: 'x', is_nullable: false, is_indexed: true },
};

/** Creates one more collection and adds a field to it when many exist, compared with ten. */
export const among =
  (many: number, runs: number): Case =>
  async (resources) => {
    const few = await resources.service();
    const full = await resources.service();
    await applySnapshot(few, snapshotOf(10, resources.release));
    for (let filled = 0; filled < many; filled += 2500)
      await applySnapshot(full, snapshotOf(Math.min(many, filled + 2500), resources.release));
    const created = (service: Service) => (run: number) =>
      milliseconds(() => service.call('POST', '/collections', createBody(nameOf(run))));
    const extended = (service: Service) => (run: number) =>
      milliseconds(() => service.call('POST', `/fields/${nameOf(run)}`, NEW_FIELD));
    const both = (work: string, goal: Comparison['goal'], on: typeof created): Comparison => ({
      work: `${work} when ${many.toLocaleString('en')} exist`,
      against: 'when 10 exist',
      ...(goal !== undefined && { goal }),
      runs,
      warmUps: 5,
      measured: on(full),
      limit: on(few),
    });
    return [
      both('create one collection', 'create among many', created),
      both('add a field to a collection', 'add a field among many', extended),
    ];
  };
