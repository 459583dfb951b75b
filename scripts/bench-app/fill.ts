/** Schemas to be looked at. */
import type { Service } from '../bench/servers.js';
import { snapshotOf } from '../bench/schemas.js';

async function release(service: Service): Promise<string> {
  return (await service.call<{ data: { release: string } }>('GET', '/server/info')).data.release;
}

async function apply(service: Service, snapshot: object): Promise<void> {
  const { hash, diff } = await service.call<{ hash: string; diff: unknown }>('POST', '/schema/diff', snapshot);
  await service.call('POST', '/schema/apply', { hash, diff });
}

/** So many collections, each with nine fields and a foreign key to the one before. */
export const fill = async (service: Service, collections: number): Promise<void> =>
  apply(service, snapshotOf(collections, await release(service)));

/** As many tables as a drawing has at most lie around the first one. */
export async function fillHub(service: Service, tables: number): Promise<void> {
  const snapshot = snapshotOf(tables, await release(service)) as {
    collections: { collection: string }[];
    relations: { one_collection: string }[];
  };
  const hub = snapshot.collections[0]?.collection ?? '';
  const relations = snapshot.relations.map((relation, index) =>
    index < AROUND ? { ...relation, one_collection: hub } : relation,
  );
  await apply(service, { ...snapshot, relations });
}

/** The one in the middle, 148 around it, and the one after those. */
const AROUND = 149;

/** Twenty tables, then so many changes of one field each. */
export async function fillHistory(service: Service, batches: number): Promise<void> {
  await fill(service, 20);
  for (let batch = 0; batch < batches; batch++) {
    const collection = `collection_${String(batch % 20).padStart(5, '0')}`;
    const field = { field: `added_${batch}`, type: 'string', interface: 'input', schema: {} };
    await service.call('POST', `/fields/${collection}`, field);
  }
}
