/**
 * `npm run bench -- directus`: the same requests to this service and to Directus, in turns, on one PostgreSQL server.
 *
 * DIRECTUS_HOME: a folder in which `npm install directus node@22` ran. Its free licence allows 25 collections, so 20 are
 * measured.
 */
import { execFile, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { milliseconds } from './measure.js';
import { type Case, type Comparison, type Resources, runTable } from './runner.js';
import { createBody, snapshotOf } from './schemas.js';
import { type Service, end } from './servers.js';

const home = process.env['DIRECTUS_HOME'] ?? '';
const TOKEN = 'bench-admin-token-0123456789abcdef';
const COLLECTIONS = 20;
/** The collections of one promotion. */
const PROMOTED = 10;

type Call = Service['call'];

async function startDirectus(resources: Resources): Promise<Call> {
  const program = join(home, 'node_modules/directus/cli.js');
  const node = createRequire(join(home, 'package.json')).resolve('node/bin/node');
  const settings = {
    PATH: process.env['PATH'],
    DB_CLIENT: 'pg',
    DB_CONNECTION_STRING: await resources.server.createDatabase(),
    SECRET: TOKEN,
    ADMIN_EMAIL: 'admin@example.com',
    ADMIN_PASSWORD: TOKEN,
    ADMIN_TOKEN: TOKEN,
    HOST: '127.0.0.1',
    PORT: '8155',
    PRESSURE_LIMITER_ENABLED: 'false',
    TELEMETRY: 'false',
    LOG_LEVEL: 'error',
  };
  const options = { cwd: home, env: settings };
  await promisify(execFile)(node, [program, 'bootstrap'], options);
  const child = spawn(node, [program, 'start'], { ...options, stdio: ['ignore', 'ignore', 'inherit'] });
  resources.onEnd(() => end(child));
  const url = `http://127.0.0.1:${settings.PORT}`;
  const answers = () =>
    fetch(`${url}/server/ping`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await answers())) await sleep(200);
  const headers = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' };
  return async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const response = await fetch(url + path, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`Directus, ${method} ${path}: ${response.status} ${text.slice(0, 500)}`);
    return (text === '' ? undefined : JSON.parse(text)) as T;
  };
}

/** Directus puts all answers in `data`; the service sends snapshots and diffs without it. */
const contentOf = (answer: unknown): unknown => (answer as { data?: unknown } | undefined)?.data ?? answer;

/** A service with 20 collections of nine fields, and the work that both products do. */
async function fillService(call: Call) {
  const { collections, fields, relations } = snapshotOf(COLLECTIONS, '');
  for (const { collection, meta } of collections) {
    const own = fields.filter((field) => field.collection === collection);
    await call('POST', '/collections', { collection, meta, schema: {}, fields: own });
  }
  for (const { many_collection: collection, many_field: field, one_collection: related, schema } of relations)
    await call('POST', '/relations', { collection, field, related_collection: related, schema, meta: {} });
  const whole = contentOf(await call('GET', '/schema/snapshot'));
  const [first = ''] = collections.map(({ collection }) => collection);
  const promoted = collections.slice(-PROMOTED).map(({ collection }) => collection);
  const diff = async () => contentOf(await call('POST', '/schema/diff', whole));
  return {
    create: (run: number) => call('POST', '/collections', createBody(`measured_${run + 100}`)),
    discard: (run: number) => call('DELETE', `/collections/measured_${run + 100}`),
    patch: (run: number) => call('PATCH', `/collections/${first}`, { meta: { note: `text ${run}` } }),
    addField: (run: number) =>
      call('POST', `/fields/${first}`, { field: `added_${run + 100}`, type: 'string', schema: {}, meta: {} }),
    retrieve: () => call('GET', `/collections/${first}`),
    list: () => call('GET', '/collections'),
    fields: () => call('GET', '/fields'),
    snapshot: () => call('GET', '/schema/snapshot'),
    diff,
    /** From a snapshot that has 10 collections more to those collections. */
    promote: async () => {
      const answer = await diff();
      if (answer === undefined) throw new Error('there is nothing to promote');
      await call('POST', '/schema/apply', answer);
    },
    removePromoted: async () => {
      for (const name of promoted.toReversed()) await call('DELETE', `/collections/${name}`);
    },
  };
}

const beside: Case = async (resources) => {
  const { version } = JSON.parse(readFileSync(join(home, 'node_modules/directus/package.json'), 'utf8')) as {
    version: string;
  };
  const service = await fillService((await resources.service()).call);
  const directus = await fillService(await startDirectus(resources));
  type Work = (product: typeof service, run: number) => Promise<unknown>;
  const compare = (work: string, runs: number, does: Work, prepare?: Work): Comparison => ({
    work,
    against: `Directus ${version}`,
    runs,
    measured: (run) => milliseconds(() => does(service, run)),
    limit: (run) => milliseconds(() => does(directus, run)),
    ...(prepare && { prepare: (run) => Promise.all([prepare(service, run), prepare(directus, run)]) }),
  });
  return [
    compare('retrieve one collection', 60, (product) => product.retrieve()),
    compare(`list ${COLLECTIONS} collections`, 60, (product) => product.list()),
    compare(`list the fields of ${COLLECTIONS} collections`, 60, (product) => product.fields()),
    compare(`snapshot of ${COLLECTIONS} collections`, 40, (product) => product.snapshot()),
    compare(`diff of a snapshot that changes nothing`, 40, (product) => product.diff()),
    compare(
      'create one collection with 7 fields',
      30,
      (product, run) => product.create(run),
      (product, run) => (run === -3 ? Promise.resolve() : product.discard(run - 1)),
    ),
    compare('change the note of a collection', 40, (product, run) => product.patch(run)),
    compare(
      `diff and apply ${PROMOTED} collections`,
      10,
      (product) => product.promote(),
      (product) => product.removePromoted(),
    ),
    compare('add a field', 30, (product, run) => product.addField(run)),
  ];
};

await runTable('directus', [beside]);
