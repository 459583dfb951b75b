import type pg from 'pg';
import type { Addresses } from '../postgres/pool.js';
import type { Projections } from '../projector/projections.js';
import type { ServerState } from '../postgres/server.js';
import { own } from '../postgres/own-tables.js';

/* The findings of `dps doctor` and their fixes. docs/doctor.md has a row for each code. */

type Severity = 'error' | 'warning';

interface Kind {
  severity: Severity;
  /** The fix. SQL texts name our tables with a placeholder that `examine` replaces by the schema. */
  fix: string;
}

export const FINDINGS = {
  DATABASE_UNREACHABLE: {
    severity: 'error',
    fix: 'Start the database server, or correct DATABASE_URL (DATA_DIR for the embedded one).',
  },
  DATABASE_UNSUPPORTED: {
    severity: 'error',
    fix: 'Move to a database of PostgreSQL 14 or newer with the encoding UTF8 (pg_dump, CREATE DATABASE … ENCODING UTF8, pg_restore).',
  },
  DATABASE_READ_ONLY: {
    severity: 'error',
    fix: 'Take default_transaction_read_only away from the database and its user.',
  },
  REPLAY_PAUSED: {
    severity: 'warning',
    fix: 'SELECT pg_wal_replay_resume(), as a superuser, lets the standby follow its primary again.',
  },
  STANDBY_BEHIND: {
    severity: 'warning',
    fix: "Look into PostgreSQL's log on the standby: whether it reaches its primary, and what its replay waits for (max_standby_streaming_delay, disk).",
  },
  SCHEMA_NOT_WRITABLE: {
    severity: 'error',
    fix: 'Run what the message says. One schema is that of DB_SCHEMA, the other that of SERVICE_SCHEMA.',
  },
  SERVICE_MISSING: {
    severity: 'error',
    fix: 'Start the service once, or check DATABASE_URL, DATA_DIR, DB_SCHEMA and SERVICE_SCHEMA.',
  },
  MIGRATIONS_PENDING: {
    severity: 'error',
    fix: 'Start this release of the service once: it brings its tables up to date.',
  },
  MIGRATIONS_NEWER: { severity: 'error', fix: 'Use the release that was here last, or a newer one.' },
  RESTORE_UNFINISHED: {
    severity: 'error',
    fix: 'Wait for the restore to end; if it was broken off, drop the database and restore into a new one.',
  },
  TABLES_NOT_OWNED: {
    severity: 'error',
    fix: 'ALTER TABLE … OWNER TO the user of DATABASE_URL (or make that user a member of the owning role).',
  },
  NAMES_SHADOWED: {
    severity: 'warning',
    fix: 'Find out who made it and why, then drop it, and take CREATE on the schema away from whoever is not trusted with the rights of the service (on PostgreSQL 14: REVOKE CREATE ON SCHEMA public FROM PUBLIC).',
  },
  LOCK_SLOTS_LOW: {
    severity: 'warning',
    fix: 'Raise max_locks_per_transaction to the number that is named, and restart PostgreSQL.',
  },
  CONNECTIONS_LOW: { severity: 'warning', fix: 'Lower DB_POOL, or raise max_connections and restart PostgreSQL.' },
  STATEMENT_TIMEOUT: {
    severity: 'warning',
    fix: 'ALTER ROLE … SET statement_timeout = 0 for the user of DATABASE_URL: the service sets its own limit (STATEMENT_TIMEOUT) for each change.',
  },
  STATISTICS_HIDDEN: {
    severity: 'warning',
    fix: 'GRANT pg_read_all_stats TO … (as a superuser), the user of DATABASE_URL.',
  },
  CLOCK_DIFFERENCE: {
    severity: 'warning',
    fix: 'Keep the clocks of this machine and of the database server in step (NTP): events carry the time of this machine.',
  },
  LOG_IN_FUTURE: {
    severity: 'warning',
    fix: 'Correct the clock of the machine that wrote it. Until that time has come, new events carry it too.',
  },
  LOG_UNPROTECTED: {
    severity: 'error',
    fix: `ALTER TABLE ${own.events} ENABLE ALWAYS TRIGGER service_events_append_only (db/0001_service_tables.sql creates it where it is missing), then "dps verify".`,
  },
  CHAIN_BROKEN: {
    severity: 'error',
    fix: 'The log was changed by hand. Compare it with an export or a backup ("dps verify --file … --against …"), and restore the one that holds.',
  },
  LOG_DIVERGED: {
    severity: 'error',
    fix: 'Find out why (a failover, a backup that was restored, a change by hand), then "dps acknowledge-log".',
  },
  LOG_UNREADABLE: {
    severity: 'error',
    fix: 'The event at that position was not written by this service or was changed: restore a log that holds ("dps restore").',
  },
  STORED_FOLD_WRONG: {
    severity: 'warning',
    fix: `Nothing has to be done: it is not used and will be stored again. DELETE FROM ${own.folds} takes all of them away.`,
  },
  ROWS_DIFFER: {
    severity: 'error',
    fix: '"dps rebuild metadata" rebuilds the rows from the log, while the service runs.',
  },
  TABLES_DIFFER: {
    severity: 'error',
    fix: 'The tables were changed past the service: "dps drift" names what, and how to take it over or take it back.',
  },
  TRASH_DIFFERS: {
    severity: 'warning',
    fix: 'What was dropped by hand can not come back: "dps trash purge POSITION" takes it off the list. A list that was changed by hand is made again by "dps rebuild trash".',
  },
  CHANGES_DIFFER: {
    severity: 'error',
    fix: '"dps rebuild change-requests" makes the list of change requests again from the log, while the service runs.',
  },
  ACCOUNTS_DIFFER: {
    severity: 'error',
    fix: 'Someone changed accounts in the database itself. Delete users that nobody created ("dps users remove"), revoke such API tokens ("dps tokens revoke"), and set roles and statuses again ("dps users set"). Then change the password of the database account.',
  },
  OWN_TABLES_DIFFER: {
    severity: 'error',
    fix: 'Someone changed the tables of the service in the database itself. Put back what the message names (db/*.sql creates it), then run "dps verify".',
  },
  KEY_ALTERED: {
    severity: 'error',
    fix: 'Someone changed service_keys. Distribute no key from it, verify older checkpoints with the key that you distributed before, and run "dps keys rotate".',
  },
  TRASH_STRANGE: {
    severity: 'warning',
    fix: 'Move what the message names elsewhere, or drop it (DROP SCHEMA … CASCADE where the whole schema is not ours): what is in the trash is purged only when nothing else depends on it or stands beside it.',
  },
  PREPARATION_LEFT: {
    severity: 'warning',
    fix: 'Run what is named for each, in that order. It is left where a database was restored, or its rows were taken away.',
  },
  PROJECTION_FAILED: { severity: 'error', fix: '"dps status" shows the event, the reason and the next step.' },
  PROJECTION_BEHIND: {
    severity: 'warning',
    fix: 'Start the service if it does not run; "dps rebuild NAME" lets the projection go on at once.',
  },
  LISTENER_DEAF: {
    severity: 'error',
    fix: 'Set DIRECT_DATABASE_URL to the address of the server itself, past any pooler; what is announced on DATABASE_URL must arrive there.',
  },
  POOLER_UNUSABLE: { severity: 'error', fix: 'Set what the message names; docs/cluster.md, "Poolers".' },
  POOLER_UNEXPECTED: {
    severity: 'warning',
    fix: 'Take DB_POOLER away: the start finds out by itself what is there.',
  },
  PROXY_UNTRUSTED: {
    severity: 'warning',
    fix: 'If that address is your proxy, set TRUST_PROXY. Otherwise a client sent the header itself, and nothing has to be done.',
  },
  CHECK_FAILED: { severity: 'error', fix: 'Mend what the message says, and run "dps doctor" again.' },
} as const satisfies Record<string, Kind>;

