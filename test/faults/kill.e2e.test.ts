/** The service is killed in the middle of an apply of 500 collections, at twenty random moments: all or nothing. */
import { expect } from 'chai';
import pg from 'pg';
import { type TestDatabase, createDatabase } from '../support/postgres.js';
import { type ServiceProcess, spawnService } from '../support/process.js';
import { expectConsistent } from '../support/consistent.js';

const COLLECTIONS = 500;
const KILLS = 20;
const TOKEN = 'test-admin-token-0123456789abcdef';

interface Diff {
  hash: string;
  diff: unknown;
}

function snapshotOf(count: number, release: string): object {
  const names = Array.from({ length: count }, (_, index) => `c${index}`);
  return {
    version: 1,
    service: release,
    vendor: 'postgres',
    collections: names.map((collection) => ({ collection, schema: {} })),
    fields: names.flatMap((collection) => [
      { collection, field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: true } },
      { collection, field: 'title', type: 'string', schema: { is_indexed: true } },
    ]),
    relations: [],
  };
}

describe('kill -9 in the middle of an apply', function () {
  this.timeout(600_000);
  let database: TestDatabase;
  let service: ServiceProcess;
  let url: string;

  const start = async () => {
    service = spawnService({
      DATABASE_URL: database.connectionString,
      ADMIN_TOKEN: TOKEN,
      ADMIN_PASSWORD: 'correct horse',
      LOCK_TIMEOUT: '60s',
    });
    ({ url } = await service.ready());
  };
  const call = (path: string, body?: unknown) =>
    fetch(url + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const json = async <T>(path: string, body?: unknown) => (await (await call(path, body)).json()) as T;

  before(async () => {
    database = await createDatabase('migrated');
    await start();
  });
  after(async () => {
    await service.end('SIGKILL');
    await database.drop();
  });

  /** The killed service's statement may still run for a moment; what it ends in is the outcome. */
  async function serverIsQuiet(): Promise<void> {
    const client = new pg.Client({ connectionString: database.connectionString });
    await client.connect();
    const others = 'SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()';
    while ((await client.query(others)).rowCount !== 0) await new Promise((resolve) => setTimeout(resolve, 20));
    await client.end();
  }

  it('is all or nothing, and the next start serves', async () => {
    const { data } = await json<{ data: { release: string } }>('/server/info');
    const outcomes = { all: 0, nothing: 0 };
    let there = 0;
    let lasts = 1_000;
    for (let kill = 0; kill < KILLS; kill++) {
      const expected = there === 0 ? COLLECTIONS : 0;
      const { hash, diff } = await json<Diff>('/schema/diff', snapshotOf(expected, data.release));
      const started = performance.now();
      const applied = call('/schema/apply', { hash, diff }).then(
        ({ status }) => status,
        () => undefined,
      );
      // Early, in the middle and late: the moments are spread over what an apply takes, and a bit beyond.
      const moment = ((kill + Math.random()) / KILLS) * lasts * 1.2;
      const first = await Promise.race([applied, new Promise((resolve) => setTimeout(resolve, moment, 'kill'))]);
      await service.end('SIGKILL');
      if (first !== 'kill') lasts = performance.now() - started;
      await serverIsQuiet();

      const { state } = await expectConsistent(database.connectionString);
      expect([there, expected], `kill ${kill}: ${state.collections.size} collections`).to.include(
        state.collections.size,
      );
      if ((await applied) === 204) expect(state.collections.size, 'an accepted apply was lost').to.equal(expected);
      outcomes[state.collections.size === expected ? 'all' : 'nothing'] += 1;
      there = state.collections.size;
      await start();
      const { data: listed } = await json<{ data: { meta: { system?: boolean } }[] }>('/collections');
      expect(listed.filter(({ meta }) => meta.system !== true)).to.have.length(there);
    }
    process.stdout.write(`      ${KILLS} kills: ${outcomes.all} applied whole, ${outcomes.nothing} not at all\n`);
  });
});
