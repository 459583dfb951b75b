import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { clientOf, json } from '../../support/client.js';
import { dps } from '../../support/dps.js';
import { type TestDatabase, asSuperuser, createDatabase } from '../../support/postgres.js';
import { startService } from '../../support/service.js';

const REFUSE_B = [
  'CREATE SCHEMA guard',
  `CREATE FUNCTION guard.refuse() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
     IF EXISTS (SELECT FROM pg_event_trigger_ddl_commands() WHERE object_identity = 'public.b') THEN
       RAISE EXCEPTION 'no table of that name here' USING ERRCODE = 'insufficient_privilege';
     END IF;
   END $$`,
  `CREATE EVENT TRIGGER refuse ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION guard.refuse()`,
];

describe('replaying into a database that rejects a table', () => {
  let source: TestDatabase;
  let directory: string;
  let file: string;
  /** The position of the event that creates `b`. */
  let position: number;
  const targets: TestDatabase[] = [];

  before(async () => {
    source = await createDatabase();
    directory = await mkdtemp(join(tmpdir(), 'dps-refused-'));
    file = join(directory, 'log.ndjson');
    const service = await startService({ DATABASE_URL: source.connectionString });
    try {
      const client = clientOf(service);
      for (const collection of ['a', 'b', 'c']) {
        const created = await client('/collections', json({ collection, schema: {} }));
        expect(created.status, created.text).to.equal(200);
        if (collection === 'b') position = Number(created.headers.get('x-log-position'));
      }
      await writeFile(file, (await client('/history/export')).text);
    } finally {
      await service.stop();
    }
  });

  after(async () => {
    for (const database of [source, ...targets]) await database.drop();
    await rm(directory, { recursive: true });
  });

  async function createRefusingDatabase(): Promise<string> {
    const database = await createDatabase();
    targets.push(database);
    await asSuperuser(database.connectionString, ...REFUSE_B);
    return database.connectionString;
  }

  async function expectUnusable(connectionString: string): Promise<void> {
    const again = await dps(['restore', '--file', file], { DATABASE_URL: connectionString });
    expect(again.code).to.equal(2);
    expect(again.err).to.match(/not empty: (an earlier restore into it was interrupted|it contains "a")/);
    const error: unknown = await startService({ DATABASE_URL: connectionString }).then(
      (unexpected) => unexpected.stop(),
      (reason: unknown) => reason,
    );
    expect((error as Error).message).to.contain('restore was interrupted');
  }

  it('names the event, and no service starts on the result', async () => {
    const target = await createRefusingDatabase();
    const { code, err } = await dps(['rebuild', 'tables', '--into', target], { DATABASE_URL: source.connectionString });
    expect(code).to.equal(2);
    expect(err).to.contain(`Event ${position}: `).and.contain('the function guard.refuse() raised an exception');
    await expectUnusable(target);
  });

  it("reports PostgreSQL's error for a log from a file, and no service starts on the result", async () => {
    const target = await createRefusingDatabase();
    const { code, err } = await dps(['restore', '--file', file], { DATABASE_URL: target });
    expect(code).to.equal(2);
    expect(err).to.contain('raised an exception').and.not.contain('Event undefined');
    await expectUnusable(target);
  });
});
