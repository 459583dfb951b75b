import { expect } from 'chai';
import { SQLSTATE, sqlState } from '../../src/postgres/errors.js';
import { own } from '../../src/postgres/own-tables.js';
import { byName } from '../../src/schema/model/state.js';
import { isSystemCollection } from '../../src/schema/model/system-collections.js';
import { type Instance, CAUSE, expectDone, field, startInstance, table } from '../support/instance.js';
import { type TestDatabase, asSuperuser, createDatabase } from '../support/postgres.js';

describe("the service's own tables", () => {
  let database: TestDatabase;
  let instance: Instance;

  before(async () => {
    database = await createDatabase();
    instance = await startInstance(database.connectionString);
    expectDone(await instance.pipeline.apply('create-collection', table('notes', [field('title')]), { cause: CAUSE }));
  });

  after(async () => {
    await instance.stop();
    await database.drop();
  });

  for (const change of [
    `UPDATE service.service_events SET command = 'other'`,
    `UPDATE service.service_events SET command = command WHERE false`,
    'DELETE FROM service.service_events',
    'TRUNCATE service.service_events',
    `INSERT INTO service.service_events SELECT * FROM service.service_events ON CONFLICT (position) DO UPDATE SET command = 'other'`,
  ]) {
    it(`reject, even for the owner: ${change}`, async () => {
      const error = await instance.pool.query(change).catch((thrown: unknown) => thrown);
      expect(sqlState(error)).to.equal(SQLSTATE.insufficient_privilege);
      expect((error as Error).message).to.match(
        /^table "service_events" is append-only: (UPDATE|DELETE|TRUNCATE) is not allowed$/,
      );
    });
  }

  const ERASE = `UPDATE service.service_events SET actor = jsonb_build_object('id', actor -> 'id', 'name', NULL),
    reason = NULL, ip = NULL, user_agent = NULL, salt = NULL`;
  const erasing = async (...statements: string[]): Promise<unknown> => {
    const client = await instance.pool.connect();
    try {
      await client.query(`BEGIN; SET LOCAL service.erasure = 'on'`);
      for (const statement of statements) await client.query(statement);
      return undefined;
    } catch (error) {
      return error;
    } finally {
      await client.query('ROLLBACK');
      client.release();
    }
  };

  it('allow an erasure of personal data with its setting, and only as a whole', async () => {
    expect(await erasing(ERASE, ERASE)).to.equal(undefined);
    for (const change of [
      `UPDATE service.service_events SET reason = NULL, ip = NULL, user_agent = NULL, salt = NULL`,
      `${ERASE}, command = 'other'`,
      `${ERASE}, hash = previous_hash`,
      `${ERASE}, data = '{}'`,
      ERASE.replace(`actor -> 'id'`, `'other'`),
      ERASE.replace('salt = NULL', 'salt = salt'),
      ERASE.replace('reason = NULL', `reason = 'other'`),
    ]) {
      const error = await erasing(change);
      expect(sqlState(error), change).to.equal(SQLSTATE.insufficient_privilege);
      expect((error as Error).message).to.match(/an UPDATE that does more than erase personal data is not allowed$/);
    }
    for (const change of ['DELETE FROM service.service_events', 'TRUNCATE service.service_events'])
      expect(sqlState(await erasing(change)), change).to.equal(SQLSTATE.insufficient_privilege);
    const refused = await instance.pool.query(ERASE).catch((thrown: unknown) => thrown);
    expect((refused as Error).message).to.equal('table "service_events" is append-only: UPDATE is not allowed');
  });

  it('reject it in a session that replays replication', async () => {
    const replayed = ['SET session_replication_role = replica', 'DELETE FROM service.service_events'];
    const error = await asSuperuser(database.connectionString, ...replayed).catch((thrown: unknown) => thrown);
    expect((error as Error).message).to.match(/^table "service_events" is append-only: DELETE is not allowed$/);
  });

  it("match the domain's list of own tables", async () => {
    const { rows } = await instance.pool.query<{ tablename: string }>(
      `SELECT tablename FROM pg_tables WHERE schemaname = 'service' ORDER BY 1`,
    );
    const names = rows.map(({ tablename }) => tablename);
    expect(names.filter((name) => !isSystemCollection(name))).to.deep.equal([]);
    expect(names).to.deep.equal(
      Object.values(own)
        .map((name) => name.slice(1))
        .sort(byName),
    );
  });

  it('advance the accounts epoch with every account change', async () => {
    const epoch = async (): Promise<number> => {
      const { rows } = await instance.pool.query<{ epoch: number }>('SELECT epoch FROM service.service_auth_epoch');
      return rows[0]?.epoch ?? 0;
    };
    const before = await epoch();
    await instance.pool.query(
      `INSERT INTO service.service_users (id, email, name, role) VALUES (gen_random_uuid(), 'a@example.org', 'A', 'reader')`,
    );
    const first = await epoch();
    expect(first).to.be.greaterThan(before);
    await instance.pool.query(
      `INSERT INTO service.service_tokens (id, user_id, name, token_hash) SELECT gen_random_uuid(), id, 't', '\\x00' FROM service.service_users`,
    );
    await instance.pool.query(`DELETE FROM service.service_users`);
    // Not a fixed step: after a failover that lost these changes, other changes must yield another number.
    expect(await epoch())
      .to.be.greaterThan(first)
      .and.not.equal(first + 2 * (first - before));
    expect((await instance.pool.query('SELECT FROM service.service_tokens')).rowCount).to.equal(0);
  });

  it('accept only one user per e-mail address, regardless of case', async () => {
    const insert = (email: string) =>
      instance.pool.query(
        `INSERT INTO service.service_users (id, email, name, role) VALUES (gen_random_uuid(), $1, 'A', 'reader')`,
        [email],
      );
    await insert('Somebody@example.org');
    const error = await insert('somebody@EXAMPLE.org').catch((thrown: unknown) => thrown);
    expect(sqlState(error)).to.equal(SQLSTATE.unique_violation);
  });

  it('provide views of the documents', async () => {
    const collections = await instance.pool.query('SELECT * FROM service.service_v_collections');
    expect(collections.rows[0]).to.deep.include({ collection: 'notes', schema: { name: 'notes', comment: null } });
    expect((collections.rows[0] as { meta: object }).meta).to.include({ collection: 'notes', accountability: 'all' });
    const fields = await instance.pool.query<{ field: string; schema: object }>(
      'SELECT * FROM service.service_v_fields ORDER BY field',
    );
    expect(fields.rows.map((row) => row.field)).to.deep.equal(['id', 'title']);
    expect(fields.rows[1]?.schema).to.include({
      name: 'title',
      table: 'notes',
      data_type: 'character varying',
      is_generated: false,
      foreign_key_table: null,
      foreign_key_column: null,
    });
    const history = await instance.pool.query('SELECT type, collection, actor, command FROM service.service_v_history');
    expect(history.rows).to.deep.equal([
      { type: 'collection.created', collection: 'notes', actor: 'Ada', command: 'create-collection' },
    ]);
  });
});
