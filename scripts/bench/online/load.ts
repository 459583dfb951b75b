/**
 * Applications that use a table: readers look up rows, and writers update and insert rows. They run in their own
 * process, so that no other event loop distorts the measurements. A message over IPC starts them, at a given rate or as
 * fast as possible, and another one stops them.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

export interface Measured {
  /** Longest wait of any reader and any writer, in milliseconds. */
  reader: number;
  writer: number;
  /** Longest wait of a writer of another table. No lock of the change affects it, so this measures the disk. */
  elsewhere: number;
  /** Statements per second of all clients together. */
  perSecond: number;
  /** Longest time that this process itself was not scheduled, in milliseconds. The waits include it. */
  own: number;
  /** Unexpected failures by SQLSTATE. */
  failed: Record<string, number>;
}

/** Counts of written rows, compared with the table at the end. */
export interface Ledger {
  inserted: number;
  hits: number;
}

/** `rate`: statements per second of all clients together; null for as many as possible. */
export type LoadCommand = { begin: { rate: number | null } } | 'end' | 'stop';

const [url = '', rows = '0', readers = '8', writers = '8'] = process.argv.slice(2);
const ROWS = Number(rows);
const CLIENTS = Number(readers) + Number(writers);

/** Milliseconds between a client's statements; 0 for none. */
let interval = 0;
let reader = 0;
let writer = 0;
let otherErrors = 0;
let count = 0;
let began = performance.now();
let failed: Record<string, number> = {};
let stopped = false;
const ledger: Ledger = { inserted: 0, hits: 0 };
const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();

const any = (): number => 1 + Math.floor(Math.random() * ROWS);

async function connected(name: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: name });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/** Start times of the pending statements. */
const waiting = { reader: new Set<{ since: number }>(), writer: new Set<{ since: number }>() };

/** Includes pending statements: the end of the change does not end their wait. */
function longestOf(client: keyof typeof waiting): number {
  const since = Math.min(...[...waiting[client]].map((each) => each.since));
  return Number.isFinite(since) ? performance.now() - since : 0;
}

async function measureWait(client: keyof typeof waiting, work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  const wait = { since: started };
  waiting[client].add(wait);
  try {
    await work();
    count += 1;
  } catch (error) {
    const code = (error as { code?: string }).code ?? String(error);
    failed[code] = (failed[code] ?? 0) + 1;
  } finally {
    waiting[client].delete(wait);
  }
  return performance.now() - started;
}

/** Runs statements on a schedule. Skips those that are overdue because an earlier one took too long. */
async function retryUntilDone(statement: () => Promise<void>): Promise<void> {
  let next = performance.now() + Math.random() * interval;
  while (!stopped) {
    const now = performance.now();
    if (interval > 0 && next > now) await sleep(next - now);
    await statement();
    next = Math.max(next + interval, performance.now() - interval);
  }
}

async function read(): Promise<void> {
  const client = await connected('bench reader');
  await retryUntilDone(async () => {
    const waited = await measureWait('reader', () =>
      client.query({ name: 'look', text: 'SELECT hits FROM public.items WHERE id = $1', values: [any()] }),
    );
    reader = Math.max(reader, waited);
  });
  await client.end();
}

/** Statements with the deletable fields. Each deletion removes one from the list. */
const KEPT = ['keep_a', 'keep_b', 'keep_c', 'keep_d', 'keep_e'];
const addOf = (kept: readonly string[]): string =>
  `INSERT INTO public.items (title, owner, amount${kept.map((name) => `, ${name}`).join('')}) VALUES ($1, $2, 1${kept.map(() => ', $1').join('')})`;
const hitOf = (kept: readonly string[]): string =>
  `UPDATE public.items SET hits = hits + 1${kept.map((name) => `, ${name} = $1`).join('')} WHERE id = $2 AND $1::text IS NOT NULL`;
let kept: readonly string[] = KEPT;

/** The sequence sets `code` of a new row. The other values satisfy all rules. */
async function writeOnce(client: pg.Client, isNew: boolean): Promise<void> {
  const text = isNew ? addOf(kept) : hitOf(kept);
  const { rowCount } = await client.query(text, ['said', isNew ? 1 + (any() % 1000) : any()]);
  if (isNew) ledger.inserted += 1;
  else ledger.hits += rowCount ?? 0;
}

async function write(): Promise<void> {
  const client = await connected('bench writer');
  await retryUntilDone(async () => {
    const isNew = Math.random() < 0.2;
    const waited = await measureWait('writer', async () => {
      for (;;) {
        try {
          return await writeOnce(client, isNew);
        } catch (error) {
          // The column was deleted. The next release of the application would no longer write it.
          const { code, message } = error as { code?: string; message: string };
          if (code !== '42703' || !KEPT.some((name) => message.includes(`"${name}"`))) throw error;
          kept = kept.filter((name) => !message.includes(`"${name}"`));
        }
      }
    });
    writer = Math.max(writer, waited);
  });
  await client.end();
}

/** Milliseconds between two rows of the other table. */
const BEAT = 5;

async function writeElsewhere(): Promise<void> {
  const client = await connected('bench elsewhere');
  while (!stopped) {
    const started = performance.now();
    await client.query('INSERT INTO elsewhere.beats DEFAULT VALUES');
    otherErrors = Math.max(otherErrors, performance.now() - started);
    await sleep(BEAT);
  }
  await client.end();
}

process.on('disconnect', () => process.exit(1));
process.on('message', (command: LoadCommand) => {
  if (command === 'stop') {
    stopped = true;
    Promise.all(all).then(
      () => process.send?.(ledger, () => process.exit(0)),
      () => process.exit(1),
    );
  } else if (command === 'end') {
    const perSecond = count / ((performance.now() - began) / 1_000);
    const longest = {
      reader: Math.max(reader, longestOf('reader')),
      writer: Math.max(writer, longestOf('writer')),
    };
    process.send?.({ ...longest, perSecond, own: delay.max / 1e6, elsewhere: otherErrors, failed } satisfies Measured);
  } else {
    const { rate } = command.begin;
    interval = rate === null ? 0 : (CLIENTS / rate) * 1_000;
    [reader, writer, otherErrors, count, failed] = [0, 0, 0, 0, {}];
    delay.reset();
    began = performance.now();
  }
});

const all = [
  ...Array.from({ length: Number(readers) }, read),
  ...Array.from({ length: Number(writers) }, write),
  writeElsewhere(),
];
process.send?.('ready');
