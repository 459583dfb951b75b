/** The list of the trash, made again: from what the log says was kept and nothing has ended, as far as it is there. */
import type pg from 'pg';
import { type Point, foldLog, startPoint } from '../../log/fold.js';
import { sendBatch } from '../../postgres/exchange.js';
import { own } from '../../postgres/own-tables.js';
import type { Queryable } from '../../postgres/pool.js';
import type { Identity } from '../../schema/model/state.js';
import type { LogLock } from '../../log/log-lock.js';
import { type KeptDeletion, allKeptDeletions } from './kept-deletions.js';
import { identityOf, insertRows } from './rows.js';

export const TRASH_PROJECTION = 'trash';

export interface RebuiltTrash {
  /** The head of the log that the list is at. */
  position: number;
  /** How many things the trash holds. */
  entries: number;
}

/** What they were, of the deletions of the log up to a point. Only a fold knows. */
interface Known {
  identities: ReadonlyMap<number, Identity>;
  point: Point;
}

/** Folded beside the log, from its first event; its lock is taken for the last deletions and the rows. */
export async function rebuildTrash(pool: pg.Pool, lock: LogLock): Promise<RebuiltTrash> {
  const known = await follow(pool, { identities: new Map(), point: startPoint() }, await keptAndThere(pool));
  return lock.underLock(async (client, { head: { position } }) => {
    const kept = await keptAndThere(client);
    const { identities } = await follow(client, known, kept);
    await client.query(`DELETE FROM ${own.trash}`);
    const rows = kept.map((each) => ({ ...each, identity: identities.get(each.position) as Identity }));
    await sendBatch(client, [insertRows(rows)]);
    return { position, entries: rows.length };
  });
}

const keptAndThere = async (db: Queryable): Promise<KeptDeletion[]> =>
  (await allKeptDeletions(db)).filter(({ there }) => there);

/** Goes on along the log, from deletion to deletion. @param kept in order */
async function follow(db: Queryable, { identities, point }: Known, kept: readonly KeptDeletion[]): Promise<Known> {
  const found = new Map(identities);
  let at = point;
  for (const deletion of kept) {
    if (found.has(deletion.position)) continue;
    at = await foldLog(db, at, { upTo: deletion.position - 1 });
    found.set(deletion.position, identityOf(deletion, at.state.collections.get(deletion.collection)));
  }
  return { identities: found, point: at };
}
