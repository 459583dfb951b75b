/**
 * Applications that use a table, in a process of their own so that nobody else's event loop is in what they measure:
 * readers that look rows up, and writers that change rows and add some. Told `begin` over IPC, it measures until `end`.
 */
import pg from 'pg';

export interface Measured {
  /** The longest that any reader, and any writer, waited for an answer; milliseconds. */
  reader: number;
  writer: number;
  /** Statements a second, of all together. */
  perSecond: number;
  /** Failures other than those that applications bring about themselves, by SQLSTATE. */
  failed: Record<string, number>;
}

/** What was written, to be held against the table at the end. */
export interface Ledger {
  inserted: number;
  hits: number;
}

const [url = '', rows = '0', readers = '8', writers = '8'] = process.argv.slice(2);
const ROWS = Number(rows);

let reader = 0;
let writer = 0;
let count = 0;
let began = performance.now();
let failed: Record<string, number> = {};
let stopped = false;
const ledger: Ledger = { inserted: 0, hits: 0 };

const any = (): number => 1 + Math.floor(Math.random() * ROWS);

async function connected(name: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: name });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  try {
    await work();
    count += 1;
  } catch (error) {
    const code = (error as { code?: string }).code ?? String(error);
    failed[code] = (failed[code] ?? 0) + 1;
  }
  return performance.now() - started;
}

async function read(): Promise<void> {
  const client = await connected('bench reader');
  while (!stopped) {
    const waited = await timed(() =>
      client.query({ name: 'look', text: 'SELECT hits FROM public.items WHERE id = $1', values: [any()] }),
    );
    reader = Math.max(reader, waited);
  }
  await client.end();
}

/** With the fields that are deleted, and without them; the first is what is used. */
const ADD = [
  'INSERT INTO public.items (title, owner, amount, keep_a, keep_b, keep_c) VALUES ($1, $2, 1, $1, $1, $1)',
  'INSERT INTO public.items (title, owner, amount) VALUES ($1, $2, 1)',
] as [string, string];
const HIT = [
  'UPDATE public.items SET hits = hits + 1, keep_a = $1, keep_b = $1, keep_c = $1 WHERE id = $2',
  'UPDATE public.items SET hits = hits + 1 WHERE id = $2 AND $1::text IS NOT NULL',
] as [string, string];

/** A new row's `code` counts by itself; the rest keeps every rule that is asked for. */
async function once(client: pg.Client, text: string, isNew: boolean): Promise<void> {
  const { rowCount } = await client.query(text, ['said', isNew ? 1 + (any() % 1000) : any()]);
  if (isNew) ledger.inserted += 1;
  else ledger.hits += rowCount ?? 0;
}

async function write(): Promise<void> {
  const client = await connected('bench writer');
  while (!stopped) {
    const isNew = Math.random() < 0.2;
    const waited = await timed(async () => {
      const statement = isNew ? ADD : HIT;
      try {
        await once(client, statement[0], isNew);
      } catch (error) {
        // The column is gone: the application's next release doesn't write it.
        if ((error as { code?: string }).code !== '42703') throw error;
        [ADD[0], HIT[0]] = [ADD[1], HIT[1]];
        await once(client, statement[1], isNew);
      }
    });
    writer = Math.max(writer, waited);
  }
  await client.end();
}

process.on('message', (message: string) => {
  if (message === 'begin') {
    [reader, writer, count, failed] = [0, 0, 0, {}];
    began = performance.now();
  } else if (message === 'end') {
    const perSecond = count / ((performance.now() - began) / 1_000);
    process.send?.({ reader, writer, perSecond, failed } satisfies Measured);
  } else {
    stopped = true;
    Promise.all(all).then(
      () => process.send?.(ledger, () => process.exit(0)),
      () => process.exit(1),
    );
  }
});

const all = [...Array.from({ length: Number(readers) }, read), ...Array.from({ length: Number(writers) }, write)];
process.send?.('ready');
