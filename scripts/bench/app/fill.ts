/** Fills databases for the benchmark of the admin app. */
import { ServiceClient } from '../../../src/postgres/client.js';
import { defaultServiceSchema } from '../../../src/postgres/own-tables.js';
import { growingHistory, writeEvents } from '../logs.js';
import { type Service, startService } from '../servers.js';
import { snapshotOf } from '../schemas.js';

async function release(service: Service): Promise<string> {
  return (await service.call<{ data: { release: string } }>('GET', '/server/info')).data.release;
}

async function apply(service: Service, snapshot: object): Promise<void> {
  const { hash, diff } = await service.call<{ hash: string; diff: unknown }>('POST', '/schema/diff', snapshot);
  await service.call('POST', '/schema/apply', { hash, diff });
}

/** Creates `count` collections of nine fields, each with a foreign key to the previous one. */
export const fill = async (service: Service, collections: number): Promise<void> =>
  apply(service, snapshotOf(collections, await release(service)));

/** Tables whose relations form a tree, with six children each, so that one drawing contains all of them. */
export async function fillTree(service: Service, tables: number): Promise<void> {
  const snapshot = snapshotOf(tables, await release(service)) as {
    collections: { collection: string }[];
    relations: { one_collection: string }[];
  };
  const nameAt = (index: number) => snapshot.collections[index]?.collection ?? '';
  const relations = snapshot.relations.map((relation, index) => ({
    ...relation,
    one_collection: nameAt(Math.max(0, Math.floor((index - 1) / 6))),
  }));
  await apply(service, { ...snapshot, relations });
}

/** Twenty tables, then the given number of changes to one field each. */
export async function fillHistory(service: Service, batches: number): Promise<void> {
  await fill(service, 20);
  for (let batch = 0; batch < batches; batch++) {
    const collection = `collection_${String(batch % 20).padStart(5, '0')}`;
    const field = { field: `added_${batch}`, type: 'string', interface: 'input', schema: {} };
    await service.call('POST', `/fields/${collection}`, field);
  }
}

/** Writes events without their tables before the service starts. */
export async function fillLongLog(
  databaseUrl: string,
  { events, password }: { events: number; password: string },
): Promise<void> {
  // The service creates its own tables and its admin first.
  await (await startService(databaseUrl, undefined, { ADMIN_PASSWORD: password })).stop();
  const client = new ServiceClient({ connectionString: databaseUrl, serviceSchema: defaultServiceSchema('public') });
  await client.connect();
  try {
    await writeEvents(client, growingHistory(events));
  } finally {
    await client.end();
  }
}
