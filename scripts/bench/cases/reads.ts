/** Reads, compared with a bare Express server that returns the same bytes, and with the same reads on less data. */
import { ServiceClient } from '../../../src/postgres/client.js';
import { defaultServiceSchema } from '../../../src/postgres/own-tables.js';
import { milliseconds, processorTimeOf, throughput } from '../measure.js';
import { growingHistory, writeEvents } from '../logs.js';
import type { Case, Comparison, Resources } from '../runner.js';
import { applySnapshot, snapshotOf } from '../schemas.js';
import type { Service } from '../servers.js';

const COLLECTION = '/collections/collection_00001';

async function withCollections(resources: Resources, count: number): Promise<Service> {
  const service = await resources.service();
  await applySnapshot(service, snapshotOf(count, resources.release));
  return service;
}

/** Requests per second of unchanged documents. */
export const unchanged =
  (count: number, runs: number): Case =>
  async (resources) => {
    const service = await withCollections(resources, count);
    const comparisons: Comparison[] = [];
    for (const [work, path] of [
      ['snapshot', '/schema/snapshot'],
      ['list', '/collections'],
      ['retrieve', COLLECTION],
    ] as const) {
      const bytes = await service.send('GET', path);
      const { url: bare } = await resources.bareExpress(bytes);
      comparisons.push({
        work: `${work}, ${count} collections, ${Math.ceil(bytes.length / 1024)} KiB`,
        against: 'bare Express',
        unit: 'req/s',
        goal: `${work}, bare Express`,
        runs,
        warmUps: 1,
        measured: async () => (await throughput(service.url + path, service.headers, 1)).perSecond,
        limit: async () => (await throughput(bare, {}, 1)).perSecond,
      });
    }
    return comparisons;
  };

/** Appends events to the log of a new database; their collections have no tables. */
async function withEvents(resources: Resources, count: number): Promise<Service> {
  const url = await resources.server.createDatabase();
  // A first start creates the tables of the service.
  await (await resources.service(url)).stop();
  const client = new ServiceClient({ connectionString: url, serviceSchema: defaultServiceSchema('public') });
  await client.connect();
  await writeEvents(client, growingHistory(count));
  await client.end();
  return resources.service(url);
}

/** Requests per run: a number instead of a time, because a busy machine may answer none in a second. */
const RETRIEVED = 100;

/** Requests per second on a longer log. They must not depend on its length. */
export const longLog =
  (few: number, many: number, runs: number): Case =>
  async (resources) => {
    const [short, long] = [await withEvents(resources, few), await withEvents(resources, many)];
    const rate = async ({ send }: Service): Promise<number> => {
      const spent = await milliseconds(async () => {
        for (let left = RETRIEVED; left > 0; left -= 1) await send('GET', '/collections/collection_000001');
      });
      return (RETRIEVED * 1000) / spent;
    };
    return [
      {
        work: `retrieve at ${many.toLocaleString('en')} events`,
        against: `at ${few.toLocaleString('en')}`,
        unit: 'req/s',
        goal: 'retrieve, long log',
        runs,
        warmUps: 1,
        measured: () => rate(long),
        limit: () => rate(short),
      },
    ];
  };

/**
 * The first read of a document after a change, compared with the next one, which is cached, by processor time of the
 * service.
 */
export const afterChange =
  (count: number, runs: number): Case =>
  async (resources) => {
    const service = await withCollections(resources, count);
    return (
      [
        ['snapshot', '/schema/snapshot'],
        ['list', '/collections'],
      ] as const
    ).map(([work, path]) => {
      const read = () => processorTimeOf(service, () => service.send('GET', path));
      return {
        work: `${work} after a change, ${count.toLocaleString('en')} collections, by processor time`,
        against: 'cached',
        goal: `${work} after a change` as const,
        runs,
        async measured(run: number) {
          await service.call('PATCH', COLLECTION, { meta: { note: `text ${run}` } });
          // What the service does after its answer to the change is not part of the read.
          await service.send('GET', COLLECTION);
          return read();
        },
        async limit() {
          await read();
          return read();
        },
      };
    });
  };

/** Compares all tables with the log, and a tenth of them for comparison. */
export const tables =
  (count: number, runs: number): Case =>
  async (resources) => {
    const many = await withCollections(resources, count);
    const few = await withCollections(resources, count / 10);
    const asked = (service: Service, path: string) => () => milliseconds(() => service.send('GET', path));
    return (
      [
        ['verify', '/projections/verify'],
        ['drift', '/schema/drift'],
      ] as const
    ).map(([work, path]) => ({
      work: `${work} ${count.toLocaleString('en')} collections`,
      against: `for ${(count / 10).toLocaleString('en')}`,
      goal: work,
      runs,
      measured: asked(many, path),
      limit: asked(few, path),
    }));
  };
