/** The service is killed eight times during an apply of 500 collections and during their deletion: all or nothing. */
import { expect } from 'chai';
import pg from 'pg';
import { type TestDatabase, createDatabase } from '../support/postgres.js';
import { type ServiceProcess, spawnService } from '../support/process.js';
import { expectConsistent } from '../support/consistent.js';

const COLLECTIONS = 500;
const KILLS = 8;
/** The number of table locks of an apply at each kill, the same in every run. */
const MOMENTS = [1, 90, 420, 250, 30, 480, 170, 340];
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

describe('kill -9 during an apply', function () {
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

  /** The killed service's statement may still run for a moment. Its end decides the outcome. */
  async function serverIsQuiet(): Promise<void> {
    const client = new pg.Client({ connectionString: database.connectionString });
    await client.connect();
    const others = 'SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()';
    while ((await client.query(others)).rowCount !== 0) await new Promise((resolve) => setTimeout(resolve, 20));
    await client.end();
  }

  /** Resolves when the apply holds this many exclusive locks, or has already ended. */
  async function locksAreHeld(count: number, applied: Promise<unknown>): Promise<void> {
    let running = true;
    void applied.finally(() => (running = false));
    const client = new pg.Client({ connectionString: database.connectionString });
    await client.connect();
    const held = `SELECT FROM pg_locks WHERE locktype = 'relation' AND mode = 'AccessExclusiveLock' AND granted
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
    while (running && ((await client.query(held)).rowCount ?? 0) < count)
      await new Promise((resolve) => setTimeout(resolve, 2));
    await client.end();
  }

  it('leaves all or nothing, and the next start serves requests', async () => {
    const { data } = await json<{ data: { release: string } }>('/server/info');
    const apply = async (count: number): Promise<number> => {
      const { hash, diff } = await json<Diff>('/schema/diff', snapshotOf(count, data.release));
      return (await call('/schema/apply', { hash, diff })).status;
    };
    let there = 0;
    for (const [kill, moment] of MOMENTS.entries()) {
      // The first half creates all, the second half deletes all. Each kill continues from the state after the previous
      // one.
      const from = kill < KILLS / 2 ? 0 : COLLECTIONS;
      if (there !== from) expect(await apply(from)).to.equal(204);
      const expected = COLLECTIONS - from;
      const applied = apply(expected).catch(() => 'killed');
      await locksAreHeld(moment, applied);
      await service.end('SIGKILL');
      expect(await applied, `kill ${kill} came too late`).to.equal('killed');
      await serverIsQuiet();

      const { state } = await expectConsistent(database.connectionString);
      there = state.collections.size;
      expect([from, expected], `kill ${kill}: ${there} collections`).to.include(there);
      await start();
      const { data: listed } = await json<{ data: { meta: { system?: boolean } }[] }>('/collections');
      expect(listed.filter(({ meta }) => meta.system !== true)).to.have.length(there);
    }
  });
});
