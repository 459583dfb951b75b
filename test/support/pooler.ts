/** With TEST_POOLER=transaction the services of the tests reach their databases through PgBouncer. */
import { type Pgbouncer, startPgbouncer } from './pgbouncer.js';
import { testServer } from './postgres.js';

let running: Promise<Pgbouncer> | undefined;

export const isPoolerWanted = (): boolean => process.env['TEST_POOLER'] === 'transaction';

/** The settings that lead a service through the pooler; none where another way is meant. */
export async function throughPooler(connectionString: string): Promise<Record<string, string>> {
  if (!isPoolerWanted() || !URL.canParse(connectionString)) return {};
  const server = new URL((await testServer()).connectionString);
  const url = new URL(connectionString);
  // A proxy, another server, another user than the one that owns the databases of the run.
  if (url.port !== server.port || !url.pathname.startsWith(`/${url.username}_`)) return {};
  running ??= startPgbouncer(connectionString);
  return { DATABASE_URL: (await running).through(connectionString), DIRECT_DATABASE_URL: connectionString };
}

/** For the root hook: after the last test. */
export async function stopPooler(): Promise<void> {
  const started = await running;
  running = undefined;
  await started?.stop();
}
