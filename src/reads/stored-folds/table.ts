/** The rows of service_folds. */
import { type Hmac, createHmac } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { createGunzip, createGzip } from 'node:zlib';
import { type Texts, inChunks } from '../../kernel/bytes.js';
import { runYielding } from '../../kernel/event-loop.js';
import type { Queryable } from '../../postgres/pool.js';
import type { Point } from '../../log/fold.js';
import { own } from '../../postgres/own-tables.js';
import { FOLD_FORMAT, readState, writeState } from './document.js';

interface Row {
  position: number;
  format: number;
  event_hash: string;
  occurred_at: Date;
  hash: string;
  content: Buffer;
  /** Hash of the event at the position in the log. */
  log_hash: string | null;
}

/** An unusable fold, which must be deleted. */
export interface WrongFold {
  position: number;
  why: string;
}

/** Bytes that are hashed and decoded per step, so that the event loop is not blocked. */
const CHUNK = 131_072;

/** Positions of all folds of this format, ascending. */
export async function foldPositions(db: Queryable): Promise<number[]> {
  const { rows } = await db.query<{ position: number }>(
    `SELECT position FROM ${own.folds} WHERE format = $1 ORDER BY position`,
    [FOLD_FORMAT],
  );
  return rows.map((row) => row.position);
}

/** Null if there is none. */
export async function readFold(db: Queryable, position: number, secret: string): Promise<Point | WrongFold | null> {
  const { rows } = await db.query<Row>(
    `SELECT f.*, e.hash AS log_hash FROM ${own.folds} f LEFT JOIN ${own.events} e USING (position)
      WHERE f.position = $1 AND f.format = $2`,
    [position, FOLD_FORMAT],
  );
  const [row] = rows;
  if (row === undefined) return null;
  if (row.log_hash !== row.event_hash) return { position, why: 'it is of another log' };
  try {
    const head = { position, hash: row.event_hash, occurred_at: row.occurred_at.toISOString() };
    const hash = hasherOf(head, secret);
    const chunks = await unpacked(row.content, (chunk) => hash.update(chunk));
    if (hash.digest('hex') !== row.hash) return { position, why: 'its hash does not fit what it says' };
    return { state: await readState(linesIn(chunks), position), head };
  } catch (error) {
    return { position, why: `it can't be read (${(error as Error).message})` };
  }
}

/** Replaces an existing fold. */
export async function insertFold(db: Queryable, { state, head }: Point, secret: string): Promise<void> {
  const hash = hasherOf(head, secret);
  const content = await packed(await writeState(state), (chunk) => hash.update(chunk));
  await db.query(
    `INSERT INTO ${own.folds} (position, format, event_hash, occurred_at, hash, content)
     VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT (position) DO UPDATE SET format = excluded.format, event_hash = excluded.event_hash,
       occurred_at = excluded.occurred_at, hash = excluded.hash, content = excluded.content, made_at = now()`,
    [head.position, FOLD_FORMAT, head.hash, head.occurred_at, hash.digest('hex'), content],
  );
}

/** Does nothing if there is none. */
export async function deleteFold(db: Queryable, position: number): Promise<void> {
  await db.query(`DELETE FROM ${own.folds} WHERE position = $1`, [position]);
}

/**
 * The event's hash binds a fold to the chain and the secret binds it to the service. Someone who can write rows cannot
 * forge one.
 */
function hasherOf({ position, hash, occurred_at }: Point['head'], secret: string): Hmac {
  return createHmac('sha256', `stored folds\n${secret}`)
    .update(JSON.stringify([FOLD_FORMAT, position, hash, occurred_at]))
    .update('\n');
}

async function packed(lines: readonly string[], see: (chunk: Buffer) => void): Promise<Buffer> {
  const gzip = createGzip({ level: 1 });
  const found = buffer(gzip);
  await runYielding(
    inChunks(joined(lines), (chunk) => {
      see(chunk);
      gzip.write(chunk);
    }),
  );
  gzip.end();
  return found;
}

function* joined(lines: readonly string[]): Texts & Generator<string, void, void> {
  for (const [index, line] of lines.entries()) yield index === 0 ? line : `\n${line}`;
}

/** @throws if `packed` did not write it */
async function unpacked(content: Buffer, see: (chunk: Buffer) => void): Promise<Buffer[]> {
  const chunks: Buffer[] = [];
  const gunzip = createGunzip({ chunkSize: CHUNK });
  gunzip.end(content);
  for await (const chunk of gunzip as AsyncIterable<Buffer>) {
    see(chunk);
    chunks.push(chunk);
  }
  return chunks;
}

function* linesIn(chunks: readonly Buffer[]): Generator<string, void, void> {
  const decoder = new TextDecoder();
  let rest = '';
  for (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  yield rest + decoder.decode();
}
