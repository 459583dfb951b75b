import { expect } from 'chai';
import { type Client, clientOf, json } from '../../support/client.js';
import { type TestDatabase, createDatabase } from '../../support/postgres.js';
import { type Proxy, startProxy } from '../../support/proxy.js';
import { type TestService, startService } from '../../support/service.js';

/** Two addresses of one server stand for two servers. The tests check which one is used and when. */
describe('a service with several hosts', () => {
  let database: TestDatabase;
  let ways: [Proxy, Proxy];
  let service: TestService;
  let send: Client;

  beforeEach(async () => {
    database = await createDatabase('migrated');
    ways = [await startProxy(database.connectionString), await startProxy(database.connectionString)];
    const [one, two] = ways.map(({ connectionString }) => new URL(connectionString));
    const address = `${one?.protocol}//${one?.username}:${one?.password}@${one?.host},127.0.0.1:1,${two?.host}${one?.pathname}`;
    service = await startService({ DATABASE_URL: `${address}?target_session_attrs=read-write` });
    send = clientOf(service);
  });
  afterEach(async () => {
    for (const path of ways) {
      path.answer('through');
      path.cut();
    }
    await service.stop();
    for (const path of ways) await path.close();
    await database.drop();
  });

  const create = (collection: string) => send('/collections', json({ collection, schema: {} }));

  it('uses one of them for everything, and fails over to another', async () => {
    expect((await create('first')).status).to.equal(200);
    const [used, other] = ways[0].connections() > ways[1].connections() ? ways : [ways[1], ways[0]];
    const probes = other.connections();
    used.answer('refused');
    used.cut();
    const reply = await create('second');
    expect(reply.status, reply.text).to.equal(200);
    expect((await send('/collections/second')).status).to.equal(200);
    expect(other.connections()).to.be.above(probes + 1);
    expect(service.log()).to.contain('the address now leads to a different server');
  });

  it('lets a change wait for a server until LOCK_TIMEOUT', async () => {
    for (const path of ways) {
      path.answer('refused');
      path.cut();
    }
    setTimeout(() => ways[1].answer('through'), 2_500);
    const started = performance.now();
    const reply = await create('first');
    expect(reply.status, reply.text).to.equal(200);
    expect(performance.now() - started).to.be.above(2_000);
  });
});
