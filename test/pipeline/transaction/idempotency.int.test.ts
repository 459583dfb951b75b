import { expect } from 'chai';
import type { ClientBase } from 'pg';
import type { Idempotency } from '../../../src/pipeline/index.js';
import { type TestDatabase, createDatabase } from '../../support/postgres.js';
import {
  CAUSE,
  type Instance,
  command,
  expectDone,
  field,
  refusedWith,
  startInstance,
  table,
} from '../../support/instance.js';

describe('an idempotency key', () => {
  let database: TestDatabase;
  let instance: Instance;
  let twin: Instance;

  beforeEach(async () => {
    database = await createDatabase('migrated');
    [instance, twin] = await Promise.all([
      startInstance(database.connectionString),
      startInstance(database.connectionString),
    ]);
  });

  afterEach(async () => {
    await Promise.all([instance.stop(), twin.stop()]);
    await database.drop();
  });

  /** Returns the outcome as a response, with members in any order. */
  const idempotency = (key: string, requestHash = 'hash'): Idempotency => ({
    key,
    requestHash,
    render: (outcome) => ({
      status: outcome.kind === 'done' ? 200 : 409,
      headers: ['X-Log-Position', outcome.kind === 'done' ? String(outcome.position) : '-'],
      body: { zz: outcome.kind, a: outcome.kind === 'refused' ? (outcome.problems[0]?.code ?? '') : null },
    }),
  });

  const create = (name: string, kept: Idempotency, by = instance, cause = CAUSE) =>
    by.pipeline.apply('create-collection', table(name), { cause, idempotency: kept });

  const eventsOf = async (name: string): Promise<number> =>
    (await instance.pool.query('SELECT FROM service.service_events WHERE collection = $1', [name])).rowCount ?? 0;

  it('repeats the first response, member by member, without repeating the change', async () => {
    const { position } = expectDone(await create('once', idempotency('k1')));
    const again = await create('once', idempotency('k1'));
    expect(JSON.stringify(again)).to.equal(
      JSON.stringify({
        kind: 'replayed',
        status: 200,
        headers: ['X-Log-Position', String(position)],
        body: { zz: 'done', a: null },
      }),
    );
    expect(await eventsOf('once')).to.equal(1);
  });

  it('is rejected with a different request', async () => {
    expectDone(await create('mine', idempotency('k2')));
    expect(refusedWith(await create('yours', idempotency('k2', 'other hash')))).to.equal('IDEMPOTENCY_MISMATCH');
    expect(await eventsOf('yours')).to.equal(0);
  });

  it('belongs to its caller', async () => {
    expectDone(await create('by one', idempotency('k3')));
    const cause = { ...CAUSE, actor: { id: 'another', name: 'Another' } };
    expectDone(await create('by another', idempotency('k3'), instance, cause));
  });

  it('returns the stored rejection for a repeated request', async () => {
    expectDone(await create('once', idempotency('k1')));
    expect(refusedWith(await create('once', idempotency('k4')))).to.equal('ALREADY_EXISTS');
    const again = await create('once', idempotency('k4'), twin);
    expect(again).to.deep.include({ kind: 'replayed', status: 409, body: { zz: 'refused', a: 'ALREADY_EXISTS' } });
  });

  it('repeats a rejection by PostgreSQL, which left no change', async () => {
    expectDone(await create('once', idempotency('k1')));
    await instance.pool.query('INSERT INTO once DEFAULT VALUES');
    const body = field('needed', 'string', { is_nullable: false });
    const input = command('create-field', { collection: 'once', body, concurrentIndexes: false });
    const request = { cause: CAUSE, idempotency: idempotency('k5') };
    expect(refusedWith(await instance.pipeline.apply('create-field', input, request))).to.equal('DATABASE_REFUSED');
    expect(await instance.pipeline.apply('create-field', input, request)).to.include({
      kind: 'replayed',
      status: 409,
    });
    const { rowCount } = await instance.pool.query(
      `SELECT FROM information_schema.columns WHERE table_name = 'once' AND column_name = 'needed'`,
    );
    expect(rowCount).to.equal(0);
    expectDone(await create('after the savepoint', idempotency('k6')));
  });

  it('keeps nothing that a rejected command wrote while it was read', async () => {
    const WRITTEN = '0'.repeat(64);
    const writing = async (client: ClientBase) => {
      await client.query(`INSERT INTO service.service_documents (hash, content) VALUES ($1, '{}')`, [WRITTEN]);
      return { events: [] };
    };
    const request = { cause: CAUSE, ifMatch: 'another hash', idempotency: idempotency('k9') };
    expect(refusedWith(await instance.pipeline.apply('record', writing, request))).to.equal('PRECONDITION_FAILED');
    expect((await instance.pipeline.apply('record', writing, request)).kind).to.equal('replayed');
    const { rowCount } = await instance.pool.query(`SELECT FROM service.service_documents WHERE hash = $1`, [WRITTEN]);
    expect(rowCount).to.equal(0);
  });

  it('repeats the response of a command without changes', async () => {
    expectDone(await create('once', idempotency('k1')));
    const input = command('update-collection', { collection: 'once', body: { meta: {} } });
    const request = { cause: CAUSE, idempotency: idempotency('k7') };
    expect(expectDone(await instance.pipeline.apply('update-collection', input, request)).events).to.deep.equal([]);
    expect((await instance.pipeline.apply('update-collection', input, request)).kind).to.equal('replayed');
  });

  it('lets one of several equal requests run, on any process', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 12 }, (_, index) => create('twins', idempotency('k8'), index % 2 === 0 ? instance : twin)),
    );
    const kinds = outcomes.map((outcome) => outcome.kind);
    expect(kinds.filter((kind) => kind === 'done')).to.have.length(1);
    expect(kinds.filter((kind) => kind === 'replayed')).to.have.length(11);
    expect(await eventsOf('twins')).to.equal(1);
  });

  it('is reusable after a day, and then deleted', async () => {
    await instance.pool.query(`UPDATE service.service_idempotency SET created_at = created_at - interval '25 hours'`);
    expectDone(await create('a day later', idempotency('k1', 'other hash')));
    const { rows } = await instance.pool.query<{ key: string }>('SELECT key FROM service.service_idempotency');
    expect(rows.map((row) => row.key)).to.deep.equal(['k1']);
    expect((await create('a day later', idempotency('k1', 'other hash'))).kind).to.equal('replayed');
  });
});
