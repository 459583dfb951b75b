/**
 * `npm run bench:online`: changes of a large table under readers and writers. Each row of the table of online changes is
 * made online, plainly by the service, and as plain DDL, in one run on one machine; what is told is the longest that any
 * reader or writer waited, and how many statements a second they got through compared with no change at all. At the end
 * what they wrote is held against the table. Then changes are made online while the service is killed again and again.
 *
 * BENCH_ROWS (5,000,000), BENCH_READERS (8), BENCH_WRITERS (8), BENCH_KILLS (20); BENCH_WORK: only rows whose name holds
 * this; BENCH_DATABASE_URL: a server of yours.
 */
import { availableParallelism, loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { readRelease } from '../src/release.js';
import { type Service, startServer, startService } from './bench/servers.js';
import { type Applications, startApplications } from './bench-online/applications.js';
import { CHANGES, DELETIONS, type Request } from './bench-online/changes.js';
import type { Measured } from './bench-online/load.js';

const ROWS = Number(process.env['BENCH_ROWS'] ?? 5_000_000);
const READERS = Number(process.env['BENCH_READERS'] ?? 8);
const WRITERS = Number(process.env['BENCH_WRITERS'] ?? 8);
const KILLS = Number(process.env['BENCH_KILLS'] ?? 20);
const WORK = process.env['BENCH_WORK'] ?? '';

/** A field's values are kept in the change itself too, so that both ways do the same. */
const SETTINGS = { KEEP_COPY_ROWS: '100000000', LOG_LEVEL: 'error' };

const server = await startServer();
const url = await server.createDatabase();
let service = await startService(url, undefined, SETTINGS);
const client = new pg.Client({ connectionString: url });
await client.connect();
const lines: string[] = [];
try {
  await fill();
  const applications = await startApplications({ url, rows: ROWS, readers: READERS, writers: WRITERS });
  await applications.beside(() => sleep(3_000));
  await measure(applications);
  const kills = KILLS > 0 ? await killed(applications) : 'no kills';
  const written = await applications.stop();
  await hold(written);
  print(kills);
} finally {
  await client.end();
  await service.stop();
  await server.stop();
}

async function fill(): Promise<void> {
  const text = (field: string): object => ({ field, type: 'string', interface: 'input', schema: {} });
  const number = (field: string, schema: object = {}): object => ({
    field,
    type: 'integer',
    interface: 'input',
    schema,
  });
  await service.call('POST', '/collections', { collection: 'owners', schema: {}, fields: [text('name')] });
  const fields = [
    text('title'),
    number('code'),
    number('owner'),
    number('amount'),
    number('hits', { default_value: 0, is_nullable: false }),
    ...['keep_a', 'keep_b', 'keep_c'].map(text),
  ];
  await service.call('POST', '/collections', { collection: 'items', schema: {}, fields });
  await client.query(`INSERT INTO owners (name) SELECT 'o' || i FROM generate_series(1, 1000) i`);
  await client.query(`INSERT INTO items (title, code, owner, amount, keep_a, keep_b, keep_c)
    SELECT 't' || i, i, 1 + i % 1000, i % 977, 'a' || i, 'b' || i, 'c' || i FROM generate_series(1, ${ROWS}) i`);
  // What is added later has a code that nothing else has.
  await client.query(`CREATE SEQUENCE codes START ${ROWS + 1}`);
  await client.query(`CREATE FUNCTION new_code() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN NEW.code := nextval('public.codes'); RETURN NEW; END $$`);
  await client.query('CREATE TRIGGER coded BEFORE INSERT ON items FOR EACH ROW EXECUTE FUNCTION new_code()');
  await client.query('VACUUM ANALYZE items');
}

interface Way {
  work: string;
  way: string;
  measured: Measured & { seconds: number };
  idle: number;
}

async function measure(applications: Applications): Promise<void> {
  const say = ({ work, way, measured, idle }: Way): void => {
    const ratio = `${Math.round((measured.perSecond / idle) * 100)} %`;
    const failed = Object.entries(measured.failed).map(([code, count]) => `${count} × ${code}`);
    lines.push(
      `| ${work} | ${way} | ${measured.seconds.toFixed(1)} s | ${Math.round(measured.reader)} ms | ${Math.round(measured.writer)} ms | ${ratio} | ${failed.join(', ') || 'none'} |`,
    );
    process.stderr.write(`${lines.at(-1)}\n`);
  };
  const way = async (work: string, name: string, change: () => Promise<unknown>): Promise<void> => {
    const { perSecond: idle } = await applications.beside(() => sleep(5_000));
    say({ work, way: name, measured: await applications.beside(change), idle });
  };
  for (const { name, request, ddl, undo, undoDdl } of CHANGES) {
    if (!name.includes(WORK)) continue;
    await way(name, 'online', () => online(request));
    if (undo) await send(undo);
    await way(name, 'plainly', () => send(request));
    if (undo) await send(undo);
    await way(name, 'plain DDL', () => transaction(ddl));
    if (undoDdl) await transaction(undoDdl);
  }
  if (!'deleting a field'.includes(WORK)) return;
  const [first, second, ddl] = DELETIONS;
  await way('deleting a field', 'online', () => online(first));
  await way('deleting a field', 'plainly', () => send(second));
  await way('deleting a field', 'plain DDL', () => transaction(ddl));
}

async function transaction(statements: readonly string[]): Promise<void> {
  await client.query('BEGIN');
  for (const each of statements) await client.query(each);
  await client.query('COMMIT');
}

function send({ method, path, body }: Request): Promise<unknown> {
  return service.call(method, path, body);
}

interface Shown {
  data: { id: string; state: string; errors?: unknown };
}

/** Asks for it, and waits until it is made. */
async function online(request: Request): Promise<void> {
  const id = await opened(request);
  if (id !== null) await finished(id, () => service);
}

async function opened({ method, path, body }: Request): Promise<string | null> {
  const response = await fetch(`${service.url}${path}?online`, {
    method,
    headers: service.headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return response.status === 202 ? (JSON.parse(text) as Shown).data.id : null;
}

async function finished(id: string, at: () => Service): Promise<void> {
  for (;;) {
    const shown = await at()
      .call<Shown>('GET', `/changes/${id}`)
      .catch(() => undefined);
    const state = shown?.data.state;
    if (state === 'applied') return;
    if (state === 'failed' || state === 'withdrawn') throw new Error(JSON.stringify(shown));
    await sleep(100);
  }
}

/** Changes are made online, and whoever makes them is killed at random moments. */
async function killed(applications: Applications): Promise<string> {
  let kills = 0;
  let changes = 0;
  const beside = await applications.beside(async () => {
    for (let index = 0; kills < KILLS; index += 1) {
      const { request, undo } = CHANGES[index % CHANGES.length] as (typeof CHANGES)[number];
      const id = await opened(request);
      if (id === null) continue;
      let done = false;
      const waiting = finished(id, () => service).then(() => (done = true));
      while (!done && kills < KILLS) {
        await sleep(200 + Math.random() * 2_000);
        if (done) break;
        service.process.kill('SIGKILL');
        kills += 1;
        service = await startService(url, undefined, SETTINGS);
      }
      await waiting;
      changes += 1;
      if (undo) await send(undo);
    }
  });
  const { ok } = await service.call<{ data: { ok: boolean } }>('GET', '/projections/verify').then(({ data }) => data);
  const { rows } = await client.query<{ count: number }>(
    `SELECT (SELECT count(*) FROM pg_class WHERE relname LIKE 'dps_online_%') + (SELECT count(*) FROM pg_constraint WHERE conname LIKE 'dps_online_%')
       + (SELECT count(*) FROM pg_trigger WHERE tgname LIKE 'dps_online_%') AS count`,
  );
  return `${kills} kills in ${changes} changes, each resumed; longest wait: readers ${Math.round(beside.reader)} ms, writers ${Math.round(beside.writer)} ms; verification ${ok ? 'finds nothing' : 'FINDS DIFFERENCES'}; left behind: ${rows[0]?.count ?? '?'}`;
}

/** Nothing lost, nothing doubled. */
async function hold({ inserted, hits }: { inserted: number; hits: number }): Promise<void> {
  const { rows } = await client.query<{ inserted: string; hits: string }>(
    `SELECT count(*) - ${ROWS} AS inserted, sum(hits) AS hits FROM items`,
  );
  const [row] = rows;
  const isSame = Number(row?.inserted) === inserted && Number(row?.hits) === hits;
  lines.push(
    `\nWritten: ${inserted} rows and ${hits} updates; in the table: ${row?.inserted} and ${row?.hits}${isSame ? '' : ' — NOT THE SAME'}`,
  );
  const kept = await client.query<{ count: string }>(
    `SELECT format('%I.%I', schemaname, tablename) AS count FROM pg_tables WHERE tablename = 'values'`,
  );
  for (const { count } of kept.rows) {
    const counted = await client.query<{ rows: string }>(`SELECT count(*) AS rows FROM ${count}`);
    lines.push(`Kept in ${count}: ${counted.rows[0]?.rows} values`);
  }
}

function print(kills: string): void {
  const [load] = loadavg();
  process.stdout.write(
    [
      `\nPostgreSQL ${server.version}, Node.js ${process.version}, release ${readRelease()}; ${ROWS.toLocaleString('en')} rows, ${READERS} readers, ${WRITERS} writers, ${availableParallelism()} cores, load ${load?.toFixed(1)}\n`,
      '| change | way | takes | longest wait of a reader | of a writer | throughput | failed |',
      '| --- | --- | --- | --- | --- | --- | --- |',
      ...lines,
      `\n${kills}`,
      '',
    ].join('\n'),
  );
}
