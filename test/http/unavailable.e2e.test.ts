/** The database goes away, and comes back: what a client sees of it. */
import { expect } from 'chai';
import { type Proxy, startProxy } from '../log/half-open-proxy.js';
import { until } from '../log/until.js';
import { type TestDatabase, createDatabase } from '../support/postgres.js';
import { type TestService, startService } from '../support/service.js';
import { expectConsistent } from '../faults/consistent.js';
import { type Client, clientOf, json } from './client.js';

describe('a database that is away', function () {
  this.timeout(60_000);
  let database: TestDatabase;
  let proxy: Proxy;
  let service: TestService;
  let client: Client;

  before(async () => {
    database = await createDatabase();
    proxy = await startProxy(database.connectionString);
    service = await startService({ DATABASE_URL: proxy.connectionString, LOCK_TIMEOUT: '2s' });
    client = clientOf(service);
  });
  after(async () => {
    await service.stop();
    await proxy.close();
    await database.drop();
  });

  it('is 503 with Retry-After to everybody, and nothing is lost or made when it is back', async () => {
    const create = (collection: string) => client('/collections', json({ collection, schema: {} }));
    expect((await create('before')).status).to.equal(200);
    proxy.answer('refused');
    proxy.cut();
    for (const ask of [
      () => client('/collections'),
      () => client('/schema/snapshot'),
      () => create('meanwhile'),
      () => client('/auth/login', { ...json({ email: 'a@example.com', password: 'x' }), token: null }),
    ]) {
      const { status, codes, headers, text } = await ask();
      expect([status, ...codes], text).to.deep.equal([503, 'UNAVAILABLE']);
      expect(Number(headers.get('retry-after'))).to.be.above(0);
      expect(text).not.to.match(/127\.0\.0\.1|ECONN|\.[jt]s:\d/);
    }
    expect((await client('/server/ping', { token: null })).status).to.equal(200);
    expect((await client('/server/health', { token: null })).status).to.equal(503);
    proxy.answer('through');
    await until(
      'the service is well again',
      async () => (await client('/server/health', { token: null })).status === 200,
    );
    expect((await create('after')).status).to.equal(200);
    const { state } = await expectConsistent(database.connectionString);
    expect([...state.collections.keys()].sort()).to.deep.equal(['after', 'before']);
  });
});
