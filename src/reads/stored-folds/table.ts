/** The rows of service_folds. */
import { createHmac } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
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
  /** Of the event at the position, in the log. */
  log_hash: string | null;
}

/** A fold that can't be used, and must go. */
export interface WrongFold {
  position: number;
  why: string;
}

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/** Positions of all folds of this format, ascending. */
export async function foldPositions(db: Queryable): Promise<number[]> {
  const { rows } = await db.query<{ position: number }>(
    `SELECT position FROM ${own.folds} WHERE format = $1 ORDER BY position`,
    [FOLD_FORMAT],
  );
  return rows.map((row) => row.position);
}

/** The fold at a position; null when there is none. */
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
    const text = (await decompress(row.content)).toString();
    const occurred_at = row.occurred_at.toISOString();
    const head = { position, hash: row.event_hash, occurred_at };
    if (hashOf(head, text, secret) !== row.hash) return { position, why: 'its hash does not fit what it says' };
    return { state: await readState(text, position), head };
  } catch (error) {
    return { position, why: `it can't be read (${(error as Error).message})` };
  }
}

/** Takes the place of a fold that is there already. */
export async function insertFold(db: Queryable, { state, head }: Point, secret: string): Promise<void> {
  const text = await writeState(state);
  await db.query(
    `INSERT INTO ${own.folds} (position, format, event_hash, occurred_at, hash, content)
     VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT (position) DO UPDATE SET format = excluded.format, event_hash = excluded.event_hash,
       occurred_at = excluded.occurred_at, hash = excluded.hash, content = excluded.content, made_at = now()`,
    [
      head.position,
      FOLD_FORMAT,
      head.hash,
      head.occurred_at,
      hashOf(head, text, secret),
      await compress(text, { level: 1 }),
    ],
  );
}

export async function deleteFold(db: Queryable, position: number): Promise<void> {
  await db.query(`DELETE FROM ${own.folds} WHERE position = $1`, [position]);
}

/** Bound to the chain by the event's hash, and to the service by its secret: who can write rows can't make one. */
function hashOf({ position, hash, occurred_at }: Point['head'], text: string, secret: string): string {
  return createHmac('sha256', `stored folds\n${secret}`)
    .update(JSON.stringify([FOLD_FORMAT, position, hash, occurred_at]))
    .update('\n')
    .update(text)
    .digest('hex');
}