export type FindingCode = keyof typeof FINDINGS;

export interface Finding {
  code: FindingCode;
  severity: Severity;
  message: string;
  fix: string;
}

/** With the severity and the fix of its code. */
export function finding(code: FindingCode, message: string): Finding {
  return { code, ...FINDINGS[code], message };
}

/** From the service's settings. */
interface DoctorSettings {
  schema: string;
  serviceSchema: string;
  databaseUrl: string | null;
  databasePooler: 'none' | 'transaction' | null;
  poolSize: number;
  tokenSecret: string | null;
}

export interface DoctorContext {
  config: DoctorSettings;
  addresses: Addresses;
  pool: pg.Pool;
  tools: {
    projections: Pick<Projections, 'list' | 'verify'>;
    /** Folds the whole log. */
    load(): Promise<void>;
  };
  onVerified?: (done: number, total: number) => void;
  /** Explains why a check could not run. Default: the error's message. */
  explain?: (error: unknown, check: string) => string;
  server: ServerState;
  /** The address that forwarded requests without being trusted. Absent outside a running service, which alone knows. */
  untrustedProxy?: () => string | null;
  /** Milliseconds since 1970, by this machine's clock. */
  now: () => number;
}

export interface Check {
  name: string;
  /** Skipped on a standby, where the answer is not available. */
  needsPrimary?: true;
  /** Skipped outside a running service. */
  needsService?: true;
  /** If it finds an error, later checks are skipped. */
  decisive?: true;
  run(context: DoctorContext): Promise<Finding[]>;
}
