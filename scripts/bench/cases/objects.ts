/** Objects other than tables: comparing, adopting and recreating them. */
import { readObjects } from '../../../src/projector/catalog/managed-objects.js';
import { ServiceClient } from '../../../src/postgres/client.js';
import { defaultServiceSchema } from '../../../src/postgres/own-tables.js';
import { milliseconds, processorTimeOf, runScript } from '../measure.js';
import type { Case } from '../runner.js';
import { applySnapshot } from '../schemas.js';
import { type Service, startService } from '../servers.js';

const MANAGED = { OBJECTS: 'on' };

const TABLE = 'CREATE TABLE amounts (id integer PRIMARY KEY, amount integer, name text);';

/** Views and functions in equal numbers, as definitions in SQL. */
function definitions(count: number): { kind: string; id: string; definition: string }[] {
  return Array.from({ length: count }, (_, index) => {
    const name = `object_${String(index).padStart(5, '0')}`;
    return index % 2 === 0
      ? {
          kind: 'view',
          id: name,
          definition: `CREATE VIEW ${name} AS SELECT id, amount, name FROM amounts WHERE amount > ${index}`,
        }
      : {
          kind: 'function',
          id: `${name}(integer)`,
          definition: `CREATE FUNCTION ${name}(amount integer) RETURNS integer LANGUAGE sql STABLE AS $$ SELECT amount + ${index} $$`,
        };
  });
}

/**
 * A diff that changes nothing, compared with a server that only parses the body, by processor time of both processes.
 */
export const sameObjects =
  (count: number, runs: number): Case =>
  async (resources) => {
    const service = await resources.service(undefined, MANAGED);
    await service.call('POST', '/collections', {
      collection: 'amounts',
      schema: {},
      fields: [
        { field: 'id', type: 'integer', interface: 'input', schema: { is_primary_key: true } },
        { field: 'amount', type: 'integer', interface: 'input' },
        { field: 'name', type: 'text', interface: 'input' },
      ],
    });
    const snapshot = await service.call<object>('GET', '/schema/snapshot');
    await applySnapshot(service, {
      ...snapshot,
      objects: definitions(count).map((object) => ({ ...object, comment: null })),
    });
    // The spelling differs from that of the service, so that equal bytes are not a shortcut.
    const body = JSON.stringify(await service.call<object>('GET', '/schema/snapshot'), null, 1);
    const bare = await resources.bareExpress('');
    const size = `${count.toLocaleString('en')} objects, ${Math.round(body.length / 1024)} KiB`;
    return [
      {
        work: `no-op diff of ${size}, by processor time`,
        against: 'bare Express parsing the body',
        runs,
        measured: () => processorTimeOf(service, () => service.send('POST', '/schema/diff', body)),
        limit: () => processorTimeOf(bare, () => fetch(bare.url, { method: 'POST', body, headers: JSON_BODY })),
      },
    ];
  };

const JSON_BODY = { 'content-type': 'application/json' };

/** Adopts views and functions, compared with reading their catalogs alone. */
export const adoptObjects =
  (count: number, runs: number): Case =>
  async (resources) => {
    const script = definitions(count).map(({ definition }) => `${definition};`);
    let service: Service | undefined;
    let reader: ServiceClient | undefined;
    const end = async (): Promise<void> => {
      await reader?.end();
      await service?.stop();
    };
    resources.onEnd(end);
    return [
      {
        work: `adopt ${count.toLocaleString('en')} views and functions`,
        against: 'reading the catalog',
        runs,
        warmUps: 1,
        async prepare() {
          await end();
          const url = await resources.server.createDatabase();
          service = await startService(url, undefined, MANAGED);
          reader = new ServiceClient({ connectionString: url, serviceSchema: defaultServiceSchema('public') });
          await reader.connect();
          await runScript(url, [TABLE, ...script].join('\n'));
        },
        measured: () => milliseconds(() => (service as Service).call('POST', '/schema/adopt', { all: true })),
        limit: () => milliseconds(() => readObjects(reader as ServiceClient, { schema: 'public' })),
      },
    ];
  };

/** Changes the type of a column that views use, compared with the same statements as a plain script. */
export const belowViews =
  (count: number, runs: number): Case =>
  async (resources) => {
    const [url, plain] = [await resources.server.createDatabase(), await resources.server.createDatabase()];
    const service = await resources.service(url, MANAGED);
    const script = definitions(count * 2).flatMap(({ kind, definition }) =>
      kind === 'view' ? [`${definition};`] : [],
    );
    await runScript(plain, [TABLE, ...script].join('\n'));
    await runScript(url, [TABLE, ...script].join('\n'));
    await service.call('POST', '/schema/adopt', { all: true });
    const prepared = { type: '', script: '' };
    return [
      {
        work: `change the type of a column below ${count} views`,
        against: 'plain SQL',
        runs,
        async prepare(run) {
          prepared.type = run % 2 === 0 ? 'bigInteger' : 'integer';
          const body = { type: prepared.type };
          const { statements } = await service.call<{ statements: { sql: string }[] }>(
            'PATCH',
            `${COLUMN}?dry_run`,
            body,
          );
          prepared.script = statements.map(({ sql }) => `${sql};`).join('\n');
        },
        measured: () => milliseconds(() => service.call('PATCH', COLUMN, { type: prepared.type })),
        limit: () => runScript(plain, prepared.script),
      },
    ];
  };

const COLUMN = '/fields/amounts/amount';
