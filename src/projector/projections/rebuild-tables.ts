/** The tables against the fold: what differs is named, and nothing is dropped without being told to. */
import type { Pipeline } from '../../pipeline/types.js';
import { verifyCatalog } from '../verify.js';

export async function rebuildTables(pipeline: Pick<Pipeline, 'underLock'>, schema: string) {
  return pipeline.underLock(async (client, { state, head }) => {
    const differences = await verifyCatalog(client, state, schema);
    return { position: head.position, differences };
  });
}
