/**
 * Builds the settings of each connection. A direct session gets them as start-up parameters. Behind a pooler, a session
 * is shared and in an unknown state, so each transaction begins by setting them.
 */

interface SettingsOptions {
  /** The managed schema. */
  schema: string;
  /** Shown in pg_stat_activity. */
  applicationName: string;
  /** Default lock timeout of statements in milliseconds. Absent means no limit. */
  lockTimeout?: number | undefined;
}

/**
 * Settings that affect how PostgreSQL reads and writes rows, values and definitions. They override those of the database
 * or role.
 */
const SPELLING = {
  TimeZone: 'UTC',
  DateStyle: 'ISO',
  IntervalStyle: 'postgres',
  bytea_output: 'hex',
  extra_float_digits: '1',
  standard_conforming_strings: 'on',
  quote_all_identifiers: 'off',
  // The body of a function is not checked, because it may use objects that the same change creates later.
  check_function_bodies: 'off',
  // A query fails if a policy would hide rows from the service. Otherwise it would miss them silently.
  row_security: 'off',
};

/**
 * Keepalive settings in seconds and milliseconds. With them, the server notices within half a minute that a client's
 * machine does not respond, and releases its locks. They are ignored on Unix sockets.
 */
const KEEPALIVE = {
  tcp_keepalives_idle: '10',
  tcp_keepalives_interval: '5',
  tcp_keepalives_count: '3',
  tcp_user_timeout: '25000',
};

/**
 * Settings that another client may have left in a shared session and that would affect our statements. Each is reset to
 * the value of the server, database or role.
 */
const AS_CONFIGURED = [
  'statement_timeout',
  'idle_in_transaction_session_timeout',
  'synchronous_commit',
  'default_tablespace',
  'default_table_access_method',
  'array_nulls',
  'transform_null_equals',
];

/** Settings like those of `AS_CONFIGURED` that require privileges. They are reset only if they were changed. */
const PRIVILEGED = { role: 'none', session_replication_role: 'origin' };

/** Returns the value of the start-up parameter `options`. */
export function startupOptions(options: SettingsOptions): string {
  const settings = { ...commonSettings(options), ...KEEPALIVE };
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value.replaceAll(/[\\\s]/g, (character) => `\\${character}`)}`)
    .join(' ');
}

/**
 * Returns one statement that applies the settings until the end of the transaction. It does not rely on the current
 * search path.
 */
export function transactionSettings(options: SettingsOptions): string {
  const { applicationName } = options;
  const settings = { application_name: applicationName, lock_timeout: '0', ...commonSettings(options) };
  const assignments = Object.entries(settings).map(([name, value]) => setLocally(name, literal(value)));
  const back = AS_CONFIGURED.map((name) => setLocally(name, 'NULL'));
  const privileged = Object.entries(PRIVILEGED).map(
    ([name, value]) =>
      `CASE WHEN pg_catalog.current_setting('${name}') OPERATOR(pg_catalog.<>) '${value}' THEN ${setLocally(name, 'NULL')} END`,
  );
  // The role is reset first, because another role may not be allowed to set the rest.
  return `SELECT ${[...privileged, ...assignments, ...back].join(', ')}`;
}

function commonSettings({ schema, lockTimeout }: SettingsOptions): Record<string, string> {
  const lock: Record<string, string> = lockTimeout === undefined ? {} : { lock_timeout: String(lockTimeout) };
  return { search_path: searchPath(schema), client_min_messages: 'warning', ...SPELLING, ...lock };
}

/**
 * Returns the search path. `public` follows the managed schema because extensions usually create their types there.
 * Temporary tables come last. By default they come first, where a temporary object could hide a type or sequence of the
 * user.
 */
function searchPath(schema: string): string {
  const own = schema === 'public' ? '' : `"${schema.replaceAll('"', '""')}",`;
  return `${own}public,pg_temp`;
}

const setLocally = (name: string, value: string): string => `pg_catalog.set_config('${name}', ${value}, true)`;

const literal = (value: string): string => `'${value.replaceAll("'", "''")}'`;
