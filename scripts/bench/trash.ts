/**
 * `npm run bench -- trash`: deletes, restores and renames a table of 5,000,000 rows, compared with one of five rows;
 * deletes and restores a field of 100,000 values, compared with one of five. `npm run bench -- check` compares deletes
 * into the trash with deletes that drop immediately.
 *
 * BENCH_ROWS (5000000), BENCH_ROUNDS (20).
 */
import pg from 'pg';
import { milliseconds } from './measure.js';
import { type Case, type Comparison, runTable } from './runner.js';
import type { Service } from './servers.js';

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

async function fill({ call }: Service, databaseUrl: string, name: string, rows: number): Promise<void> {
  await call('POST', '/collections', { collection: name, schema: {}, fields: FIELDS });
  const client = new pg.Client(databaseUrl);
  await client.connect();
  await client.query(
    `INSERT INTO ${name} (title, number, at) SELECT 'title ' || n, n, now() FROM generate_series(1, ${rows}) n`,
  );
  await client.query(`VACUUM ANALYZE ${name}`);
  await client.end();
}

const trash: Case = async (resources) => {
  const databaseUrl = await resources.server.createDatabase();
  const service = await resources.service(databaseUrl);
  const { call } = service;
  for (const [name, rows] of [
    ['few', FEW],
    ['many', ROWS],
    ['valued', VALUES],
  ] as const)
    await fill(service, databaseUrl, name, rows);
  const restore = async (): Promise<number> => {
    const { data } = await call<{ data: { position: number }[] }>('GET', '/trash');
    return milliseconds(() => call('POST', `/trash/${data[0]?.position}/restore`));
  };
  const renamed = async (name: string): Promise<number> => {
    const spent = await milliseconds(() => call('POST', `/collections/${name}/rename`, { to: `${name}_renamed` }));
    await call('POST', `/collections/${name}_renamed/rename`, { to: name });
    return spent;
  };
  const deleted = async (path: string): Promise<number> => {
    const spent = await milliseconds(() => call('DELETE', path));
    await restore();
    return spent;
  };
  const restored = async (path: string): Promise<number> => {
    await call('DELETE', path);
    return restore();
  };
  const compared = (
    work: string,
    on: (path: string) => Promise<number>,
    [many, few]: readonly [string, string],
    runs = ROUNDS,
  ): Comparison => ({
    work,
    against: `with ${FEW} rows`,
    runs,
    warmUps: 1,
    measured: () => on(many),
    limit: () => on(few),
  });
  const tables = ['/collections/many', '/collections/few'] as const;
  const fields = ['/fields/valued/title', '/fields/few/title'] as const;
  const table = `a table of ${ROWS.toLocaleString('en')} rows`;
  const field = `a field of ${VALUES.toLocaleString('en')} values`;
  const fewer = Math.max(3, Math.ceil(ROUNDS / 4));
  return [
    compared(`delete ${table}`, deleted, tables),
    compared(`restore ${table}`, restored, tables),
    compared(`rename ${table}`, renamed, ['many', 'few']),
    compared(`delete ${field}`, deleted, fields, fewer),
    compared(`restore ${field}`, restored, fields, fewer),
  ];
};

await runTable('trash', [trash]);
