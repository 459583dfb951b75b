/** Restoring through the pipeline: the past is folded before, for it stands still; the trash is looked into under the lock. */
import type { Problem } from '../kernel/problem.js';
import { ProblemError } from '../kernel/problem.js';
import type { Queryable } from '../postgres/pool.js';
import { own } from '../postgres/own-tables.js';
import { type TrashEntry, findInTrash, isKept, notInTrash } from '../projector/trash/list.js';
import type { Point } from '../log/fold.js';
import type { RestoreRequest } from '../schema/operations/restore-collection.js';
import type { CommandOf } from '../schema/operations/index.js';
import type { Prepare } from './types.js';

export interface RestoreOptions {
  pool: Queryable;
  /** The schema after the event at a position. */
  at(position: number): Promise<Point>;
}

export interface RestoringCollection {
  entry: TrashEntry;
  command: CommandOf<'restore-collection'>;
  prepare: Prepare<CommandOf<'restore-collection'>>;
}

/** @throws ProblemError NOT_FOUND where the trash has nothing of the position */
export async function findEntry(pool: Queryable, position: number): Promise<TrashEntry> {
  const entry = await findInTrash(pool, position);
  if (entry === undefined) throw new ProblemError(await notInTrash(pool, position));
  return entry;
}

/** The schema before the batch that put an entry into the trash. */
export async function schemaBefore({ pool, at }: RestoreOptions, { batch }: TrashEntry): Promise<Point> {
  const { rows } = await pool.query<{ first: number }>(
    `SELECT min(position)::float8 AS first FROM ${own.events} WHERE batch = $1`,
    [batch],
  );
  return at((rows[0]?.first ?? 1) - 1);
}

export async function restoringCollection(
  options: RestoreOptions,
  entry: TrashEntry,
  request: RestoreRequest,
): Promise<RestoringCollection> {
  const { state: past } = await schemaBefore(options, entry);
  const { position, identity, collection: name } = entry;
  const command = { position, identity, name, past, ...request };
  return { entry, command, prepare: stillThere(entry, command) };
}

/** The command, once it is sure that the entry is there and its table too. */
export const stillThere =
  <C>(entry: TrashEntry, command: C): Prepare<C> =>
  async (client) => {
    const { position, batch } = entry;
    const now = await findInTrash(client, position);
    // Another one: the log was replaced meanwhile.
    if (now === undefined || now.batch !== batch) throw new ProblemError(await notInTrash(client, position));
    if (!(await isKept(client, entry))) throw new ProblemError(dropped(entry));
    return command;
  };

function dropped({ position, collection }: TrashEntry): Problem {
  const message = `What position ${position} left in the trash was dropped by hand: it can't be restored, only purged.`;
  return { code: 'NOT_FOUND', message, collection };
}
