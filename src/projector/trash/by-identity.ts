/** Finds objects in the trash by identity, whatever their names were. */
import { endsOf } from '../../log/life-ends.js';
import type { Queryable } from '../../postgres/pool.js';
import type { Identity } from '../../schema/model/state.js';
import { keptDeletions } from './kept-deletions.js';
import { type TrashEntry, findIdentities } from './list.js';

export interface Returning extends Pick<TrashEntry, 'position' | 'kind' | 'collection' | 'identity'> {
  /** The log says that the object was kept, but the database was created from that log and does not contain it. */
  empty: boolean;
}

/** Ordered by deletion. Objects that someone dropped from the trash by hand are not found. */
export async function findReturning(db: Queryable, identities: readonly Identity[]): Promise<Returning[]> {
  const listed = await findIdentities(db, identities);
  const known = new Set(listed.map(({ identity }) => identity));
  const found = listed
    .filter(({ there }) => there)
    .map(({ position, kind, collection, identity }) => ({ position, kind, collection, identity, empty: false }));
  const unlisted = await findUnlisted(
    db,
    identities.filter((identity) => !known.has(identity)),
  );
  return [...found, ...unlisted].sort((a, b) => a.position - b.position);
}

/** Finds objects that are not in the list, through the events that deleted them. */
async function findUnlisted(db: Queryable, identities: readonly Identity[]): Promise<Returning[]> {
  const ended = new Map<number, Identity>();
  for (const [identity, { position, isOwn }] of await endsOf(db, identities)) if (isOwn) ended.set(position, identity);
  const deletions = await keptDeletions(db, [...ended.keys()]);
  return deletions.map(({ position, kind, collection, there }) => {
    const identity = ended.get(position) as Identity;
    return { position, kind, collection, identity, empty: !there };
  });
}
