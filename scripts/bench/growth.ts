/**
 * `npm run bench -- growth`: measures how work grows with the number of collections, or with the length of the log.
 * Each piece of work is compared, in turns, with itself at the next smaller size. Work on one collection or one page
 * must not grow. Work on the whole schema may grow as much as the schema.
 *
 * BENCH_COLLECTIONS (100,1000; also 10000) and BENCH_EVENTS (1000,10000,100000; also 1000000): the sizes, empty for
 * none. BENCH_WORKS: only the work whose name contains this text. BENCH_SCALE: a factor of the number of pairs (1).
 */
import { ServiceClient } from '../../src/postgres/client.js';
import { defaultServiceSchema } from '../../src/postgres/own-tables.js';
import { generatedHistory, generator, writeEvents } from './logs.js';
import { milliseconds } from './measure.js';
import { type Case, type Comparison, type Resources, isMissed, runTable } from './runner.js';
import { applySnapshot, createBody, snapshotOf } from './schemas.js';
import { type Service, startService } from './servers.js';

const sizesOf = (name: string, otherwise: string): number[] =>
  (process.env[name] ?? otherwise).split(',').filter(Boolean).map(Number);

const scale = Number(process.env['BENCH_SCALE'] ?? 1);
const selected = process.env['BENCH_WORKS'] ?? '';

/** The work may grow ten percent more than its subject. */
const ALLOWANCE = 1.1;
/** Work that must not grow, on machines where a ratio of 1 is never exact. */
const FLAT = 1.2;

interface Size {
  service: Service;
  size: number;
  databaseUrl: string;
}

interface Work {
  work: string;
  /** True if the work may grow as much as its subject. */
  grows: boolean;
  runs?: number;
  warmUps?: number;
  measured(at: Size, run: number): Promise<number>;
}

const get =
  (path: string) =>
  ({ service }: Size): Promise<number> =>
    milliseconds(() => service.send('GET', path));

const COLLECTION = 'collection_00001';

/** The first read after a change. */
const afterChange =
  (path: string) =>
  async (at: Size, run: number): Promise<number> => {
    await at.service.call('PATCH', `/collections/${COLLECTION}`, { meta: { note: `before ${path} ${run}` } });
    return get(path)(at);
  };

const BY_COLLECTIONS: readonly Work[] = [
  {
    work: 'create',
    grows: false,
    measured: ({ service }, run) =>
      milliseconds(() => service.call('POST', '/collections', createBody(`measured_${run + 100}`))),
  },
  {
    work: 'patch',
    grows: false,
    measured: ({ service }, run) =>
      milliseconds(() => service.call('PATCH', `/collections/${COLLECTION}`, { meta: { note: `text ${run}` } })),
  },
  {
    work: 'delete',
    grows: false,
    measured: ({ service }, run) => milliseconds(() => service.call('DELETE', `/collections/measured_${run + 100}`)),
  },
  { work: 'list', grows: true, runs: 9, measured: afterChange('/collections') },
  { work: 'snapshot', grows: true, runs: 9, measured: afterChange('/schema/snapshot') },
  {
    work: 'diff',
    grows: true,
    runs: 9,
    async measured({ service }) {
      const snapshot = JSON.parse(await service.send('GET', '/schema/snapshot')) as { collections: { meta: object }[] };
      const [first] = snapshot.collections;
      if (first !== undefined) first.meta = { ...first.meta, note: 'edited' };
      const body = JSON.stringify(snapshot);
      return milliseconds(() => service.send('POST', '/schema/diff', body));
    },
  },
  { work: 'verify', grows: true, runs: 5, warmUps: 1, measured: get('/projections/verify') },
  { work: 'drift', grows: true, runs: 5, warmUps: 1, measured: get('/schema/drift') },
];

/** Collections of the logs. Only the log grows. */
const FEW = 20;
const random = generator(7);

const BY_EVENTS: readonly Work[] = [
  { work: 'retrieve', grows: false, runs: 100, measured: get('/collections/collection_1') },
  {
    work: 'patch',
    grows: false,
    measured: ({ service }, run) =>
      milliseconds(() => service.call('PATCH', '/collections/collection_1', { meta: { note: `text ${run}` } })),
  },
  { work: 'the first page of 100 events', grows: false, measured: get('/history/events?limit=100') },
  { work: 'the last page of 100 events', grows: false, measured: get('/history/events?limit=100&order=desc') },
  { work: 'a page of the history of a collection', grows: false, measured: get('/history/collections/collection_1') },
  { work: 'a page of 100 batches, which grow with the log', grows: false, measured: get('/history/batches?limit=100') },
  {
    work: 'the schema at a random position',
    grows: false,
    runs: 40,
    measured: (at) => get(`/history/snapshot?at=${1 + random(at.size)}`)(at),
  },
  {
    work: 'start',
    grows: false,
    runs: 5,
    warmUps: 1,
    async measured({ databaseUrl }) {
      let started: Service | undefined;
      const spent = await milliseconds(async () => (started = await startService(databaseUrl)));
      await started?.stop();
      return spent;
    },
  },
];

async function withCollections(resources: Resources, size: number): Promise<Size> {
  const databaseUrl = await resources.server.createDatabase();
  const service = await resources.service(databaseUrl);
  for (let filled = 0; filled < size; filled += 2_500)
    await applySnapshot(service, snapshotOf(Math.min(size, filled + 2_500), resources.release));
  return { service, size, databaseUrl };
}

/** Each log has this many batches. */
const BATCHES = 200;

async function withEvents(resources: Resources, size: number): Promise<Size> {
  const databaseUrl = await resources.server.createDatabase();
  // The first start creates the tables of the service.
  await (await startService(databaseUrl)).stop();
  const client = new ServiceClient({ connectionString: databaseUrl, serviceSchema: defaultServiceSchema('public') });
  await client.connect();
  const events = generatedHistory({ events: size, collections: FEW, fields: 8 });
  await writeEvents(client, events, Math.ceil(size / BATCHES));
  await client.query('VACUUM service.service_events');
  await client.end();
  return { service: await resources.service(databaseUrl), size, databaseUrl };
}

const growth =
  (
    subject: string,
    sizes: readonly number[],
    works: readonly Work[],
    fill: (resources: Resources, size: number) => Promise<Size>,
  ): Case =>
  async (resources) => {
    const filled: Size[] = [];
    for (const size of sizes) filled.push(await fill(resources, size));
    return works
      .filter(({ work }) => work.includes(selected))
      .flatMap(({ work, grows, runs = 30, warmUps = 3, measured }) =>
        filled.slice(1).map((larger, index): Comparison => {
          const smaller = filled[index] as Size;
          const at = ({ size }: Size): string => `${size.toLocaleString('en')} ${subject}`;
          return {
            work: `${work}, ${at(larger)}`,
            against: `at ${at(smaller)}`,
            goal: { atMost: grows ? (larger.size / smaller.size) * ALLOWANCE : FLAT },
            runs: Math.max(3, Math.ceil(runs * scale)),
            warmUps,
            // Each comparison has its own names.
            measured: (run) => measured(larger, run + index * 1_000),
            limit: (run) => measured(smaller, run + (index + 1) * 1_000_000),
          };
        }),
      );
  };

const rows = await runTable('growth', [
  growth('collections', sizesOf('BENCH_COLLECTIONS', '100,1000'), BY_COLLECTIONS, withCollections),
  growth('events', sizesOf('BENCH_EVENTS', '1000,10000,100000'), BY_EVENTS, withEvents),
]);
if (rows.some(isMissed)) process.exitCode = 1;
