/** Configures the server on its command line, so that a new release can change settings at the next start. */

/**
 * Locks per transaction. Creating a collection of nine fields with a foreign key, a unique field and an index takes
 * seven (table, key, two indexes, sequence, TOAST table and its index). So a batch of 10,000 collections fits, even
 * with twice the indexes. The lock table uses 40 MB, and 40 MB more when full.
 */
const LOCKS = 200_000;

/**
 * Processes other than connections for which PostgreSQL reserves locks: autovacuum 16 + 1, workers 8, and a few more.
 */
const AUXILIARY_PROCESSES = 25;

/** @param connections maximum number of clients */
export function serverSettings(connections: number): Record<string, string | number> {
  return {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: connections,
    max_locks_per_transaction: Math.ceil(LOCKS / (connections + AUXILIARY_PROCESSES)),
    shared_buffers: '128MB',
    // There are no replicas, so WAL is only needed for crash recovery.
    wal_level: 'replica',
    max_wal_senders: 0,
    max_wal_size: '1GB',
    checkpoint_timeout: '15min',
    jit: 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
    password_encryption: 'scram-sha-256',
    // One file per weekday, overwritten after a week.
    logging_collector: 'on',
    log_directory: 'log',
    log_filename: 'postgresql-%a.log',
    log_rotation_age: '1d',
    log_rotation_size: 0,
    log_truncate_on_rotation: 'on',
    // Statements contain user data. The service's own log records its actions.
    log_min_error_statement: 'panic',
  };
}

/** For test servers, which need not survive a power failure. */
export const THROWAWAY_SETTINGS: Readonly<Record<string, string | number>> = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
};
