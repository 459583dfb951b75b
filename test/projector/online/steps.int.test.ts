import { expect } from 'chai';
import type pg from 'pg';
import { findDrift } from '../../../src/features/drift/find.js';
import { findOrphans, preparedName } from '../../../src/projector/online/copy.js';
import {
  PREPARATION_LOST,
  PreparationRefused,
  type PreparationStep,
  type StepProgress,
  createPreparationEngine,
} from '../../../src/projector/online/index.js';
import { verifyCatalog } from '../../../src/projector/verify/index.js';
import type { CommandOf, OperationName } from '../../../src/schema/operations/index.js';
import type { EngineStep } from '../../../src/projector/online/steps.js';
import { catalogText } from '../../support/catalog-text.js';
import { CAUSE, type Instance, command, expectDone, field, startInstance, table } from '../../support/instance.js';
import { type TestDatabase, createDatabase } from '../../support/postgres.js';
import { until } from '../../support/until.js';
import { applyChange, contextOf, decideChange, engine, openSession, runSteps, stepsOf } from './online.js';

const request = { cause: CAUSE };

/** A change as a command. */
type Named = { [N in OperationName]: [N, CommandOf<N>] }[OperationName];

const updated = (collection: string, name: string, schema: object): Named => [
  'update-fields',
  command('update-fields', { collection, field: name, body: { schema }, concurrentIndexes: false }),
];

const createRelation = (on_delete: string): Named => [
  'create-relation',
  command('create-relation', {
    body: { collection: 'books', field: 'author', related_collection: 'authors', schema: { on_delete } },
  }),
];

const retyped = (): Named => [
  'update-fields',
  command('update-fields', {
    collection: 'books',
    field: 'author',
    body: { type: 'bigInteger' },
    concurrentIndexes: false,
  }),
];

/** Keyed by preparation: the change and the kinds of its steps. */
const ROWS: readonly [what: string, change: () => Named, kinds: string[]][] = [
  ['NOT NULL', () => updated('books', 'title', { is_nullable: false }), ['add', 'validate']],
  ['unique', () => updated('books', 'isbn', { is_unique: true }), ['index']],
  ['an index', () => updated('books', 'title', { is_indexed: true }), ['index']],
  ['a foreign key', () => createRelation('CASCADE'), ['add', 'validate']],
];

