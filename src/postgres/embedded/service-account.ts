/**
 * The role of the service in its embedded server. It owns its database but is no superuser, so SQL that evades every
 * check can still not read files or run programs. It can create trusted extensions.
 */
import pg from 'pg';
import { OperatorError } from '../../kernel/operator-error.js';
import { SUPERUSER } from './initialise.js';

/** Name of the role and of its database. */
const SERVICE_ACCOUNT = 'dps';

export interface Addresses {
  /** For the role of the service, in its database. */
  service: string;
  /** For the superuser, in the same database. */
  superuser: string;
}

/** Creates the role and the database if they are missing, and returns their addresses. */
export async function ensureServiceAccount(
  port: number,
  passwords: { superuser: string; service: string },
): Promise<Addresses> {
  const superuser = (database: string) => addressOf({ user: SUPERUSER, password: passwords.superuser, port, database });
  const client = new pg.Client({ connectionString: superuser('postgres') });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await refuseEarlierLayout(client);
    await ensureRole(client, passwords.service);
    await ensureDatabase(client);
  } finally {
    await client.end();
  }
  const service = addressOf({ user: SERVICE_ACCOUNT, password: passwords.service, port, database: SERVICE_ACCOUNT });
  return { service, superuser: superuser(SERVICE_ACCOUNT) };
}

function addressOf(to: { user: string; password: string; port: number; database: string }): string {
  return `postgresql://${to.user}:${to.password}@127.0.0.1:${to.port}/${to.database}`;
}

/** Before 0.1.0 everything was stored in the superuser's own database. */
async function refuseEarlierLayout(client: pg.Client): Promise<void> {
  const { rowCount } = await client.query(`SELECT FROM pg_tables WHERE tablename = 'service_migrations'`);
  if (rowCount === 0) return;
  throw new OperatorError(
    'The data directory was written by a development version, which worked as a superuser: dump its database "postgres" with that version, and move the directory away to start afresh.',
  );
}

/** Sets the password from the file at each start, whatever was changed meanwhile. */
async function ensureRole(client: pg.Client, password: string): Promise<void> {
  const name = client.escapeIdentifier(SERVICE_ACCOUNT);
  const found = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [SERVICE_ACCOUNT]);
  if (found.rowCount === 0) {
    await client.query(`CREATE ROLE ${name} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS`);
  }
  await client.query(`GRANT pg_read_all_stats TO ${name}`);
  await client.query(`ALTER ROLE ${name} PASSWORD ${client.escapeLiteral(password)}`);
}

async function ensureDatabase(client: pg.Client): Promise<void> {
  const name = client.escapeIdentifier(SERVICE_ACCOUNT);
  const found = await client.query('SELECT FROM pg_database WHERE datname = $1', [SERVICE_ACCOUNT]);
  if (found.rowCount === 0) await client.query(`CREATE DATABASE ${name} OWNER ${name}`);
}
