/**
 * Applications that use a table, in a process of their own so that nobody else's event loop is in what they measure:
 * readers that look rows up, and writers that change rows and add some. Told to begin over IPC, at a rate or as fast as they
 * can, it measures until it is told to end.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

export interface Measured {
  /** The longest that any reader, and any writer, waited for an answer; milliseconds. */
  reader: number;
  writer: number;
  /** The longest that a writer of another table waited, which no lock of the change can hold up: what the disk itself takes. */
  elsewhere: number;
  /** Statements a second, of all together. */
  perSecond: number;
  /** The longest that this process itself was not run, which is in the waits; milliseconds. */
  own: number;
  /** Failures other than those that applications bring about themselves, by SQLSTATE. */
  failed: Record<string, number>;
}

/** What was written, to be held against the table at the end. */
export interface Ledger {
  inserted: number;
  hits: number;
}

/** `rate`: statements a second, of all together; null: as many as they can. */
export type LoadCommand = { begin: { rate: number | null } } | 'end' | 'stop';

const [url = '', rows = '0', readers = '8', writers = '8'] = process.argv.slice(2);
const ROWS = Number(rows);
const CLIENTS = Number(readers) + Number(writers);

/** Milliseconds between a client's statements; 0: none. */
let interval = 0;
let reader = 0;
let writer = 0;
let elsewhere = 0;
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

/** When those who wait now began to. */
const waiting = { reader: new Set<{ since: number }>(), writer: new Set<{ since: number }>() };

/** Of those who wait still: what is over for the change isn't yet for them. */
function longestOf(who: keyof typeof waiting): number {
  const since = Math.min(...[...waiting[who]].map((each) => each.since));
  return Number.isFinite(since) ? performance.now() - since : 0;
}

async function timed(who: keyof typeof waiting, work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  const wait = { since: started };
  waiting[who].add(wait);
  try {
    await work();
    count += 1;
  } catch (error) {
    const code = (error as { code?: string }).code ?? String(error);
    failed[code] = (failed[code] ?? 0) + 1;
  } finally {
    waiting[who].delete(wait);
  }
  return performance.now() - started;
}

/** Statements at their times. Those whose time went by while one before was waited for are left out, as by people who wait. */
async function again(statement: () => Promise<void>): Promise<void> {
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
  await again(async () => {
    const waited = await timed('reader', () =>
      client.query({ name: 'look', text: 'SELECT hits FROM public.items WHERE id = $1', values: [any()] }),
    );
    reader = Math.max(reader, waited);
  });
  await client.end();
}

/** With the fields that are deleted, and without them; the first is what is used. */
const KEPT = ['keep_a', 'keep_b', 'keep_c', 'keep_d', 'keep_e'];
const addOf = (kept: readonly string[]): string =>
  `INSERT INTO public.items (title, owner, amount${kept.map((name) => `, ${name}`).join('')}) VALUES ($1, $2, 1${kept.map(() => ', $1').join('')})`;
const hitOf = (kept: readonly string[]): string =>
  `UPDATE public.items SET hits = hits + 1${kept.map((name) => `, ${name} = $1`).join('')} WHERE id = $2 AND $1::text IS NOT NULL`;
let kept: readonly string[] = KEPT;

/** A new row's `code` counts by itself; the rest keeps every rule that is asked for. */
async function once(client: pg.Client, isNew: boolean): Promise<void> {
  const text = isNew ? addOf(kept) : hitOf(kept);
  const { rowCount } = await client.query(text, ['said', isNew ? 1 + (any() % 1000) : any()]);
  if (isNew) ledger.inserted += 1;
  else ledger.hits += rowCount ?? 0;
}

async function write(): Promise<void> {
  const client = await connected('bench writer');
  await again(async () => {
    const isNew = Math.random() < 0.2;
    const waited = await timed('writer', async () => {
      for (;;) {
        try {
          return await once(client, isNew);
        } catch (error) {
          // The column is gone: the application's next release doesn't write it.
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
    elsewhere = Math.max(elsewhere, performance.now() - started);
    await sleep(BEAT);
  }
  await client.end();
}

// The benchmark has failed.
process.on('disconnect', () => process.exit(1));
process.on('message', (told: LoadCommand) => {
  if (told === 'stop') {
    stopped = true;
    Promise.all(all).then(
      () => process.send?.(ledger, () => process.exit(0)),
      () => process.exit(1),
    );
  } else if (told === 'end') {
    const perSecond = count / ((performance.now() - began) / 1_000);
    const longest = {
      reader: Math.max(reader, longestOf('reader')),
      writer: Math.max(writer, longestOf('writer')),
    };
    process.send?.({ ...longest, perSecond, own: delay.max / 1e6, elsewhere, failed } satisfies Measured);
  } else {
    const { rate } = told.begin;
    interval = rate === null ? 0 : (CLIENTS / rate) * 1_000;
    [reader, writer, elsewhere, count, failed] = [0, 0, 0, 0, {}];
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
