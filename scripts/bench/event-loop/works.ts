/** Every route with large requests or responses, at its maximum size. */
import { stopsAtFirst, stopsWhenWarm, type StopRow } from './stops.js';
import { applies, documents, lists } from './changes.js';
import { adoptions, readsOfMany, readsOfTables } from './reads.js';
import { renames } from './renames.js';
import { trashOfMany } from './trash.js';
import { makeSo } from './requests.js';
import { ServiceClient } from '../../../src/postgres/client.js';
import { defaultServiceSchema } from '../../../src/postgres/own-tables.js';
import { wideHistory, writeEvents } from '../logs.js';
import { snapshotOf } from '../schemas.js';
import { type Server, startService } from '../servers.js';

const GROUPS: Record<string, (server: Server, release: string) => Promise<StopRow[]>> = {
  documents: async (server, release) => stopsWhenWarm(await server.createDatabase(), documents(release)),
  applies: async (server, release) => stopsWhenWarm(await server.createDatabase(), applies(release)),
  lists: async (server, release) => stopsWhenWarm(await server.createDatabase(), lists(release)),
  renames: async (server, release) => stopsWhenWarm(await server.createDatabase(), renames(release)),
  async adoptions(server, release) {
    const url = await server.createDatabase();
    return stopsWhenWarm(url, adoptions(release, 1_000, url));
  },
  async tables(server, release) {
    const url = await server.createDatabase();
    const service = await startService(url);
    await makeSo(service, snapshotOf(1_000, release));
    await service.stop();
    return stopsAtFirst(url, readsOfTables());
  },
  many: async (server) => stopsAtFirst(await withMany(server), readsOfMany()),
  async trash(server) {
    const url = await withMany(server);
    return stopsWhenWarm(url, trashOfMany(url));
  },
};

/** A database whose log has 10,000 collections of 20 fields, without tables. */
async function withMany(server: Server): Promise<string> {
  const url = await server.createDatabase();
  await (await startService(url)).stop();
  const client = new ServiceClient({ connectionString: url, serviceSchema: defaultServiceSchema('public') });
  await client.connect();
  try {
    await writeEvents(client, wideHistory(10_000));
  } finally {
    await client.end();
  }
  return url;
}

export async function longestStops(server: Server, release: string, names = Object.keys(GROUPS)): Promise<StopRow[]> {
  const rows: StopRow[] = [];
  for (const name of names) {
    const group = GROUPS[name];
    if (group === undefined) throw new Error(`There is no group ${name}: ${Object.keys(GROUPS).join(', ')} are.`);
    rows.push(...(await group(server, release)));
  }
  return rows;
}
