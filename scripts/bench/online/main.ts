/**
 * `npm run bench -- online`: changes a large table while applications read and write it. Each row of the table of
 * online changes is applied online, by the service without preparation, and as plain DDL. The output has the longest
 * wait of any reader or writer, and the throughput compared with no change. A writer of another table shows the waits
 * that the disk causes. The load has a steady rate, half of the maximum, so that only locks reduce it. Online changes
 * are also measured under full load, where their own work takes throughput from the applications. At the end the
 * written rows are compared with the table. Then changes are applied online while the service is killed repeatedly.
 * Options: --rows 5000000 --kills 20 --readers 8 --writers 8; --only TEXT selects changes by name; --minutes 22 ends
 * the kills after that time. BENCH_DATABASE_URL: your own server.
 */
import { availableParallelism, loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { readRelease } from '../../../src/release.js';
import { type Service, startServer, startService } from '../servers.js';
import { type Applications, type Beside, startApplications } from './applications.js';
import { CHANGES, type Change, type Request, type ChangeMode, deletion } from './changes.js';
import { type Bench, fill, checkRows, listLeftovers, verified } from './table.js';

const { values: options } = parseArgs({
  options: {
    rows: { type: 'string', default: '5000000' },
    kills: { type: 'string', default: '20' },
    readers: { type: 'string', default: '8' },
    writers: { type: 'string', default: '8' },
    only: { type: 'string', default: '' },
    minutes: { type: 'string', default: '22' },
  },
});
const [ROWS, KILLS, READERS, WRITERS] = [options.rows, options.kills, options.readers, options.writers].map(Number) as [
  number,
  number,
  number,
  number,
];

/** Seconds without a change, as a baseline. */
const IDLE = 4;

/** Changes that take more seconds are not measured under full load. Also the longest time between two kills. */
const LONG = 180;

/** The plain change keeps a field's values too, so that both do the same. */
const SETTINGS = { KEEP_COPY_ROWS: '100000000', LOG_LEVEL: 'error' };

/** Keyed by mode and load. Each deletion needs its own field. */
const WAYS: readonly { way: ChangeMode; load: 'steady' | 'full'; field: string }[] = [
  { way: 'online', load: 'steady', field: 'keep_a' },
  { way: 'online', load: 'full', field: 'keep_b' },
  { way: 'plainly', load: 'steady', field: 'keep_c' },
  { way: 'plain DDL', load: 'steady', field: 'keep_d' },
];
const FIELDS = [...WAYS.map(({ field }) => field), 'keep_e'];

const server = await startServer();
const url = await server.createDatabase();
let service = await startService(url, undefined, SETTINGS);
const client = new pg.Client({ connectionString: url });
await client.connect();
const lines: string[] = [];
/** Seconds that each change takes online. */
const takes = new Map<string, number>();
const started = performance.now();
try {
  await fill(bench(), FIELDS);
  say(`filled after ${sinceStart()} s`);
  const applications = await startApplications({ url, rows: ROWS, readers: READERS, writers: WRITERS });
  await applications.beside(null, () => sleep(3_000));
  const rate = await measure(applications);
  say(`measured after ${sinceStart()} s`);
  const kills = KILLS > 0 ? await killed(applications, rate) : 'no kills';
  const written = await applications.stop();
  lines.push(...(await checkRows(bench(), written)));
  print(kills);
} finally {
  await client.end();
  await service.stop();
  await server.stop();
}

/** A kill replaces the service. */
function bench(): Bench {
  return { service, client, rows: ROWS };
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

function isLate(): boolean {
  return sinceStart() > Number(options.minutes) * 60;
}

function sinceStart(): number {
  return Math.round((performance.now() - started) / 1_000);
}

/** @returns the steady rate in statements per second: half of the maximum */
async function measure(applications: Applications): Promise<number> {
  const full = await applications.beside(null, () => sleep(IDLE * 1_000));
  const rate = full.perSecond / 2;
  for (const { name } of [...CHANGES, deletion('')].filter((each) => each.name.includes(options.only))) {
    const idle = {
      steady: await applications.beside(rate, () => sleep(IDLE * 1_000)),
      full: await applications.beside(null, () => sleep(IDLE * 1_000)),
    };
    printResult(name, '—, steady', idle.steady, idle.steady);
    printResult(name, '—, full', idle.full, idle.full);
    for (const { way, load, field } of WAYS) {
      if (load === 'full' && (takes.get(name) ?? 0) > LONG) continue;
      const change = CHANGES.find((each) => each.name === name) ?? deletion(field);
      const underLoad = await applications.beside(load === 'full' ? null : rate, () => applyChange(change, way));
      printResult(name, `${way}, ${load}`, underLoad, idle[load]);
      if (way === 'online') takes.set(name, underLoad.seconds);
      await undoChange(change, way);
    }
  }
  return rate;
}

function printResult(change: string, mode: string, underLoad: Beside, idle: Beside): void {
  const ratio = `${Math.round((underLoad.perSecond / idle.perSecond) * 100)} %`;
  const failed = Object.entries(underLoad.failed).map(([code, count]) => `${count} × ${code}`);
  const cells = [
    change,
    mode,
    `${underLoad.seconds.toFixed(1)} s`,
    `${Math.round(underLoad.reader)} ms`,
    `${Math.round(underLoad.writer)} ms`,
    `${Math.round(underLoad.elsewhere)} ms`,
    `${Math.round(underLoad.perSecond)}/s, ${ratio}`,
    `${Math.round(underLoad.own)} ms`,
    failed.join(', ') || 'none',
  ];
  lines.push(`| ${cells.join(' | ')} |`);
  say(lines.at(-1) ?? '');
}

async function applyChange({ request, ddl }: Change, mode: ChangeMode): Promise<void> {
  if (mode === 'online') await online(request);
  else if (mode === 'plainly') await send(request);
  else await transaction(ddl);
}

async function undoChange({ undo }: Change, mode: ChangeMode): Promise<void> {
  const { request, ddl } = undo[mode] ?? {};
  if (ddl !== undefined) await transaction(ddl);
  if (request !== undefined) await send(request);
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
  data: { id: string; state: string; cleaning: boolean; errors?: unknown };
}

/** Requests a change and waits until it is applied. */
async function online(request: Request): Promise<void> {
  const id = await openRequest(request);
  if (id !== null) await finished(id, () => service);
}

async function openRequest({ method, path, body }: Request): Promise<string | null> {
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
    if (state === 'applied' && shown?.data.cleaning === false) return;
    if (state === 'failed' || state === 'withdrawn') throw new Error(JSON.stringify(shown));
    await sleep(100);
  }
}

/**
 * Applies changes online and kills the process that works on them at random times, four times per change while it runs.
 */
async function killed(applications: Applications, rate: number): Promise<string> {
  const changes = [...CHANGES, deletion('keep_e'), ...CHANGES, ...CHANGES];
  const appliedChanges: string[] = [];
  let kills = 0;
  const beside = await applications.beside(rate, async () => {
    for (const change of changes) {
      if (kills >= KILLS || isLate()) break;
      const id = await openRequest(change.request);
      if (id === null) continue;
      const among = await killWhile(id, change, Math.min(KILLS - kills, Math.ceil(KILLS / 5)));
      kills += among;
      appliedChanges.push(`${change.name} ${among}`);
      say(`killed ${kills} times after ${sinceStart()} s (${appliedChanges.at(-1)})`);
      await undoChange(change, 'online');
    }
  });
  return [
    `${kills} kills (${appliedChanges.join(', ')}), each resumed`,
    `longest wait: readers ${Math.round(beside.reader)} ms, writers ${Math.round(beside.writer)} ms, of another table ${Math.round(beside.elsewhere)} ms`,
    `verification ${await verified(bench())}`,
    `left behind: ${await listLeftovers(bench())}`,
  ].join('; ');
}

/** @returns the number of kills until the change was applied */
async function killWhile(id: string, { name }: Change, most: number): Promise<number> {
  let [done, kills] = [false, 0];
  const waiting = finished(id, () => service).then(() => (done = true));
  const seconds = Math.min(takes.get(name) ?? 5, LONG / 4);
  while (kills < most && !isLate()) {
    await sleep(50 + Math.random() * 600 * seconds);
    if (done) break;
    service.process.kill('SIGKILL');
    kills += 1;
    service = await startService(url, undefined, SETTINGS);
  }
  await waiting;
  return kills;
}

function print(kills: string): void {
  const [load] = loadavg();
  process.stdout.write(
    [
      `\nPostgreSQL ${server.version}, Node.js ${process.version}, release ${readRelease()}; ${ROWS.toLocaleString('en')} rows, ${READERS} readers, ${WRITERS} writers, ${availableParallelism()} cores, load ${load?.toFixed(1)}\n`,
      '| change | way, load | takes | longest wait of a reader | of a writer | of a writer of another table | throughput | longest pause of the load itself | failed |',
      '| --- | --- | --- | --- | --- | --- | --- | --- | --- |',
      ...lines,
      `\n${kills}`,
      '',
    ].join('\n'),
  );
}
