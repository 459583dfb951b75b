/**
 * Finds the source of a restoration for tables and fields. It is the entry of the trash, or the log if the database was
 * created from its log. The past never changes, so it is folded before the lock is taken. The trash is read under the
 * lock.
 */
import { type Problem, ProblemError } from '../../kernel/problem.js';
import type { Point } from '../../log/fold.js';
import { own } from '../../postgres/own-tables.js';
import type { Queryable } from '../../postgres/pool.js';
import { keptDeletions } from '../../projector/trash/kept-deletions.js';
import { type TrashEntry, findInTrash, isKept, notInTrash } from '../../projector/trash/list.js';
import { identityOf } from '../../projector/trash/rows.js';
import type { Prepare } from '../types.js';

export interface RestoreOptions {
  pool: Queryable;
  /** Returns the schema after the event at a position. */
  at(position: number): Promise<Point>;
}

/** @throws ProblemError NOT_FOUND if neither the trash nor the log has an entry for the position */
export async function findEntry({ pool, at }: RestoreOptions, position: number): Promise<TrashEntry> {
  const entry = await findInTrash(pool, position);
  if (entry !== undefined) return entry;
  const [deletion] = await keptDeletions(pool, [position]);
  if (deletion === undefined) throw new ProblemError(await notInTrash(pool, position));
  const { there: _, ...said } = deletion;
  const { state } = await at(position - 1);
  const identity = identityOf(said, state.collections.get(said.collection));
  return { ...said, identity, rows: null, bytes: null };
}

/** Returns the schema before the batch that put an entry into the trash. */
export async function schemaBefore({ pool, at }: RestoreOptions, { batch }: TrashEntry): Promise<Point> {
  const { rows } = await pool.query<{ first: number }>(
    `SELECT pg_catalog.min(position)::float8 AS first FROM ${own.events} WHERE batch = $1`,
    [batch],
  );
  const [{ first }] = rows as [{ first: number }];
  return at(first - 1);
}

/** Creates the command after checking what still exists of the entry. */
export const stillThere =
  <C extends { empty?: boolean }>(entry: TrashEntry, command: C): Prepare<C> =>
  async (client) => {
    const { position, batch } = entry;
    const now = await findInTrash(client, position);
    const [said] = now === undefined ? await keptDeletions(client, [position]) : [now];
    // The log was replaced meanwhile, so this is another entry.
    if (said?.batch !== batch) throw new ProblemError(await notInTrash(client, position));
    if (await isKept(client, entry)) return command;
    if (now !== undefined) throw new ProblemError(dropped(entry));
    return { ...command, empty: true };
  };

function dropped({ position, collection }: TrashEntry): Problem {
  const message = `What position ${position} left in the trash was dropped by hand: it can't be restored, only purged.`;
  return { code: 'NOT_FOUND', message, collection };
}
