import { expect } from 'chai';
import pg from 'pg';
import { type Client, type Reply, clientOf, json } from '../support/client.js';
import { until } from '../support/until.js';
import { type TestDatabase, createDatabase } from '../support/postgres.js';
import { type Proxy, type Verdict, startProxy } from '../support/proxy.js';
import { type TestService, startService } from '../support/service.js';

/** Matches the statement, but not READ COMMITTED. */
const COMMIT = /commit\0/i;
/** Sent in one batch with the COMMIT, which is then a prepared statement. */
const TOKEN = 'token.created';
const CHANGED = 'account.updated';

describe('a request whose connection to the database goes silent', () => {
  let database: TestDatabase;
  let proxy: Proxy;
  let service: TestService;
  let client: Client;
  let beside: pg.Client;
  let admin: string;

  before(async () => {
    database = await createDatabase('migrated');
    proxy = await startProxy(database.connectionString);
    // Longer than a lock is held here, even on a busy machine.
    service = await startService({ DATABASE_URL: proxy.connectionString, LOCK_TIMEOUT: '15s' });
    client = clientOf(service);
    beside = new pg.Client(database.connectionString);
    await beside.connect();
    expect((await client('/collections', json({ collection: 'first', schema: {} }))).status).to.equal(200);
    const { rows } = await beside.query<{ id: string }>(`SELECT id FROM service.service_users WHERE role = 'admin'`);
    admin = rows[0]?.id ?? '';
  });
  afterEach(async () => {
    proxy.intercept(() => 'pass');
    proxy.answer('through');
    proxy.murmur(false);
    const { status, text } = await client('/collections', json({ collection: `t${Date.now()}`, schema: {} }));
    expect(status, text).to.equal(200);
  });
  after(async () => {
    await beside.end();
    await service.stop();
    await proxy.close();
    await database.drop();
  });

  /** Once, after these messages were sent in this order on one connection. */
  function interceptOnce(places: readonly (string | RegExp)[], verdict: Verdict): () => boolean {
    const left = [...places];
    let on: number | undefined;
    proxy.intercept((sent, connection) => {
      const text = sent.toString('latin1');
      if (left.length === 0 || (on ?? connection) !== connection) return 'pass';
      if (text.search(left[0] as string) >= 0) on = connection;
      while (left[0] !== undefined && text.search(left[0]) >= 0) left.shift();
      return left.length === 0 ? verdict : 'pass';
    });
    return () => left.length === 0;
  }

  interface Meanwhile {
    /** Another change waits until the silence is noticed, because it needs the queue or the log's lock. */
    isChangeWaiting?: boolean;
  }

  /**
   * The response to a request on a silent connection. Another read must succeed before the silence can be noticed,
   * and another change too, unless it must wait.
   */
  async function expectNoticed(
    request: () => Promise<Reply>,
    met: () => boolean,
    meanwhile: Meanwhile = {},
  ): Promise<Reply> {
    proxy.murmur(true);
    const pending = request();
    await until('the connection is silent', () => Promise.resolve(met()));
    const read = await client('/collections');
    expect(read.status, read.text).to.equal(200);
    const change = client('/fields/first', json({ field: `f${Date.now()}`, type: 'string' }));
    if (meanwhile.isChangeWaiting !== true) await change;
    proxy.murmur(false);
    const { status, text } = await change;
    expect(status, text).to.equal(200);
    return pending;
  }

  const rowsOf = async (text: string, values: unknown[]): Promise<number> =>
    (await beside.query(text, values)).rowCount ?? 0;
  const tokens = (name: string) => rowsOf('SELECT FROM service.service_tokens WHERE name = $1', [name]);
  const newToken = (name: string) => client(`/users/${admin}/tokens`, json({ name }));
  const login = () => {
    const { adminEmail: email, adminPassword: password } = service;
    return client('/auth/login', { ...json({ email, password }), token: null });
  };

  const expectAway = ({ status, codes, text }: Reply, says: RegExp = /Nothing was changed/): void => {
    expect([status, ...codes], text).to.deep.equal([503, 'UNAVAILABLE']);
    expect(text).to.match(says);
  };

  it('a login gets 503 when the user lookup loses its connection, and the next login succeeds', async () => {
    expectAway(await expectNoticed(login, interceptOnce(['password_hash'], 'fall silent')));
    expect((await login()).status).to.equal(200);
  });

  it('a login gets 503 when writing the session loses its connection, and no session exists', async () => {
    const count = () => rowsOf('SELECT FROM service.service_sessions', []);
    const before = await count();
    // This statement names the user for the first time. Its text is not sent if the connection has already prepared it.
    expectAway(await expectNoticed(login, interceptOnce([admin], 'fall silent')));
    expect(await count()).to.equal(before);
  });

  it('a new token gets 503 when its COMMIT does not arrive, and no token exists', async () => {
    expectAway(
      await expectNoticed(() => newToken('lost'), interceptOnce(['lost', TOKEN], 'fall silent'), {
        isChangeWaiting: true,
      }),
    );
    expect(await tokens('lost')).to.equal(0);
    expect((await newToken('lost')).status).to.equal(200);
  });

  it('a new token gets its response when its COMMIT has arrived, and the token exists', async () => {
    const answer = await expectNoticed(() => newToken('kept'), interceptOnce(['kept', TOKEN], 'pass and fall silent'), {
      isChangeWaiting: true,
    });
    expect(answer.status, answer.text).to.equal(200);
    expect(await tokens('kept')).to.equal(1);
    const { token } = (answer.json as { data: { token: string } }).data;
    expect((await client('/users/me', { token })).status).to.equal(200);
  });

  it('a changed user gets a response that matches the database', async () => {
    const body = { email: 'b@example.com', password: 'a long password', role: 'reader' };
    const created = await client('/users', json(body));
    expect(created.status, created.text).to.equal(200);
    const { id } = (created.json as { data: { id: string } }).data;
    const rename = (name: string) => client(`/users/${id}`, json({ name }, 'PATCH'));
    const named = (name: string) => rowsOf('SELECT FROM service.service_users WHERE name = $1', [name]);
    const kept = await expectNoticed(() => rename('Kept'), interceptOnce(['Kept', CHANGED], 'pass and fall silent'), {
      isChangeWaiting: true,
    });
    expect([kept.status, await named('Kept')], kept.text).to.deep.equal([200, 1]);
    expectAway(
      await expectNoticed(() => rename('Lost'), interceptOnce(['Lost', CHANGED], 'fall silent'), {
        isChangeWaiting: true,
      }),
    );
    expect(await named('Lost')).to.equal(0);
  });

  it('the response says that the outcome is unknown if the service cannot check it', async () => {
    const met = interceptOnce(['unknown one', TOKEN], 'pass and fall silent');
    const pending = newToken('unknown one');
    await until('the connection is silent', () => Promise.resolve(met()));
    proxy.answer('never');
    expectAway(await pending, /it is not known whether/);
    proxy.answer('through');
    proxy.cut();
    await until('reads are back', async () => (await client('/collections')).status === 200);
  });

  it('a read of the history gets 503, and the next read succeeds', async () => {
    const read = () => client('/history/events?collection=asked_for');
    expectAway(await expectNoticed(read, interceptOnce(['asked_for'], 'fall silent')), /not reachable/);
    expect((await read()).status).to.equal(200);
  });

  it('a rebuild leaves consistent rows, before and after the COMMIT of its switch', async () => {
    const rebuild = () => client('/projections/metadata/rebuild', { method: 'POST' });
    // Only this commits on its connection.
    const switches = 'staged_collections';
    expectAway(
      await expectNoticed(rebuild, interceptOnce([switches, COMMIT], 'fall silent'), { isChangeWaiting: true }),
    );
    const answer = await expectNoticed(rebuild, interceptOnce([switches, COMMIT], 'pass and fall silent'));
    expect(answer.status, answer.text).to.equal(200);
  });

  it('is not confused with a slow statement or a wait for a lock', async () => {
    await beside.query('BEGIN; LOCK TABLE service.service_users IN ACCESS EXCLUSIVE MODE');
    const pending = login();
    try {
      await new Promise((resolve) => setTimeout(resolve, 7_000));
    } finally {
      await beside.query('ROLLBACK');
    }
    expect((await pending).status).to.equal(200);
  });

  it('leaves no session that waits forever for a lock', async () => {
    await beside.query('BEGIN; LOCK TABLE service.service_users IN ACCESS EXCLUSIVE MODE');
    try {
      const { status, codes, text } = await login();
      expect([status, ...codes], text).to.deep.equal([503, 'LOCK_TIMEOUT']);
    } finally {
      await beside.query('ROLLBACK');
    }
  });
});
