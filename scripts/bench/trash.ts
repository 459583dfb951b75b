/**
 * `npm run bench -- trash`: compares deleting, restoring and renaming a table of 5,000,000 rows with a table of five
 * rows, and deleting into the trash with dropping. Also deletes and restores a field of 100,000 values. The
 * measurements alternate, so that other processes affect all of them. Settings: BENCH_ROWS (5000000), BENCH_ROUNDS
 * (20).
 */
import pg from 'pg';
import { median, milliseconds, percentile } from './measure.js';
import { type Service, startServer, startService } from './servers.js';

const ROWS = Number(process.env['BENCH_ROWS'] ?? 5_000_000);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 20);
const FEW = 5;
/** The default of KEEP_COPY_ROWS. */
const VALUES = 100_000;

const column = (field: string, type: string, schema: object = {}) => ({ field, type, interface: 'input', schema });
const FIELDS = [
  column('id', 'integer', { is_primary_key: true, has_auto_increment: true }),
  column('title', 'string'),
  column('number', 'integer', { is_indexed: true }),
  column('at', 'timestamp'),
];

const BOTH: [string, string][] = [
  ['keep', ''],
  ['drop', '?purge'],
];

type Times = Record<string, number[]>;

const server = await startServer();
try {
  const databaseUrl = await server.createDatabase();
  const service = await startService(databaseUrl);
  try {
    for (const [name, rows] of [
      ['few', FEW],
      ['many', ROWS],
    ] as const)
      await fill(service, databaseUrl, { name, rows });
    await fill(service, databaseUrl, { name: 'valued', rows: VALUES });
    print(await sizes(service), { ...(await drops(service)), ...(await values(service)) });
  } finally {
    await service.stop();
  }
} finally {
  await server.stop();
}

async function fill(
  { call }: Service,
  databaseUrl: string,
  { name, rows }: { name: string; rows: number },
): Promise<void> {
  await call('POST', '/collections', { collection: name, schema: {}, fields: FIELDS });
  const client = new pg.Client(databaseUrl);
  await client.connect();
  await client.query(
    `INSERT INTO ${name} (title, number, at) SELECT 'title ' || n, n, now() FROM generate_series(1, ${rows}) n`,
  );
  await client.query(`VACUUM ANALYZE ${name}`);
  await client.end();
}

/** Milliseconds of each operation for each table. */
async function sizes(service: Service): Promise<Times> {
  const { call } = service;
  const times: Times = {};
  const time = async (what: string, work: () => Promise<unknown>): Promise<void> => {
    (times[what] ??= []).push(await milliseconds(work));
  };
  for (let round = 0; round < ROUNDS; round += 1) {
    // Each is first in turn.
    for (const name of round % 2 === 0 ? ['few', 'many'] : ['many', 'few']) {
      await time(`rename ${name}`, () => call('POST', `/collections/${name}/rename`, { to: `${name}_renamed` }));
      await call('POST', `/collections/${name}_renamed/rename`, { to: name });
      await time(`delete ${name}`, () => call('DELETE', `/collections/${name}`));
      const { data } = await call<{ data: { position: number }[] }>('GET', '/trash');
      await time(`restore ${name}`, () => call('POST', `/trash/${data[0]?.position}/restore`));
    }
  }
  return times;
}

/** Milliseconds of a delete into the trash, and of a drop. */
async function drops({ call }: Service): Promise<Times> {
  const times: Times = { keep: [], drop: [] };
  for (let round = 0; round < ROUNDS * 3; round += 1) {
    for (const [how, query] of round % 2 === 0 ? BOTH : BOTH.toReversed()) {
      await call('POST', '/collections', { collection: 'short', schema: {}, fields: FIELDS });
      times[how]?.push(await milliseconds(() => call('DELETE', `/collections/short${query}`)));
    }
  }
  return times;
}

/** Milliseconds of deleting and restoring a field. */
async function values({ call }: Service): Promise<Times> {
  const times: Times = { 'keep values': [], 'restore values': [] };
  for (let round = 0; round < Math.max(3, ROUNDS / 4); round += 1) {
    times['keep values']?.push(await milliseconds(() => call('DELETE', '/fields/valued/title')));
    const { data } = await call<{ data: { position: number }[] }>('GET', '/trash');
    const path = `/trash/${data[0]?.position}/restore`;
    times['restore values']?.push(await milliseconds(() => call('POST', path)));
  }
  return times;
}

function print(bySize: Times, byWay: Times): void {
  const of = (times: Times, what: string): string => {
    const found = times[what] ?? [];
    return `${median(found).toFixed(1)} ms (p90 ${percentile(found, 0.9).toFixed(1)})`;
  };
  const ratio = (times: Times, what: string, against: string): string =>
    (median(times[what] ?? []) / median(times[against] ?? [])).toFixed(2);
  const lines = ['delete', 'restore', 'rename'].map((work) => [
    `${work} a table of ${ROWS.toLocaleString('en')} rows`,
    of(bySize, `${work} many`),
    `${of(bySize, `${work} few`)} with ${FEW} rows`,
    ratio(bySize, `${work} many`, `${work} few`),
  ]);
  lines.push([
    'delete a table, kept',
    of(byWay, 'keep'),
    `${of(byWay, 'drop')} dropped at once`,
    ratio(byWay, 'keep', 'drop'),
  ]);
  const many = `a field of ${VALUES.toLocaleString('en')} values`;
  lines.push([`delete ${many}, kept`, of(byWay, 'keep values'), 'a second', '']);
  lines.push([`restore ${many}`, of(byWay, 'restore values'), '', '']);
  process.stdout.write(`PostgreSQL ${server.version}, Node.js ${process.version}, ${ROUNDS} rounds\n\n`);
  process.stdout.write('| work | median | against | ratio |\n| --- | --- | --- | --- |\n');
  for (const line of lines) process.stdout.write(`| ${line.join(' | ')} |\n`);
}
