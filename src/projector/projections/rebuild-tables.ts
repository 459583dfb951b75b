/** Repairs the tables to match the log: creates missing objects, alters differing ones and drops nothing. */
import { repairDrift } from '../drift/repair.js';
import { type Difference, verifyCatalog } from '../verify/index.js';
import type { LogLock } from '../../log/log-lock.js';

export interface RebuiltTables {
  position: number;
  made: string[];
  /** The statements that did not run, with reasons: they would drop something, or PostgreSQL rejects them. */
  left: { statement: string; reason: string }[];
  /** The remaining differences. */
  differences: Difference[];
}

/** Runs in one transaction while no event can be added. */
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
