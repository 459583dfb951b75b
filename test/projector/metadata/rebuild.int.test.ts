import { expect } from 'chai';
import { advisoryKey } from '../../../src/postgres/locked-session.js';
import { readDatabase } from '../../../src/postgres/server.js';
import { type RebuiltMetadata, rebuildMetadataRows } from '../../../src/projector/metadata/rebuild.js';
import { verify } from '../../../src/projector/verify/index.js';
import { withClient } from '../../../src/postgres/pool.js';
import {
  CAUSE,
  type Instance,
  command,
  expectDone,
  field,
  silent,
  startInstance,
  table,
} from '../../support/instance.js';
import { type TestDatabase, asSuperuser, createDatabase } from '../../support/postgres.js';
import { until } from '../../support/until.js';
import type { ProblemError } from '../../../src/kernel/problem.js';

describe('rebuilding metadata rows', () => {
  let database: TestDatabase;
  let instance: Instance;

  beforeEach(async () => {
    database = await createDatabase('migrated');
    instance = await startInstance(database.connectionString);
    for (const name of ['authors', 'articles', 'it"s', '__proto__']) await create(name);
    await execute('update-collection', { collection: 'articles', body: { meta: { note: 'about' } } });
  });

  afterEach(async () => {
    await instance.stop();
    await database.drop();
  });

  const request = { cause: CAUSE };

  async function execute(...[name, input]: Parameters<typeof command>): Promise<void> {
    expectDone(await instance.pipeline.apply(name, command(name, input), request));
  }

  async function create(name: string): Promise<void> {
    expectDone(
      await instance.pipeline.apply(
        'create-collection',
        table(name, [field('title'), field('size', 'integer')]),
        request,
      ),
    );
  }

  async function rebuild(onProgress?: (done: number, total: number) => void): Promise<RebuiltMetadata> {
    const place = await readDatabase(instance.pool);
    return rebuildMetadataRows({
      connection: { connectionString: database.connectionString, schema: 'public', serviceSchema: 'service' },
      database: place.database,
      lockTimeout: 20_000,
      logger: silent,
      ...(onProgress && { onProgress }),
    });
  }

  async function expectVerified(): Promise<void> {
    const { differences } = await withClient(instance.pool, (client) =>
      verify(client, instance.store.current(), 'public'),
    );
    expect(differences, JSON.stringify(differences)).to.deep.equal([]);
  }

  const sql = async (text: string): Promise<unknown[]> => (await instance.pool.query(text)).rows;

  it("may take longer than the database's statement timeout", async () => {
    await asSuperuser(
      database.connectionString,
      'CREATE FUNCTION slow() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(1); END $$',
      'CREATE EVENT TRIGGER slow ON ddl_command_end EXECUTE FUNCTION slow()',
      `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET statement_timeout = 800', current_database()); END $$`,
    );
    expect((await rebuild()).replaced).to.equal(0);
    await expectVerified();
  });

  it('replaces nothing if nothing is wrong', async () => {
    const began = performance.now();
    const rebuilt = await rebuild();
    const took = performance.now() - began;
    expect(rebuilt.milliseconds).to.be.within(1, took + 1);
    expect(rebuilt.locked_milliseconds).to.be.within(0, took + 1);
    expect(rebuilt).to.include({ position: 5, replaced: 0, collections: 4, fields: 12, relations: 0 });
    await expectVerified();
  });

  for (const [what, damage, replaced] of [
    [
      'a changed row',
      `update service.service_fields set meta = meta || '{"note":"forged"}' where collection = 'articles' and field = 'title'`,
      1,
    ],
    ['a lost row', `delete from service.service_fields where collection = 'it"s' and field = 'size'`, 1],
    ['a row too many', `insert into service.service_collections (collection, meta) values ('ghost', '{}')`, 1],
    [
      'an exchanged name',
      `update service.service_collections set collection = 'writers' where collection = 'authors'`,
      2,
    ],
    ['no row at all', `truncate service.service_collections, service.service_fields, service.service_relations`, 4],
  ] as const) {
    it(`corrects ${what}`, async () => {
      await sql(damage);
      expect(await rebuild()).to.include({ replaced });
      await expectVerified();
      expect(await rebuild()).to.include({ replaced: 0 });
    });
  }

  it('sets the checkpoint to the head and clears an error', async () => {
    await sql(
      `update service.service_projections set position = 1, hash = null, status = 'failed', last_error = '{}' where name = 'metadata'`,
    );
    await rebuild();
    const rows = await sql(
      `select position, status, last_error from service.service_projections where name = 'metadata'`,
    );
    expect(rows).to.deep.equal([{ position: instance.store.current().position, status: 'running', last_error: null }]);
  });

  it('reports the last processed position', async () => {
    const received: number[][] = [];
    await rebuild((...progress) => received.push(progress));
    const { position } = instance.store.current();
    expect(received.at(-1)).to.deep.equal([position, position]);
  });

  it('includes the changes that are committed while it runs', async () => {
    const writing = (async () => {
      for (let number = 0; number < 30; number += 1) await create(`written_${number}`);
    })();
    for (let count = 0; count < 5; count += 1) await rebuild();
    await writing;
    await rebuild();
    await expectVerified();
  });

  it('rejects a second rebuild while one runs', async () => {
    // The first one waits for the log's lock, so that it cannot end before the others begin.
    const { database: name } = await readDatabase(instance.pool);
    const holder = await instance.pool.connect();
    await holder.query('SELECT pg_advisory_lock($1)', [advisoryKey({ database: name, schema: 'public' }, 'log')]);
    const refused: unknown[] = [];
    const all = [1, 2, 3].map(() =>
      rebuild().then(
        () => 'rebuilt',
        (error: unknown) => void refused.push((error as ProblemError).problem.code),
      ),
    );
    try {
      await until('two are rejected', () => refused.length === 2);
    } finally {
      holder.release(true);
    }
    expect((await Promise.all(all)).filter((result) => result === 'rebuilt')).to.have.length(1);
    expect(refused).to.deep.equal(['IN_USE', 'IN_USE']);
    await expectVerified();
  });
});
