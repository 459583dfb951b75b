/**
 * What each connection is set to. The server's own session takes it from the start-up parameters; behind a pooler, where a
 * session is shared and may have been left in any state, each transaction begins with it.
 */

interface SettingsOptions {
  /** The schema that is managed. */
  schema: string;
  /** Shown in pg_stat_activity. */
  applicationName: string;
  /** Milliseconds that a statement waits for a lock, where it isn't told otherwise; without, for ever. */
  lockTimeout?: number | undefined;
}

/** What PostgreSQL's spelling of values and definitions depends on, whatever a database or an account sets. */
const SPELLING = {
  TimeZone: 'UTC',
  DateStyle: 'ISO',
  IntervalStyle: 'postgres',
  bytea_output: 'hex',
  extra_float_digits: '1',
  standard_conforming_strings: 'on',
  quote_all_identifiers: 'off',
};

/**
 * Seconds, and milliseconds: the server notices in half a minute that the machine of a client is gone, and releases what
 * that one held. Ignored on sockets of the file system.
 */
const KEEPALIVE = {
  tcp_keepalives_idle: '10',
  tcp_keepalives_interval: '5',
  tcp_keepalives_count: '3',
  tcp_user_timeout: '25000',
};

/**
 * What another client may have left in a shared session, and what would change what our statements do: each goes back to
 * the value that the server, the database or the account gives it.
 */
const AS_CONFIGURED = [
  'statement_timeout',
  'idle_in_transaction_session_timeout',
  'synchronous_commit',
  'row_security',
  'check_function_bodies',
  'default_tablespace',
  'default_table_access_method',
  'array_nulls',
  'transform_null_equals',
];

/** The same of those that not everybody may set: only where somebody has. */
const PRIVILEGED = { role: 'none', session_replication_role: 'origin' };

/** As the start-up parameter `options`. */
export function startupOptions(options: SettingsOptions): string {
  const settings = { ...common(options), ...KEEPALIVE };
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value.replaceAll(/[\\\s]/g, (found) => `\\${found}`)}`)
    .join(' ');
}

/** As one statement, which sets them until the end of the transaction. It doesn't trust the search path it meets. */
export function transactionSettings(options: SettingsOptions): string {
  const { applicationName } = options;
  const settings = { application_name: applicationName, lock_timeout: '0', ...common(options) };
  const given = Object.entries(settings).map(([name, value]) => setLocally(name, literal(value)));
  const back = AS_CONFIGURED.map((name) => setLocally(name, 'NULL'));
  const privileged = Object.entries(PRIVILEGED).map(
    ([name, value]) =>
      `CASE WHEN pg_catalog.current_setting('${name}') OPERATOR(pg_catalog.<>) '${value}' THEN ${setLocally(name, 'NULL')} END`,
  );
  // The role first: another one may not be allowed the rest.
  return `SELECT ${[...privileged, ...given, ...back].join(', ')}`;
}

function common({ schema, lockTimeout }: SettingsOptions): Record<string, string> {
  const lock: Record<string, string> = lockTimeout === undefined ? {} : { lock_timeout: String(lockTimeout) };
  return { search_path: searchPath(schema), client_min_messages: 'warning', ...SPELLING, ...lock };
}

/**
 * `public` follows: extensions usually put their types there. Temporary tables come last, where they hide nothing: unnamed
 * they would come first, and what is made in them for a moment may have the name of a type or sequence of the user's.
 */
function searchPath(schema: string): string {
  const own = schema === 'public' ? '' : `"${schema.replaceAll('"', '""')}",`;
  return `${own}public,pg_temp`;
}

const setLocally = (name: string, value: string): string => `pg_catalog.set_config('${name}', ${value}, true)`;

const literal = (value: string): string => `'${value.replaceAll("'", "''")}'`;
