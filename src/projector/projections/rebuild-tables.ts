/** The tables against the fold: what differs is named, and nothing is dropped without being told to. */
import { verifyCatalog } from '../verify.js';
import type { LogLock } from './log-lock.js';

export async function rebuildTables(pipeline: LogLock, schema: string) {
  return pipeline.underLock(async (client, { state, head }) => {
    const differences = await verifyCatalog(client, state, schema);
    return { position: head.position, differences };
  });
}
