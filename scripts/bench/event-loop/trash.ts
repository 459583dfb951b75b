/** The trash and online changes of one of 10,000 collections. Only that one has a table. */
import type { Work } from './stops.js';
import { getWork, send } from './requests.js';
import { runScript } from '../measure.js';
import type { Service } from '../servers.js';

const NAME = 'collection_005000';
const COLLECTION = `/collections/${NAME}`;
const FIELD = `/fields/${NAME}/field_7`;
/** Half of the rows up to which a field's values are kept, by the default of KEEP_COPY_ROWS. */
const ROWS = 50_000;

interface Entry {
  position: number;
  collection: string;
  field: string | null;
}

/** @param databaseUrl a database with 10,000 collections in the log and no tables */
export function trashOfMany(databaseUrl: string): Work[] {
  /** The table exists and the trash is empty. */
  const there = async (service: Service): Promise<string> => {
    for (const { position } of await trash(service)) await service.call('POST', `/trash/${position}/restore`);
    const { data } = await service.call<{ data: { schema: { sql: string } } }>('GET', COLLECTION);
    const createSql = data.schema.sql.replace('CREATE TABLE', 'CREATE TABLE IF NOT EXISTS');
    const rows = `INSERT INTO ${NAME} SELECT n FROM generate_series(1, ${ROWS}) n ON CONFLICT DO NOTHING`;
    await runScript(databaseUrl, `${createSql}; ${rows}; ANALYZE ${NAME};`);
    return '';
  };
  /** The table is in the trash and can be restored. */
  const deleteTable = (path: string) => async (service: Service) => {
    await there(service);
    await service.send('DELETE', path);
    return String((await trash(service))[0]?.position);
  };
  const restores = (work: string, path: string, { query = '', body = {} } = {}): Work => ({
    work,
    before: deleteTable(path),
    run: (service, position) => service.call('POST', `/trash/${position}/restore${query}`, body),
  });
  const wayBack = async (service: Service): Promise<string> => {
    const position = await deleteTable(COLLECTION)(service);
    return service.send('GET', `/history/diff?to=${Number(position) - 1}`);
  };
  return [
    { work: 'one of 10,000 collections deleted', before: there, run: (service) => service.send('DELETE', COLLECTION) },
    {
      work: 'one of 200,000 fields deleted',
      before: there,
      run: (service) => service.send('DELETE', FIELD),
    },
    restores('one of 10,000 collections restored', COLLECTION),
    restores('one of 10,000 collections restored, tried (dry_run)', COLLECTION, { query: '?dry_run' }),
    restores('one of 200,000 fields restored', FIELD.replace('7', '8')),
    {
      work: 'what leads back to one of 10,000 collections',
      before: deleteTable(COLLECTION),
      run: (service, position) => service.send('GET', `/history/diff?to=${Number(position) - 1}`),
    },
    {
      work: 'an apply that brings one of 10,000 collections back',
      before: wayBack,
      run: (service, diff) => service.send('POST', '/schema/apply', diff),
    },
    getWork('the list of the trash', '/trash?limit=1000&meta=*'),
    {
      work: 'the rebuild of the list of the trash',
      run: (service) => service.send('POST', '/projections/trash/rebuild'),
    },
    {
      work: 'a change of one of 10,000 collections, prepared online',
      before: async (service) => {
        await there(service);
        await waitUntilSettled(service);
        return '';
      },
      async run(service) {
        const body = JSON.stringify({ schema: { is_indexed: true } });
        await send(service, `/fields/${NAME}/field_1?online`, { method: 'PATCH', text: body });
        await waitUntilSettled(service);
        await send(service, `/fields/${NAME}/field_1`, {
          method: 'PATCH',
          text: JSON.stringify({ schema: { is_indexed: false } }),
        });
      },
    },
    {
      work: 'the list of change requests, and each of them',
      async run(service) {
        const { data } = await service.call<{ data: { id: string }[] }>('GET', '/changes?limit=10&meta=*');
        for (const { id } of data) await service.send('GET', `/changes/${id}`);
      },
    },
  ];
}

const trash = async (service: Service): Promise<Entry[]> =>
  (await service.call<{ data: Entry[] }>('GET', '/trash?limit=1000')).data;

/** No request is running. */
async function waitUntilSettled(service: Service): Promise<void> {
  for (;;) {
    const { data } = await service.call<{ data: { state: string }[] }>('GET', '/changes?limit=1');
    if (!['queued', 'preparing', 'prepared'].includes(data[0]?.state ?? '')) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
