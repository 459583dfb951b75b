/** Removes time limits for long work, whatever the server, database or role sets. */

/**
 * SQL that removes all time limits, for the session or until the end of the transaction. It reads the catalog, because
 * transaction_timeout exists only from PostgreSQL 17 on, and setting an unknown parameter is an error.
 */
export const unlimited = (scope: 'session' | 'transaction'): string =>
  `SELECT pg_catalog.set_config(name, '0', ${String(scope === 'transaction')}) FROM pg_catalog.pg_settings
    WHERE name IN ('statement_timeout', 'lock_timeout', 'transaction_timeout', 'idle_session_timeout',
                   'idle_in_transaction_session_timeout')`;

/** A column that only removes transaction_timeout, for frequent transactions with limits of their own. */
export const NO_TRANSACTION_LIMIT = `CASE WHEN pg_catalog.current_setting('transaction_timeout', true) <> '0'
    THEN pg_catalog.set_config('transaction_timeout', '0', true) END`;
