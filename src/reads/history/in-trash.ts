/** What the trash still holds of things that are asked for by identity, with what they were when they went. */
import type { Queryable } from '../../postgres/pool.js';
import { findIdentities } from '../../projector/trash/list.js';
import type { Identity } from '../../schema/model/state.js';
import type { InTrash } from '../../schema/transition/restoring-transition.js';
import type { TimeTravel } from './time-travel.js';

export interface FoundInTrash extends InTrash {
  /** ISO 8601. */
  kept_until: string;
  /** Of a table by PostgreSQL's statistics, null where there are none. */
  rows: number | null;
}

/** In the order of their deletions. */
export async function inTrash(
  db: Queryable,
  travel: TimeTravel,
  identities: readonly Identity[],
): Promise<FoundInTrash[]> {
  const found: FoundInTrash[] = [];
  const entries = await findIdentities(db, identities);
  // One after the other: each goes on from where the last one was.
  for (const { position, kind, collection: name, identity, kept_until, rows } of entries.toReversed()) {
    const { state } = await travel.at(position - 1);
    const node = state.collections.get(name);
    if (node === undefined) throw new Error(`trash: position ${position} deleted no ${JSON.stringify(name)}`);
    found.push({ position, kind, name, identity, node, kept_until, rows });
  }
  return found;
}
