/** Adopts tables, compared with reading the catalog alone. */
import { initialState } from '../../../src/schema/model/state.js';
import { ServiceClient } from '../../../src/postgres/client.js';
import { defaultServiceSchema } from '../../../src/postgres/own-tables.js';
import { readCatalogFindings } from '../../../src/features/adopt/read.js';
import { milliseconds, runScript } from '../measure.js';
import type { Case, Comparison } from '../runner.js';
import { applySnapshot, emptySnapshot } from '../schemas.js';
import { type Service, startService } from '../servers.js';
import { NEEDS, tables } from '../tables.js';

async function measureAdoption(service: Service, count: number): Promise<number> {
  let names: string[] = [];
  const spent = await milliseconds(async () => {
    ({ adopted: names } = await service.call<{ adopted: string[] }>('POST', '/schema/adopt', { all: true }));
  });
  if (names.length !== count) throw new Error(`${names.length} of ${count} tables were adopted`);
  return spent;
}

/**
 * The first adoption of a process and its connection, as with `dps adopt`, and later ones. The reader of the catalog has a
 * connection of the same age and sees the tables for the first time too, because a connection caches the catalog.
 */
export const adopt =
  (count: number, runs: number): Case =>
  async (resources) => {
    const script = tables(count);
    let service: Service | undefined;
    let reader: ServiceClient | undefined;
    let url = '';
    const end = async (): Promise<void> => {
      await reader?.end();
      await service?.stop();
    };
    resources.onEnd(end);
    const start = async (): Promise<void> => {
      await end();
      url = await resources.server.createDatabase();
      service = await startService(url);
      reader = new ServiceClient({ connectionString: url, serviceSchema: defaultServiceSchema('public') });
      await reader.connect();
      await runScript(url, NEEDS + script);
    };
    const row = (goal: Comparison['goal'], work: string, prepare: () => Promise<void>): Comparison => ({
      work: `adopt ${count.toLocaleString('en')} tables${work}`,
      against: 'reading the catalog',
      ...(goal !== undefined && { goal }),
      runs,
      warmUps: 1,
      prepare,
      measured: () => measureAdoption(service as Service, count),
      limit: () =>
        milliseconds(() =>
          Promise.all(
            readCatalogFindings(reader as ServiceClient, {
              schema: 'public',
              schemas: ['public'],
              state: initialState(),
            }),
          ),
        ),
    });
    return [
      row('adopt, first', ', the first work of a process', start),
      row('adopt, again', ', later', async () => {
        await applySnapshot(service as Service, emptySnapshot(resources.release));
        await runScript(url, script);
      }),
    ];
  };
