/** The tables as the log says: what is missing is made, what differs is mended, nothing is dropped. */
import { repairDrift } from '../drift/repair.js';
import { type Difference, verifyCatalog } from '../verify/index.js';
import type { LogLock } from '../../log/log-lock.js';

export interface RebuiltTables {
  position: number;
  /** What was done, a phrase each: `create table articles`. */
  made: string[];
  /** What was not done, and why: it would drop something, or PostgreSQL refuses it. */
  left: { statement: string; reason: string }[];
  /** What still differs. */
  differences: Difference[];
}

/** In one transaction, while no event is added. */
export async function rebuildTables(lock: LogLock, schema: string): Promise<RebuiltTables> {
  return lock.underLock(async (client, { state, head }) => {
    const { made, left } = await repairDrift({ client, state, schema, allowDrop: false });
    return {
      position: head.position,
      made: made.map(({ summary }) => summary),
      left: left.map(({ summary, reason }) => ({ statement: summary, reason })),
      differences: await verifyCatalog(client, state, schema),
    };
  });
}
