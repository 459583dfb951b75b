/** The server's configuration, given on its command line so that a newer release changes it at the next start. */

/**
 * Locks one transaction can hold. Creating a collection of nine fields with a foreign key, a unique field and an index
 * takes seven (table, key, two indexes, sequence, TOAST and its index), so 10,000 collections in one batch fit with
 * room for twice the indexes. The table of locks costs 40 MB while idle and 40 MB more when it is full.
 */
const LOCKS = 200_000;

/** Processes beside the connections for which PostgreSQL reserves locks: autovacuum 16 + 1, workers 8, and a few. */
const AUXILIARY_PROCESSES = 25;

/** @param connections how many clients the server admits */
export function serverSettings(connections: number): Record<string, string | number> {
  return {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: connections,
    max_locks_per_transaction: Math.ceil(LOCKS / (connections + AUXILIARY_PROCESSES)),
    shared_buffers: '128MB',
    // One machine, no replicas: the log needs no more than crash recovery does.
    wal_level: 'replica',
    max_wal_senders: 0,
    max_wal_size: '1GB',
    checkpoint_timeout: '15min',
    jit: 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
    password_encryption: 'scram-sha-256',
    // A file for each day of the week, overwritten a week later.
    logging_collector: 'on',
    log_directory: 'log',
    log_filename: 'postgresql-%a.log',
    log_rotation_age: '1d',
    log_rotation_size: 0,
    log_truncate_on_rotation: 'on',
    // Statements hold what users wrote; the service's own log says what it did.
    log_min_error_statement: 'panic',
  };
}

/** For servers that live as long as a test run: nothing needs to survive a power cut. */
export const THROWAWAY_SETTINGS: Readonly<Record<string, string | number>> = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
};
