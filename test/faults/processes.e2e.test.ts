import { expect } from 'chai';
import { type TestDatabase, createDatabase } from '../support/postgres.js';
import { type ServiceProcess, spawnService } from '../support/process.js';
import { expectConsistent } from '../support/consistent.js';

const WRITERS = 16;
const ROUNDS = 6;
const TOKEN = 'test-admin-token-0123456789abcdef';

interface Written {
  reason: string;
  status: number;
  position: number;
}

describe('sixteen writers on three processes of the service', function () {
  this.timeout(300_000);
  let database: TestDatabase;
  let services: ServiceProcess[];
  let urls: string[];

  before(async () => {
    database = await createDatabase();
    const settings = {
      DATABASE_URL: database.connectionString,
      ADMIN_TOKEN: TOKEN,
      ADMIN_PASSWORD: 'correct horse',
      LOCK_TIMEOUT: '60s',
      DB_POOL: '4',
    };
    // All at once, so that migrations run concurrently too.
    services = [1, 2, 3].map(() => spawnService(settings));
    urls = (await Promise.all(services.map((service) => service.ready()))).map(({ url }) => url);
  });
  after(async () => {
    await Promise.all(services.map((service) => service.end('SIGTERM')));
    await database.drop();
  });

  async function write(
    url: string,
    method: string,
    path: string,
    { reason, body }: { reason: string; body?: unknown },
  ) {
    const response = await fetch(url + path, {
      method,
      headers: { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json', 'X-Reason': reason },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const position = Number(response.headers.get('x-log-position') ?? 0);
    return { reason, status: response.status, position, body: text === '' ? undefined : (JSON.parse(text) as unknown) };
  }

  it('log every accepted command once without gaps, with consistent responses and an intact chain', async () => {
    const written: Written[] = [];
    const work = async (writer: number) => {
      const url = (turn: number) => urls[(writer + turn) % urls.length] as string;
      for (let round = 0; round < ROUNDS; round++) {
        const own = `w${writer}_${round}`;
        const shared = `shared_${round}`;
        const reason = (what: string) => `${writer}/${round}/${what}`;
        const table = (collection: string) => ({ collection, schema: {}, meta: { note: own } });
        written.push(await write(url(0), 'POST', '/collections', { reason: reason('own'), body: table(own) }));
        // Another process shows the change immediately, and can change the object immediately.
        const read = await fetch(`${url(1)}/collections/${own}`, { headers: { Authorization: `Bearer ${TOKEN}` } });
        expect(read.status, `${own} is not there on another process`).to.equal(200);
        const patch = { meta: { note: reason('patched') } };
        const patched = await write(url(2), 'PATCH', `/collections/${own}`, { reason: reason('patch'), body: patch });
        expect(patched.body).to.have.nested.property('data.meta.note', reason('patched'));
        written.push(patched);
        written.push(await write(url(1), 'POST', '/collections', { reason: reason('shared'), body: table(shared) }));
        if (round % 2 === 1)
          written.push(await write(url(0), 'DELETE', `/collections/${own}`, { reason: reason('delete') }));
      }
    };
    await Promise.all(Array.from({ length: WRITERS }, (_, writer) => work(writer)));

    const { state, events } = await expectConsistent(database.connectionString);
    const accepted = written.filter(({ status }) => status < 300);
    expect(events.map(({ reason }) => reason ?? '').sort()).to.deep.equal(accepted.map(({ reason }) => reason).sort());
    for (const { position, reason } of accepted) expect(events[position - 1]?.reason).to.equal(reason);

    const refused = written.filter(({ status }) => status >= 300);
    expect(refused.map(({ status }) => status)).to.deep.equal(refused.map(() => 409));
    expect(refused).to.have.length((WRITERS - 1) * ROUNDS);

    const names = [...state.collections.keys()].sort();
    for (const url of urls) {
      const response = await fetch(`${url}/collections`, { headers: { Authorization: `Bearer ${TOKEN}` } });
      const { data } = (await response.json()) as { data: { collection: string; meta: { system?: boolean } }[] };
      expect(data.filter(({ meta }) => meta.system !== true).map(({ collection }) => collection)).to.deep.equal(names);
    }
  });
});
