/** With TEST_POOLER=transaction, test services use PgBouncer. */
import { atEnd } from './at-end.js';
import { type Pgbouncer, startPgbouncer } from './pgbouncer.js';
import { testServer } from './postgres.js';

let running: Promise<Pgbouncer> | undefined;

/** The settings that route a service through the pooler; none if the test needs another address. */
export async function throughPooler(settings: Readonly<Record<string, string>>): Promise<Record<string, string>> {
  const { DATABASE_URL: connectionString = '', DIRECT_DATABASE_URL: direct } = settings;
  if (process.env['TEST_POOLER'] !== 'transaction' || direct !== undefined) return {};
  const server = new URL((await testServer()).connectionString);
  const url = URL.canParse(connectionString) ? new URL(connectionString) : server;
  // A proxy, another server, or a user that does not own the databases of the run.
  if (url.port !== server.port || !url.pathname.startsWith(`/${url.username}_`)) return {};
  if (running === undefined) {
    running = startPgbouncer(connectionString);
    atEnd(stopPooler);
  }
  return { DATABASE_URL: (await running).through(connectionString), DIRECT_DATABASE_URL: connectionString };
}

async function stopPooler(): Promise<void> {
  const started = await running;
  running = undefined;
  await started?.stop();
}
