/** What the trash still holds of things that are asked for by identity, with what they were when they went. */
import type { Queryable } from '../../postgres/pool.js';
import { findReturning } from '../../projector/trash/by-identity.js';
import type { Identity } from '../../schema/model/state.js';
import type { InTrash } from '../../schema/transition/restoring-transition.js';
import type { TimeTravel } from './time-travel.js';

/** In the order of their deletions. What a database doesn't have that was made from its log is `empty`. */
export async function inTrash(db: Queryable, travel: TimeTravel, identities: readonly Identity[]): Promise<InTrash[]> {
  const found: InTrash[] = [];
  // One after the other: each goes on from where the last one was.
  for (const { position, kind, collection: name, identity, empty } of await findReturning(db, identities)) {
    const { state } = await travel.at(position - 1);
    const node = state.collections.get(name);
    if (node === undefined) throw new Error(`trash: position ${position} deleted no ${JSON.stringify(name)}`);
    found.push({ position, kind, name, identity, node, empty });
  }
  return found;
}
