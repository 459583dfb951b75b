import pg from 'pg';
import { expect } from 'chai';
import { defaultServiceSchema } from '../../src/postgres/own-tables.js';
import { verifyChain } from '../../src/log/verification.js';
import { logChannel } from '../../src/postgres/locked-session.js';
import { createPool } from '../../src/postgres/pool.js';
import type { CommandOf } from '../../src/schema/operations/index.js';
import { snapshotHash } from '../../src/schema/snapshot/snapshot.js';
import { until } from '../support/until.js';
import { type TestDatabase, createDatabase } from '../support/postgres.js';
import {
  CAUSE,
  type Instance,
  command,
  expectDone,
  field,
  refusedWith,
  silent,
  startInstance,
  table,
} from '../support/instance.js';
import { runToEnd } from '../../src/kernel/resumable.js';

for (const schema of ['public', 'other "schema"']) {
  describe(`the pipeline in the schema ${schema}`, () => {
    let database: TestDatabase;
    const ours = pg.escapeIdentifier(defaultServiceSchema(schema));
    let instance: Instance;

    before(async () => {
      database = await createDatabase();
      instance = await startInstance(database.connectionString, { schema });
    });

    after(async () => {
      await instance.stop();
      await database.drop();
    });

    const create = (input: CommandOf<'create-collection'>) =>
      instance.pipeline.apply('create-collection', input, { cause: CAUSE });

    const query = async <T extends object>(text: string, values: unknown[] = []): Promise<T[]> =>
      (await instance.pool.query<T>(text, values)).rows;

    const logged = async (): Promise<number> =>
      (await query<{ count: number }>(`SELECT count(*) AS count FROM ${ours}.service_events`))[0]?.count ?? -1;

    const exists = async (name: string): Promise<boolean> =>
      (await query('SELECT FROM pg_tables WHERE schemaname = $1 AND tablename = $2', [schema, name])).length === 1;

    it('writes event, table, rows, checkpoint and notification in one transaction', async () => {
      const listener = await instance.pool.connect();
      const news: string[] = [];
      listener.on('notification', ({ payload }) => news.push(payload ?? ''));
      await listener.query(`LISTEN ${logChannel(schema)}`);
      const cause = { ...CAUSE, reason: 'because', request_id: 'r1', ip: '::1', user_agent: 'test' };
      const name = `it's "a" table`;
      const input = table(name, [field('title', 'string', { max_length: 40 })]);
      const outcome = expectDone(await instance.pipeline.apply('create-collection', input, { cause }));
      expect(outcome.before.collections.has(name)).to.equal(false);
      expect(outcome.state).to.equal(instance.store.current());
      expect(outcome.position).to.equal(outcome.state.position);
      expect(outcome.events).to.have.length(1);
      expect(outcome.events[0]).to.include({
        position: 1,
        type: 'collection.created',
        collection: name,
        reason: 'because',
      });
      expect(await exists(name)).to.equal(true);
      expect(await query(`SELECT collection FROM ${ours}.service_collections`)).to.deep.equal([{ collection: name }]);
      expect(await query(`SELECT field FROM ${ours}.service_fields ORDER BY 1`)).to.deep.equal([
        { field: 'id' },
        { field: 'title' },
      ]);
      expect(await query(`SELECT name, position FROM ${ours}.service_projections ORDER BY 1`)).to.deep.equal([
        { name: 'change-requests', position: 1 },
        { name: 'metadata', position: 1 },
        { name: 'tables', position: 1 },
        { name: 'trash', position: 1 },
      ]);
      await until('the news are heard', () => news.length > 0);
      expect(news).to.deep.equal(['1']);
      listener.release(true);
    });

    it('writes nothing for a rejected command', async () => {
      const before = await logged();
      await create(table('taken'));
      const outcome = await create(table('taken'));
      expect(refusedWith(outcome)).to.equal('ALREADY_EXISTS');
      expect(await logged()).to.equal(before + 1);
    });

    it('writes nothing for a command that changes nothing', async () => {
      const before = await logged();
      const update = command('update-collection', { collection: 'taken', body: { meta: { note: null } } });
      const outcome = expectDone(await instance.pipeline.apply('update-collection', update, { cause: CAUSE }));
      expect(outcome.events).to.deep.equal([]);
      expect(outcome.state).to.equal(outcome.before);
      expect(outcome.position).to.equal(before);
      expect(await logged()).to.equal(before);
    });

    it('rolls back completely if PostgreSQL rejects a statement, and reports it', async () => {
      await create(table('filled'));
      await query(`INSERT INTO filled DEFAULT VALUES`);
      const before = await logged();
      const input = command('create-field', {
        collection: 'filled',
        body: { field: 'needed', type: 'string', schema: { is_nullable: false } },
        concurrentIndexes: false,
      });
      const outcome = await instance.pipeline.apply('create-field', input, { cause: CAUSE });
      expect(refusedWith(outcome)).to.equal('DATABASE_REFUSED');
      const problem = outcome.kind === 'refused' ? outcome.problems[0] : undefined;
      expect(problem).to.include({ collection: 'filled', field: 'needed' });
      expect(problem?.details).to.include({ sqlstate: '23502', event: 0 });
      expect(problem?.message).to.not.match(/ALTER TABLE|SELECT/);
      expect(await logged()).to.equal(before);
      expect(instance.store.current().position).to.equal(before);
      expectDone(await create(table('afterwards')));
    });

    it('rejects the name of an unmanaged table, and suggests adopt', async () => {
      await query(`CREATE TABLE unmanaged (a int); CREATE SEQUENCE counter; CREATE SEQUENCE ticks`);
      const outcome = await create(table('unmanaged'));
      expect(refusedWith(outcome)).to.equal('ALREADY_EXISTS');
      const problem = outcome.kind === 'refused' ? outcome.problems[0] : undefined;
      expect(problem?.collection).to.equal('unmanaged');
      expect(problem?.message).to.include('Adopt it');
      expect(refusedWith(await create(table('counter')))).to.equal('ALREADY_EXISTS');
      const folder = (collection: string) =>
        command('create-collection', { body: { collection, schema: null }, concurrentIndexes: false });
      // A table of that name would be hidden, a sequence would not.
      expect(refusedWith(await create(folder('unmanaged')))).to.equal('ALREADY_EXISTS');
      expectDone(await create(folder('ticks')));
    });

    it('compares If-Match with the schema under the lock', async () => {
      const hash = runToEnd(snapshotHash(instance.store.current(), '1.2.3'));
      const request = { cause: CAUSE, ifMatch: hash };
      expectDone(await instance.pipeline.apply('create-collection', table('matched'), request));
      const stale = await instance.pipeline.apply('create-collection', table('stale'), request);
      expect(refusedWith(stale)).to.equal('PRECONDITION_FAILED');
      expect(await exists('stale')).to.equal(false);
    });

    it('runs a dry run in PostgreSQL and leaves nothing', async () => {
      const before = await logged();
      const plan = await instance.pipeline.dryRun('create-collection', table('tried', [field('a')]), { cause: CAUSE });
      if (plan.kind !== 'planned') throw new Error('refused');
      expect(plan.accepted).to.equal(true);
      expect(plan.events.map((event) => event.type)).to.deep.equal(['collection.created']);
      expect(plan.statements.map((statement) => statement.summary)[0]).to.include('tried');
      expect(await exists('tried')).to.equal(false);
      expect(await logged()).to.equal(before);
      const clash = await instance.pipeline.dryRun('create-collection', table('counter'), { cause: CAUSE });
      expect(clash).to.include({ kind: 'planned', accepted: false });
      expect(clash.kind === 'planned' && clash.refusal?.code).to.equal('ALREADY_EXISTS');
      const refused = await instance.pipeline.dryRun('create-collection', table('taken'), { cause: CAUSE });
      expect(refusedWith(refused)).to.equal('ALREADY_EXISTS');
    });

    it('decides against the head, regardless of how far another process has advanced it', async () => {
      const other = await startInstance(database.connectionString, { schema });
      for (let round = 0; round < 250; round += 1) {
        const update = command('update-collection', {
          collection: 'taken',
          body: { meta: { note: `round ${round}` } },
        });
        expectDone(await other.pipeline.apply('update-collection', update, { cause: CAUSE }));
      }
      expectDone(await other.pipeline.apply('create-collection', table('elsewhere'), { cause: CAUSE }));
      await other.stop();
      expect(refusedWith(await create(table('elsewhere')))).to.equal('ALREADY_EXISTS');
      expect(instance.store.current().position).to.equal(await logged());
    });

    it('folds again after the database was restored, and continues after the acknowledgement', async () => {
      const kept = instance.store.point();
      await query(`ALTER TABLE ${ours}.service_events DISABLE TRIGGER ALL`);
      await query(
        `DELETE FROM ${ours}.service_events WHERE position = (SELECT max(position) FROM ${ours}.service_events)`,
      );
      await query(`ALTER TABLE ${ours}.service_events ENABLE TRIGGER ALL`);
      await query(`DROP TABLE elsewhere; `);
      await query(`DELETE FROM ${ours}.service_collections WHERE collection = 'elsewhere'`);
      await query(`DELETE FROM ${ours}.service_fields WHERE collection = 'elsewhere'`);
      expect(refusedWith(await create(table('elsewhere')))).to.equal('LOG_DIVERGED');
      const { position: acknowledged, divergences } = await instance.pipeline.acknowledge(CAUSE);
      expect(acknowledged).to.equal(kept.head.position);
      expect(divergences.map(({ seen }) => seen.hash)).to.deep.equal([kept.head.hash]);
      const { position } = expectDone(await create(table('elsewhere')));
      expect(position).to.equal(kept.head.position + 1);
      expect(instance.store.point().head.hash).to.not.equal(kept.head.hash);
    });

    it('runs other work under its lock with the state at the head', async () => {
      const seen = await instance.pipeline.underLock(async (client, point) => {
        const { rows } = await client.query<{ position: number }>(
          `SELECT max(position) AS position FROM ${ours}.service_events`,
        );
        await client.query(`INSERT INTO ${ours}.service_settings VALUES ('seen', '1')`);
        return [point.head.position, point.state.position, rows[0]?.position];
      });
      expect(new Set(seen).size).to.equal(1);
      expect(await query(`SELECT FROM ${ours}.service_settings WHERE key = 'seen'`)).to.have.length(1);
      const error = await instance.pipeline
        .underLock(async (client) => {
          await client.query(`DELETE FROM ${ours}.service_settings WHERE key = 'seen'`);
          throw new Error('no');
        })
        .catch((thrown: unknown) => thrown);
      expect((error as Error).message).to.equal('no');
      expect(await query(`SELECT FROM ${ours}.service_settings WHERE key = 'seen'`)).to.have.length(1);
    });

    it('never writes a time before that of an earlier event', async () => {
      const slow = await startInstance(database.connectionString, { schema, clock: () => new Date('2001-01-01') });
      const { events } = expectDone(await slow.pipeline.apply('create-collection', table('late'), { cause: CAUSE }));
      await slow.stop();
      expect(events[0]?.occurred_at.startsWith('20')).to.equal(true);
      expect(new Date(events[0]?.occurred_at ?? 0).getFullYear()).to.be.greaterThan(2001);
    });

    it('leaves an intact chain', async () => {
      expect(await verifyChain(instance.pool)).to.include({ ok: true, checked: await logged() });
    });

    it('leaves no connection inside a transaction', async () => {
      const pool = createPool({
        connectionString: database.connectionString,
        schema,
        serviceSchema: defaultServiceSchema(schema),
        max: 1,
        logger: silent,
      });
      const { rows } = await pool.query(
        `SELECT state, query FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in%'`,
      );
      expect(rows).to.deep.equal([]);
      await pool.end();
    });
  });
}
