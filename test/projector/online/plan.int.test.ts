import { expect } from 'chai';
import type pg from 'pg';
import { createPreparationEngine, type PreparationStep } from '../../../src/projector/online/index.js';
import type { CommandOf } from '../../../src/schema/operations/index.js';
import { catalogText } from '../../support/catalog-text.js';
import { CAUSE, type Instance, command, expectDone, field, startInstance, table } from '../../support/instance.js';
import { type TestDatabase, createDatabase, testServer } from '../../support/postgres.js';
import { contextOf, decideChange, engine, openSession, planned } from './online.js';

describe('planning a preparation', () => {
  let database: TestDatabase;
  let instance: Instance;
  let session: pg.Client;

  before(async () => {
    database = await createDatabase('migrated');
    instance = await startInstance(database.connectionString);
    session = await openSession(database.connectionString);
    const execute = async (body: CommandOf<'create-collection'>) =>
      expectDone(await instance.pipeline.apply('create-collection', body, { cause: CAUSE }));
    await execute(table('z_authors', [field('name')]));
    await execute(table('books', [field('title'), field('author', 'integer')]));
    await instance.pool.query(
      `INSERT INTO books (title) SELECT 't' || i FROM generate_series(1, 500) i; ANALYZE books`,
    );
  });
  after(async () => {
    await session.end();
    await instance.stop();
    await database.drop();
  });

  const related = () =>
    decideChange(
      instance,
      'create-relation',
      command('create-relation', {
        body: { collection: 'books', field: 'author', related_collection: 'z_authors', schema: {} },
      }),
    );
  const updated = (schema: object) =>
    decideChange(
      instance,
      'update-fields',
      command('update-fields', { collection: 'books', field: 'title', body: { schema }, concurrentIndexes: false }),
    );

  const bytes = async (): Promise<number> => {
    const { rows } = await instance.pool.query<{ bytes: number }>(`SELECT pg_relation_size('books')::int AS bytes`);
    return rows[0]?.bytes ?? 0;
  };

  it('locks both tables of a foreign key, and warns about its early effect', async () => {
    const preparation = await planned(instance, related());
    if (preparation.kind !== 'steps') throw new Error(JSON.stringify(preparation));
    const { steps, collections, warnings } = preparation;
    const size = { rows: 500, bytes: await bytes() };
    const none = { rows: null, bytes: null };
    expect(
      steps.map(({ kind, collection, field: of, rows, bytes: read }) => [kind, collection, of, { rows, bytes: read }]),
    ).to.deep.equal([
      ['add', 'books', 'author', none],
      ['validate', 'books', 'author', size],
    ]);
    expect(collections).to.deep.equal(['books', 'z_authors']);
    expect(warnings.map(({ code, collection, field: of }) => [code, collection, of])).to.deep.equal([
      ['ACTS_WHILE_PREPARED', 'books', 'author'],
    ]);
  });

  it('uses a NOT NULL constraint itself if PostgreSQL supports that', async () => {
    const preparation = await planned(instance, updated({ is_nullable: false }));
    if (preparation.kind !== 'steps') throw new Error(JSON.stringify(preparation));
    const by = (await testServer()).majorVersion >= 18 ? 'constraint' : 'check';
    expect(preparation.steps.map(({ notNullBy }) => notNullBy)).to.deep.equal([by, by]);
    expect(preparation.collections).to.deep.equal(['books']);
    expect(preparation.warnings).to.have.length(1);
  });

  it('skips small tables and fast statements', async () => {
    const kindAt = async (smallTable: number) => {
      const sized = createPreparationEngine({ lockWait: 100, smallTable });
      return (await sized.planPreparation(instance.pool, updated({ is_nullable: false }))).kind;
    };
    const size = await bytes();
    expect([await kindAt(size - 1), await kindAt(size)]).to.deep.equal(['steps', 'nothing']);
    expect(await planned(instance, updated({ comment: 'c' }))).to.deep.equal({ kind: 'nothing' });
  });

  it('stops after a withdrawal', async () => {
    const change = related();
    const preparation = await planned(instance, change);
    if (preparation.kind !== 'steps') throw new Error(JSON.stringify(preparation));
    const before = await catalogText(session, 'public');
    const [add] = preparation.steps as [PreparationStep];
    const withdrawn = new Error('withdrawn');
    const context = contextOf(session, change, add, { signal: AbortSignal.abort(withdrawn) });
    expect(await engine.runStep(context, add).catch((error: unknown) => error)).to.equal(withdrawn);
    expect(await catalogText(session, 'public')).to.deep.equal(before);
  });
});
