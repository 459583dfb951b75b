import { expect } from 'chai';
import type pg from 'pg';
import { reconcileIndex } from '../../../src/projector/indexes/catch-up.js';
import { initialState, type State } from '../../../src/schema/model/state.js';
import { follow } from '../../support/given.js';
import { type TestDatabase, createDatabase } from '../../support/postgres.js';
import { until } from '../../support/until.js';
import { openSession } from '../online/online.js';
import { column, created } from '../columns.js';

const indexed = (schema: object = {}): State =>
  follow(initialState(), [created('t', [column('a', 'integer', { is_indexed: true, ...schema })])]);
const DESIRED = indexed();
const GIVEN_UP = follow(initialState(), [created('t', [column('a', 'integer')])]);
const NAMED = indexed({ extras: { index_name: 'other' } });

describe('a deferred index', () => {
  let database: TestDatabase;
  let client: pg.Client;
  let other: pg.Client;

  before(async () => {
    database = await createDatabase('migrated');
    client = await openSession(database.connectionString);
    other = await openSession(database.connectionString);
  });
  after(async () => {
    await client.end();
    await other.end();
    await database.drop();
  });
  beforeEach(() => client.query('DROP TABLE IF EXISTS t; CREATE TABLE t (id integer, a integer)'));

  /** @param states the log's states at each check; the last one repeats */
  function reconciled(...states: [State, ...State[]]) {
    const all = [...states];
    const currentState = () => Promise.resolve((all.length > 1 ? all.shift() : all[0]) as State);
    const target = { collection: 't', field: 'a', position: 0 };
    return reconcileIndex({ client, schema: 'public', currentState }, target);
  }
  const indexes = async (): Promise<string[]> => {
    const text = `SELECT indexname AS name FROM pg_indexes WHERE tablename = 't' ORDER BY 1`;
    const { rows } = await client.query<{ name: string }>(text);
    return rows.map(({ name }) => name);
  };

  it('is built once and dropped once', async () => {
    expect([await reconciled(DESIRED), await indexes()]).to.deep.equal(['built', ['t_a_index']]);
    expect([await reconciled(DESIRED), await indexes()]).to.deep.equal(['as it should be', ['t_a_index']]);
    expect([await reconciled(GIVEN_UP), await indexes()]).to.deep.equal(['dropped', []]);
    expect([await reconciled(GIVEN_UP), await indexes()]).to.deep.equal(['as it should be', []]);
  });

  it('is dropped again if it was removed during its build', async () => {
    expect([await reconciled(DESIRED, GIVEN_UP), await indexes()]).to.deep.equal(['dropped', []]);
  });

  it('is built again if it was renamed during its build', async () => {
    expect([await reconciled(DESIRED, NAMED), await indexes()]).to.deep.equal(['built', ['other']]);
  });

  it('is not dropped if a change that was committed in the meantime created it again', async () => {
    await client.query('CREATE INDEX t_a_index ON t (a)');
    const later = { ...DESIRED, position: DESIRED.position + 1 };
    expect([await reconciled(GIVEN_UP, later), await indexes()]).to.deep.equal(['as it should be', ['t_a_index']]);
    const dropped = [await reconciled(GIVEN_UP, GIVEN_UP, later), await indexes()];
    expect(dropped).to.deep.equal(['built', ['t_a_index']]);
  });

  it('is built under a lock with a short wait for a partitioned table', async () => {
    await client.query('DROP TABLE t; CREATE TABLE t (id integer, a integer) PARTITION BY RANGE (id)');
    await other.query('BEGIN; LOCK TABLE t IN ROW EXCLUSIVE MODE');
    const building = reconciled(DESIRED);
    const waits = `SELECT FROM pg_locks WHERE NOT granted AND relation = 't'::regclass`;
    const isWaiting = async () => (await other.query(waits)).rowCount !== 0;
    await until('it waits', isWaiting);
    await until('it has given up for now', async () => !(await isWaiting()));
    await other.query('COMMIT');
    expect([await building, await indexes()]).to.deep.equal(['built', ['t_a_index']]);
    expect(client.getTransactionStatus()).to.equal('I');
    expect((await client.query('SHOW lock_timeout')).rows).to.deep.equal([{ lock_timeout: '0' }]);
  });

  it("is rejected with PostgreSQL's error and leaves no transaction", async () => {
    await client.query('DROP TABLE t; CREATE TABLE t (id integer, a json) PARTITION BY RANGE (id)');
    const error = await reconciled(DESIRED).catch((thrown: unknown) => thrown);
    expect(error).to.have.property('code', '42704');
    expect(client.getTransactionStatus()).to.equal('I');
  });
});
