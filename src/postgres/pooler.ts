/** Detects whether an address leads through a pooler, and whether the service supports it. */
import type pg from 'pg';
import { OperatorError } from '../kernel/operator-error.js';
import { sqlState } from './errors.js';
import type { Addresses } from './pool.js';

/** The database addresses do not match each other, or the service cannot use them. */
export class PoolerError extends OperatorError {}

/** The properties of a route to the database, as seen on a connection. */
export interface Seen {
  pooled: boolean;
  /** Why no transaction can begin. Undefined if it can. */
  refuses: string | undefined;
  database: string;
  /** The system identifier of the cluster. Null if hidden. */
  system: string | null;
}

/** @param client a plain client of the driver, without start-up parameters that a pooler might reject */
export async function seeWay(client: pg.Client): Promise<Seen> {
  const { rows } = await client.query<{ database: string }>('SELECT pg_catalog.current_database() AS database');
  return {
    pooled: await isThroughPooler(client),
    database: rows[0]?.database ?? '',
    system: await systemOf(client),
    refuses: await transactionsRefused(client),
  };
}

/** A pooler assigns its own process ids. */
export async function isThroughPooler(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_catalog.pg_backend_pid() AS pid');
  return rows[0]?.pid !== (client as unknown as { processID: number }).processID;
}

/** Returns the system identifier, which a cluster shares with its standbys. */
async function systemOf(client: pg.Client): Promise<string | null> {
  try {
    const { rows } = await client.query<{ system: string }>(
      'SELECT system_identifier::text AS system FROM pg_catalog.pg_control_system()',
    );
    return rows[0]?.system ?? null;
  } catch {
    // Some roles or servers do not allow the query.
    return null;
  }
}

/** In statement mode each statement may use another session, so the pooler rejects BEGIN. */
async function transactionsRefused(client: pg.Client): Promise<string | undefined> {
  try {
    await client.query('BEGIN');
    await client.query('ROLLBACK');
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

interface Ways {
  /** The result for DATABASE_URL. */
  seen: Seen;
  /** The value of DB_POOLER, or null. */
  expected: 'none' | 'transaction' | null;
  /** The result for DIRECT_DATABASE_URL, or null if not set. */
  direct: Seen | null;
}

/**
 * Returns the pooling mode of DATABASE_URL.
 * @throws PoolerError that names the missing or wrong setting
 */
export function poolerOf({ seen, expected, direct }: Ways): Addresses['pooler'] {
  if (seen.refuses !== undefined) throw new PoolerError(statementMode(seen.refuses));
  const isPooled = expected === null ? seen.pooled : expected === 'transaction';
  if (direct !== null) requireDirect(direct, seen, expected);
  else if (isPooled) throw new PoolerError(DIRECT_MISSING);
  return isPooled ? 'transaction' : undefined;
}

function requireDirect(direct: Seen, seen: Seen, expected: Ways['expected']): void {
  if (direct.pooled && expected !== 'none') throw new PoolerError(DIRECT_IS_POOLED);
  if (!isSamePlace(direct, seen)) throw new PoolerError(ELSEWHERE);
}

const isSamePlace = (one: Seen, other: Seen): boolean =>
  one.database === other.database && (one.system === null || other.system === null || one.system === other.system);

const statementMode = (said: string): string =>
  `DATABASE_URL can't be used: it leads through a pooler that refuses transactions (${said}). Set the pooler to ` +
  'pool transactions (PgBouncer: pool_mode = transaction), or let DATABASE_URL lead to the server itself.';

/** True if a pooler rejected the start-up parameters of a session. */
export const isStartupRefused = (error: unknown): boolean =>
  sqlState(error) === PROTOCOL_VIOLATION && /startup parameter/.test((error as Error).message);

const PROTOCOL_VIOLATION = '08P01';

/** A connection without expected pooler was rejected by one. */
export const unexpectedPooler = (cause: unknown): PoolerError =>
  new PoolerError(
    'DB_POOLER is none, but DATABASE_URL leads through a pooler: it refuses what a session is set to. Take DB_POOLER away.',
    { cause },
  );

/** The address contains options, which a pooler does not pass on. */
export const lostOptions = (): PoolerError =>
  new PoolerError(
    "DATABASE_URL can't be used: a pooler doesn't pass on its options. Set them for the user or the database (ALTER ROLE … " +
      'SET, ALTER DATABASE … SET).',
  );

const DIRECT_MISSING =
  'The setting DIRECT_DATABASE_URL is missing: DATABASE_URL leads through a pooler, and LISTEN, migrations and ' +
  'concurrent index builds need a session of their own. Set it to the address of the server itself.';

const DIRECT_IS_POOLED =
  "DIRECT_DATABASE_URL can't be used: it leads through a pooler too. Set it to the address of the server itself.";

const ELSEWHERE =
  "DIRECT_DATABASE_URL can't be used: it leads to another database than DATABASE_URL does. Set it to the address of the " +
  'same database, past the pooler.';
