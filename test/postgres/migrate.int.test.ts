import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { defaultServiceSchema } from '../../src/postgres/own-tables.js';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { OperatorError } from '../../src/kernel/problem.js';
import { advisoryKey } from '../../src/postgres/locked-session.js';
import { readDatabase } from '../../src/postgres/server.js';
import { migrate, listMigrations, findMissingMigrations, findNewestMigration } from '../../src/postgres/migrate.js';
import { createPool } from '../../src/postgres/pool.js';
import { silent } from '../support/instance.js';
import { type TestDatabase, asSuperuser, createDatabase } from '../support/postgres.js';

describe('migrate', () => {
  let database: TestDatabase;

  beforeEach(async () => {
    database = await createDatabase();
  });

  afterEach(() => database.drop());

  async function onPool<T>(
    schema: string,
    work: (pool: ReturnType<typeof createPool>) => Promise<T>,
    serviceSchema = defaultServiceSchema(schema),
  ): Promise<T> {
    const pool = createPool({
      connectionString: database.connectionString,
      schema,
      serviceSchema,
      max: 2,
      logger: silent,
    });
    try {
      return await work(pool);
    } finally {
      await pool.end();
    }
  }

  const start = (schema: string, directory?: URL): Promise<void> =>
    onPool(schema, async (pool) =>
      migrate({
        pool,
        schema,
        serviceSchema: defaultServiceSchema(schema),
        database: await readDatabase(pool),
        logger: silent,
        ...(directory && { directory }),
      }),
    );

  it('lets 20 processes start at once on an empty database', async () => {
    await Promise.all(Array.from({ length: 20 }, () => start('public')));
    const applied = await onPool('public', (pool) =>
      pool.query('SELECT number FROM service.service_migrations ORDER BY 1'),
    );
    const numbers = applied.rows.map((row: { number: number }) => row.number);
    expect(numbers).to.deep.equal(numbers.map((_, index) => index + 1));
    expect(numbers).to.not.equal([]);
  });

  it('changes nothing the second time', async () => {
    await start('public');
    const before = await onPool('public', (pool) => pool.query('SELECT * FROM service.service_migrations'));
    await start('public');
    const after = await onPool('public', (pool) => pool.query('SELECT * FROM service.service_migrations'));
    expect(after.rows).to.deep.equal(before.rows);
  });

  it('waits for no running change the second time', async () => {
    await start('public');
    await onPool('public', async (pool) => {
      const client = await pool.connect();
      try {
        const key = advisoryKey({ database: (await readDatabase(pool)).database, schema: 'public' }, 'log');
        await client.query('BEGIN');
        await client.query('SELECT pg_advisory_xact_lock($1)', [key]);
        await start('public');
        await client.query('ROLLBACK');
      } finally {
        client.release();
      }
    });
  });

  it('works in another schema, which it creates, and together with one in public', async () => {
    const schema = 'An "odd\\ schéma';
    await Promise.all([start(schema), start('public'), start(schema)]);
    const { rows } = await onPool(schema, (pool) =>
      pool.query(`SELECT schemaname FROM pg_tables WHERE tablename = 'service_events' ORDER BY 1`),
    );
    expect(rows.map((row: { schemaname: string }) => row.schemaname)).to.have.members([`service_${schema}`, 'service']);
  });

  for (const { title, places } of [
    {
      title: 'takes one schema for their own tables',
      places: [
        ['a', 'own'],
        ['b', 'own'],
        ['c', 'own'],
      ],
    },
    {
      title: 'manages what the other takes for its own tables',
      places: [
        ['a', 'b'],
        ['b', 'a'],
      ],
    },
  ] as const) {
    it(`lets one of several services begin where each ${title}`, async () => {
      for (let round = 0; round < 4; round++) {
        await database.drop();
        database = await createDatabase();
        const starts = places.map(async ([schema, serviceSchema]) =>
          onPool(
            schema,
            async (pool) => {
              const where = await readDatabase(pool);
              // If the schemas exist, only their tables show which service owns them.
              if (round % 2 === 0) await pool.query('CREATE SCHEMA IF NOT EXISTS own').catch(() => undefined);
              await migrate({ pool, schema, serviceSchema, database: where, logger: silent });
            },
            serviceSchema,
          ),
        );
        const ended = await Promise.allSettled(starts);
        const errors = ended.flatMap((each) => (each.status === 'rejected' ? [each.reason as Error] : []));
        expect(errors).to.have.length(places.length - 1);
        for (const error of errors) {
          expect(error, error.message).to.be.instanceOf(OperatorError);
          expect(error.message).to.match(
            /belongs to a service|contains the tables of a service|does not belong to the service/,
          );
        }
      }
    });
  }

  it('rejects a database of a newer release in one sentence', async () => {
    await start('public');
    await onPool('public', (pool) =>
      pool.query(`INSERT INTO service.service_migrations VALUES (4711, '4711_future.sql')`),
    );
    const error = await start('public').catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(OperatorError);
    expect((error as Error).message).to.match(/newer release.*4711/);
  });

  it('rejects a schema without privileges instead of using another one', async () => {
    await asSuperuser(
      database.connectionString,
      'CREATE SCHEMA closed',
      `DO $$ BEGIN CREATE ROLE dps_test_stranger LOGIN PASSWORD 'x';
        EXCEPTION WHEN duplicate_object THEN NULL; END $$`,
      'GRANT CREATE ON SCHEMA public TO dps_test_stranger',
    );
    const url = new URL(database.connectionString);
    url.username = 'dps_test_stranger';
    url.password = 'x';
    const pool = createPool({
      connectionString: url.href,
      schema: 'closed',
      serviceSchema: 'service_closed',
      max: 1,
      logger: silent,
    });
    try {
      const place = await readDatabase(pool);
      const error = await migrate({
        pool,
        schema: 'closed',
        serviceSchema: 'service_closed',
        database: place,
        logger: silent,
      }).catch((e: unknown) => e);
      expect(error).to.be.instanceOf(OperatorError);
      expect((error as Error).message).to.match(/"closed".*USAGE/);
    } finally {
      await pool.end();
      await asSuperuser(database.connectionString, 'DROP OWNED BY dps_test_stranger', 'DROP ROLE dps_test_stranger');
    }
  });

  it('applies a migration completely or not at all, and resumes', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'dps-migrations-'));
    const url = pathToFileURL(`${directory}/`);
    try {
      await writeFile(new URL('0001_first.sql', url), 'CREATE TABLE first (a int)');
      await writeFile(new URL('0002_second.sql', url), 'CREATE TABLE second (a int); SELECT 1/0');
      const error = await start('public', url).catch((thrown: unknown) => thrown);
      expect((error as Error).message)
        .to.include('0002_second.sql')
        .and.include('division by zero');
      const tables = await onPool('public', (pool) =>
        pool.query(`SELECT to_regclass('first') IS NOT NULL AS first, to_regclass('second') IS NOT NULL AS second`),
      );
      expect(tables.rows).to.deep.equal([{ first: true, second: false }]);
      await writeFile(new URL('0002_second.sql', url), 'CREATE TABLE second (a int)');
      await start('public', url);
    } finally {
      await rm(directory, { recursive: true });
    }
  });

  it('reports unmet requirements of a database, and changes nothing', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'dps-migrations-'));
    const url = pathToFileURL(`${directory}/`);
    const missing = (schema: string, serviceSchema = defaultServiceSchema(schema)): Promise<unknown> =>
      onPool(
        schema,
        async (pool) =>
          findMissingMigrations({
            pool,
            schema,
            serviceSchema,
            database: await readDatabase(pool),
            logger: silent,
            directory: url,
          }).catch((error: unknown) => (error as Error).message),
        serviceSchema,
      );
    try {
      await writeFile(new URL('0001_first.sql', url), 'CREATE TABLE first (a int)');
      await writeFile(new URL('notes.sql', url), 'not a migration');
      expect(await missing('public')).to.equal('does not contain a service yet');
      expect(await missing('public')).to.equal('does not contain a service yet');
      await start('public', url);
      expect(await missing('public')).to.equal(null);
      await writeFile(new URL('0002_second.sql', url), 'CREATE TABLE second (a int)');
      await writeFile(new URL('0003_third.sql', url), 'CREATE TABLE third (a int)');
      expect(await missing('public')).to.equal('is at migration 1, but this release needs 3');
      expect(await missing('crm', 'service')).to.match(/belongs to a service that manages the schema "public"/);
      await onPool('public', async (pool) => {
        expect(await listMigrations(pool, url)).to.deep.equal({ applied: 1, newest: 3 });
        await pool.query(`INSERT INTO service.service_migrations VALUES (4, '0004_future.sql')`);
      });
      expect(await missing('public')).to.equal(
        'A newer release of this service has migrated the database (migration 4; this release knows migrations up to 3). ' +
          'Start that release or a newer one.',
      );
      expect(await findNewestMigration(url)).to.equal(3);
    } finally {
      await rm(directory, { recursive: true });
    }
  });

  it('refuses to start if the managed schema is gone', async () => {
    await start('public');
    await onPool('public', (pool) => pool.query('CREATE SCHEMA crm'));
    await start('crm');
    const refusal = async (...statements: string[]): Promise<string> => {
      for (const statement of statements) await onPool('public', (pool) => pool.query(statement));
      const error = await start('crm').catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(OperatorError);
      return (error as Error).message;
    };
    expect(await refusal('DROP SCHEMA crm')).to.match(
      /^The schema "crm" no longer exists: someone renamed or dropped it outside the service\./,
    );
    expect(await refusal('CREATE SCHEMA crm', 'REVOKE ALL ON SCHEMA crm FROM CURRENT_USER')).to.equal(
      'The schema "crm" cannot be used: the database role needs the privileges USAGE and CREATE on it (and with DB_POOLER ' +
        'none, DATABASE_URL must not use a pooler).',
    );
  });
});
