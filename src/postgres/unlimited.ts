/** Work that takes as long as it takes, whatever the server, the database or the account says. */

/**
 * SQL that takes every limit of time away, for the session or until the end of the transaction. By its catalog:
 * transaction_timeout is there from PostgreSQL 17 on, and setting what isn't there is an error.
 */
export const unlimited = (scope: 'session' | 'transaction'): string =>
  `SELECT pg_catalog.set_config(name, '0', ${String(scope === 'transaction')}) FROM pg_catalog.pg_settings
    WHERE name IN ('statement_timeout', 'lock_timeout', 'transaction_timeout', 'idle_session_timeout',
                   'idle_in_transaction_session_timeout')`;

/** The same of transaction_timeout alone, as a column: for what has limits of its own, and is begun often. */
export const NO_TRANSACTION_LIMIT = `CASE WHEN pg_catalog.current_setting('transaction_timeout', true) <> '0'
    THEN pg_catalog.set_config('transaction_timeout', '0', true) END`;
