/** Rebuilds the trash list from the log: open deletions whose objects still exist. */
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
  position: number;
  /** The number of objects in the trash. */
  entries: number;
}

/** The identities of deleted objects up to a point of the log. Only a fold provides them. */
interface Known {
  identities: ReadonlyMap<number, Identity>;
  point: Point;
}

/** Folds without the log's lock from the first event, and takes it only for the last deletions and the rows. */
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

/**
 * Continues along the log from deletion to deletion.
 * @param kept in order
 */
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