describe('preparation steps', () => {
  let database: TestDatabase;
  let instance: Instance;
  let session: pg.Client;

  beforeEach(async () => {
    database = await createDatabase('migrated');
    instance = await startInstance(database.connectionString);
    session = await openSession(database.connectionString);
    const execute = async (body: CommandOf<'create-collection'>) =>
      expectDone(await instance.pipeline.apply('create-collection', body, request));
    await execute(table('authors', [field('name')]));
    await execute(table('books', [field('title'), field('isbn'), field('author', 'integer')]));
    await instance.pool.query(`INSERT INTO authors (name) SELECT 'a' || i FROM generate_series(1, 50) i`);
    await instance.pool.query(
      `INSERT INTO books (title, isbn, author) SELECT 't' || i, i, 1 + i % 50 FROM generate_series(1, 500) i`,
    );
  });
  afterEach(async () => {
    await session.end();
    await instance.stop();
    await database.drop();
  });

  const lines = () => catalogText(session, 'public');

  const plainly = async (change: Named): Promise<string[]> => {
    const other = await createDatabase('migrated');
    const plain = await startInstance(other.connectionString);
    try {
      for (const name of ['authors', 'books']) {
        const fields =
          name === 'authors' ? [field('name')] : [field('title'), field('isbn'), field('author', 'integer')];
        expectDone(await plain.pipeline.apply('create-collection', table(name, fields), request));
      }
      expectDone(await plain.pipeline.apply(change[0], change[1], request));
      const client = await plain.pool.connect();
      try {
        return await catalogText(client, 'public');
      } finally {
        client.release();
      }
    } finally {
      await plain.stop();
      await other.drop();
    }
  };

  for (const [what, change, kinds] of ROWS) {
    it(`leave ${what} exactly like a plain change`, async () => {
      const [name, body] = change();
      const online = decideChange(instance, name, body as never);
      const steps = await stepsOf(instance, online);
      expect(steps.map(({ kind }) => kind)).to.deep.equal(kinds);
      await runSteps(session, online, steps);
      // Again, like a process that does not know the progress of another.
      await runSteps(session, online, steps);
      await applyChange(session, online, steps);
      expect(await lines()).to.deep.equal(await plainly(change()));
      await session.query('BEGIN');
      expect(await verifyCatalog(session, online.after, 'public')).to.deep.equal([]);
      await session.query('ROLLBACK');
    });

    it(`are not drift during their request, and drift with a repair afterwards: ${what}`, async () => {
      const [name, body] = change();
      const online = decideChange(instance, name, body as never);
      const steps = await stepsOf(instance, online);
      await runSteps(session, online, steps);
      const countOrphans = async () => {
        await session.query('BEGIN');
        const { tables } = await findDrift(session, online.before, { schema: 'public' });
        await session.query('ROLLBACK');
        return tables.flatMap(({ differences }) => differences);
      };
      await session.query(
        `CREATE TABLE IF NOT EXISTS service.service_preparations (request uuid, number int, step jsonb)`,
      );
      await session.query(`INSERT INTO service.service_preparations (request, number, step) VALUES ($1, 1, '{}')`, [
        online.id,
      ]);
      expect(await countOrphans()).to.deep.equal([]);
      expect(await findOrphans(session)).to.deep.equal([]);
      await session.query('DELETE FROM service.service_preparations');
      const differences = await countOrphans();
      expect(differences).to.have.length(1);
      expect(differences[0]?.expected).to.equal(null);
      const orphans = await findOrphans(session);
      expect(orphans.map(({ request }) => request)).to.deep.equal([online.id]);
      await session.query('BEGIN');
      for (const { sql } of differences[0]?.repair.database ?? []) await session.query(sql);
      expect(await verifyCatalog(session, online.before, 'public')).to.deep.equal([]);
      await session.query('ROLLBACK');
      for (const { repair } of orphans) await session.query(repair);
      expect(await countOrphans()).to.deep.equal([]);
    });

    it(`leave nothing of ${what} when withdrawn`, async () => {
      const before = await lines();
      const [name, body] = change();
      const online = decideChange(instance, name, body as never);
      await runSteps(session, online, await stepsOf(instance, online));
      expect(await lines()).not.to.deep.equal(before);
      const context = { id: online.id, session, schema: 'public', signal: new AbortController().signal };
      await engine.cleanUp(context);
      expect(await lines()).to.deep.equal(before);
      await engine.cleanUp(context);
    });

    it(`are checked again under the lock: ${what}`, async () => {
      const [name, body] = change();
      const online = decideChange(instance, name, body as never);
      const steps = await stepsOf(instance, online);
      await runSteps(session, online, steps.slice(0, -1));
      const error = await applyChange(session, online, steps).catch((thrown: unknown) => thrown);
      expect((error as { cause: { code: string } }).cause.code).to.equal(PREPARATION_LOST);
    });
  }

  /** Keyed by change: PostgreSQL's error and the reported rows. */
  const REFUSALS: [string, () => Named, string, RegExp][] = [
    [
      'NOT NULL',
      () => updated('books', 'title', { is_nullable: false }),
      'UPDATE books SET title = NULL WHERE id < 4',
      /contains null values \(3 rows are null\)/,
    ],
    [
      'unique',
      () => updated('books', 'isbn', { is_unique: true }),
      `UPDATE books SET isbn = 'x' WHERE id < 4`,
      /books_isbn_unique.*1 value occurs more than once/,
    ],
    [
      'a foreign key',
      () => createRelation('CASCADE'),
      'UPDATE books SET author = 99 WHERE id < 4',
      /books_author_foreign.*3 rows have no referenced row/,
    ],
  ];

  for (const [what, change, rows, message] of REFUSALS) {
    it(`reject ${what} with the violating rows, and leave nothing`, async () => {
      await instance.pool.query(rows);
      const before = await lines();
      const [name, body] = change();
      const online = decideChange(instance, name, body as never);
      const steps = await stepsOf(instance, online);
      const error = await runSteps(session, online, steps).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(PreparationRefused);
      expect((error as PreparationRefused).problems[0]?.message).to.match(message);
      await engine.cleanUp({ id: online.id, session, schema: 'public', signal: new AbortController().signal });
      expect(await lines()).to.deep.equal(before);
    });
  }

  it('rebuild an index of a killed process and keep a valid one', async () => {
    const [name, body] = updated('books', 'isbn', { is_unique: true });
    const online = decideChange(instance, name, body as never);
    const steps = await stepsOf(instance, online);
    const [build] = steps as unknown as [EngineStep];
    const index = preparedName(online.id, build.prepared.key);
    await instance.pool.query('UPDATE books SET isbn = id % 2');
    const broken = session.query(`CREATE UNIQUE INDEX CONCURRENTLY "${index}" ON books (isbn)`);
    expect(await broken.catch(({ code }: { code: string }) => code)).to.equal('23505');
    await instance.pool.query('UPDATE books SET isbn = id');
    const orphanCount = async () => {
      const { rows } = await session.query<{ oid: number; valid: boolean }>(
        `SELECT indexrelid AS oid, indisvalid AS valid FROM pg_index WHERE indexrelid = $1::regclass`,
        [`"${index}"`],
      );
      return rows[0];
    };
    const before = await orphanCount();
    expect(before?.valid).to.equal(false);
    await runSteps(session, online, steps);
    const built = await orphanCount();
    expect(built?.valid).to.equal(true);
    await runSteps(session, online, steps);
    expect(await orphanCount()).to.deep.equal(built);
  });

  it('accept composite values with null attributes as NOT NULL', async () => {
    await instance.pool.query('CREATE TYPE place AS (street text, number int)');
    const shops = table('shops', [field('place', 'unknown', { data_type: 'place' })]);
    expectDone(await instance.pipeline.apply('create-collection', shops, request));
    await instance.pool.query(`INSERT INTO shops (place) VALUES (ROW('Side', NULL)), (ROW(NULL, NULL))`);
    const [name, body] = updated('shops', 'place', { is_nullable: false });
    const online = decideChange(instance, name, body as never);
    // Releases before PostgreSQL 18 prepare NOT NULL with a check.
    const steps = (await stepsOf(instance, online)).map((step) => ({ ...step, notNullBy: 'check' as const }));
    await runSteps(session, online, steps);
    await applyChange(session, online, steps);
    const { rows } = await session.query(`SELECT attnotnull AS required FROM pg_attribute
      WHERE attrelid = 'shops'::regclass AND attname = 'place'`);
    expect(rows).to.deep.equal([{ required: true }]);
  });

  it('wait for an endless transaction, name it, and block no other session', async () => {
    const application = await openSession(database.connectionString);
    await application.query(`SET application_name = 'shop'; BEGIN; SELECT FROM books LIMIT 1`);
    const [name, body] = updated('books', 'title', { is_nullable: false });
    const online = decideChange(instance, name, body as never);
    const [add] = (await stepsOf(instance, online)) as [PreparationStep];
    const received: string[] = [];
    const progress = ({ waiting_for = [] }: Partial<StepProgress>): void => {
      received.push(...waiting_for.map((each) => each.application));
    };
    const running = engine.runStep(contextOf(session, online, add, { progress }), add);
    await until('the warning names the application in the way', () => Promise.resolve(received.includes('shop')));
    await instance.pool.query('SELECT FROM books LIMIT 1');
    await application.query('COMMIT');
    await application.end();
    await running;
  });

  it('are rejected if PostgreSQL does not support them', async () => {
    const type = decideChange(instance, ...(retyped() as ['update-fields', never]));
    const preparation = await engine.planPreparation(instance.pool, type);
    expect(preparation).to.have.property('kind', 'not possible');
    if (preparation.kind === 'not possible') expect(preparation.problems[0]?.code).to.equal('ONLINE_NOT_POSSIBLE');
  });

  it('do not exist for small tables', async () => {
    const usual = createPreparationEngine({ lockWait: 100 });
    const [name, body] = updated('books', 'title', { is_nullable: false });
    expect(await usual.planPreparation(instance.pool, decideChange(instance, name, body as never))).to.deep.equal({
      kind: 'nothing',
    });
  });
});
