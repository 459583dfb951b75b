import type pg from 'pg';
import type { Addresses } from '../postgres/pool.js';
import type { OidcSettings } from '../features/accounts/oidc.js';
import type { Projections } from '../features/projections/index.js';
import type { ServerState } from '../postgres/server.js';
import { own } from '../postgres/own-tables.js';

/* The findings of `dps doctor` and their fixes. docs/doctor.md has a row for each code. */

type Severity = 'error' | 'warning';

interface Kind {
  severity: Severity;
  /** The fix. The SQL names our tables with a placeholder that `examine` replaces with the schema. */
  fix: string;
}

export const FINDINGS = {
  DATABASE_UNREACHABLE: {
    severity: 'error',
    fix: 'Start the database server, or correct DATABASE_URL (DATA_DIR for the embedded server).',
  },
  DATABASE_UNSUPPORTED: {
    severity: 'error',
    fix: 'Use a database of PostgreSQL 14 or newer with the encoding UTF8 (pg_dump, CREATE DATABASE … ENCODING UTF8, pg_restore).',
  },
  DATABASE_READ_ONLY: {
    severity: 'error',
    fix: 'Remove default_transaction_read_only from the database and its role.',
  },
  REPLAY_PAUSED: {
    severity: 'warning',
    fix: 'Run SELECT pg_wal_replay_resume() as a superuser to resume replay on the standby.',
  },
  STANDBY_BEHIND: {
    severity: 'warning',
    fix: 'Check the PostgreSQL log on the standby. It shows whether the standby reaches its primary, and what blocks replay (max_standby_streaming_delay, disk).',
  },
  SCHEMA_NOT_WRITABLE: {
    severity: 'error',
    fix: 'Run the statements in the message. They concern the schemas that DB_SCHEMA and SERVICE_SCHEMA name.',
  },
  SERVICE_MISSING: {
    severity: 'error',
    fix: 'Start the service once, or check DATABASE_URL, DATA_DIR, DB_SCHEMA and SERVICE_SCHEMA.',
  },
  MIGRATIONS_PENDING: {
    severity: 'error',
    fix: 'Start this release of the service once. It migrates its tables.',
  },
  MIGRATIONS_NEWER: { severity: 'error', fix: 'Use the release that last ran on this database, or a newer one.' },
  RESTORE_UNFINISHED: {
    severity: 'error',
    fix: 'Wait until the restore ends. If it was interrupted, drop the database and restore into a new one.',
  },
  TABLES_NOT_OWNED: {
    severity: 'error',
    fix: 'Run ALTER TABLE … OWNER TO the role of DATABASE_URL, or make that role a member of the owner.',
  },
  OBJECTS_OWNER_UNUSABLE: {
    severity: 'error',
    fix: 'Follow the message, or set OBJECTS_OWNER to another role. Otherwise the service does not start.',
  },
  NAMES_SHADOWED: {
    severity: 'warning',
    fix: 'Find out who created it and why, and drop it. Revoke CREATE on the schema from roles that you do not trust with the privileges of the service (on PostgreSQL 14: REVOKE CREATE ON SCHEMA public FROM PUBLIC).',
  },
  LOCK_SLOTS_LOW: {
    severity: 'warning',
    fix: 'Raise max_locks_per_transaction to the number in the message, and restart PostgreSQL.',
  },
  CONNECTIONS_LOW: { severity: 'warning', fix: 'Lower DB_POOL, or raise max_connections and restart PostgreSQL.' },
  STATEMENT_TIMEOUT: {
    severity: 'warning',
    fix: 'Run ALTER ROLE … SET statement_timeout = 0 for the role of DATABASE_URL. The service sets its own limit (STATEMENT_TIMEOUT) for each change.',
  },
  STATISTICS_HIDDEN: {
    severity: 'warning',
    fix: 'Run GRANT pg_read_all_stats TO the role of DATABASE_URL, as a superuser.',
  },
  CLOCK_DIFFERENCE: {
    severity: 'warning',
    fix: 'Synchronize the clocks of this machine and of the database server (NTP). Events carry the time of this machine.',
  },
  LOG_IN_FUTURE: {
    severity: 'warning',
    fix: 'Correct the clock of the machine that wrote the event. Until then, new events get that time too.',
  },
  LOG_UNPROTECTED: {
    severity: 'error',
    fix: `Run ALTER TABLE ${own.events} ENABLE ALWAYS TRIGGER service_events_append_only, ENABLE ALWAYS TRIGGER service_events_only_erase, then "dps verify". If a trigger is missing, db/0001_service_tables.sql creates it.`,
  },
  CHAIN_BROKEN: {
    severity: 'error',
    fix: 'Someone changed the log by hand. Compare it with an export or a backup ("dps verify --file … --against …"), and restore a valid one.',
  },
  CHANGE_NOT_ALLOWED: {
    severity: 'error',
    fix: 'Someone bypassed the policy with access to the database, or wrote events by hand. Review the change at that position, and who had that access.',
  },
  LOG_DIVERGED: {
    severity: 'error',
    fix: 'Find out why (a failover, a restored backup, a change by hand), then run "dps acknowledge-log".',
  },
  LOG_UNREADABLE: {
    severity: 'error',
    fix: 'This service did not write the event at that position, or someone changed it. Restore a valid log ("dps restore").',
  },
  STORED_FOLD_WRONG: {
    severity: 'warning',
    fix: `No action is required: the service does not use it and will store it again. DELETE FROM ${own.folds} removes all of them.`,
  },
  ROWS_DIFFER: {
    severity: 'error',
    fix: 'Run "dps rebuild metadata". It rebuilds the rows from the log while the service runs.',
  },
  TABLES_DIFFER: {
    severity: 'error',
    fix: 'Someone changed the tables outside the service. "dps drift" lists the differences and how to repair or accept them.',
  },
  TRASH_DIFFERS: {
    severity: 'warning',
    fix: 'If a deleted object was dropped by hand, remove it from the list with "dps trash purge POSITION". If it was changed by hand, restore the named columns with SQL; until then it cannot be restored. If the list was changed by hand, run "dps rebuild trash".',
  },
  CHANGES_DIFFER: {
    severity: 'error',
    fix: 'Run "dps rebuild change-requests". It rebuilds the list of change requests from the log while the service runs.',
  },
  ACCOUNTS_DIFFER: {
    severity: 'error',
    fix: 'Someone changed accounts directly in the database. Delete users that nobody created ("dps users remove"), revoke such API tokens ("dps tokens revoke"), and set roles and statuses again ("dps users set"). Then change the password of the database account.',
  },
  OWN_TABLES_DIFFER: {
    severity: 'error',
    fix: 'Someone changed the tables of the service directly in the database. Restore what the message names (db/*.sql creates it), or remove it if it was added. Then run "dps verify".',
  },
  KEY_ALTERED: {
    severity: 'error',
    fix: 'Someone changed service_keys. Do not distribute keys from it, verify older checkpoints with the key that you distributed before, and run "dps keys rotate".',
  },
  TRASH_STRANGE: {
    severity: 'warning',
    fix: 'Move the named objects to another schema, or drop each by name. Do not use DROP SCHEMA … CASCADE, which also drops deleted tables that can still be restored. For privileges, use REVOKE ALL ON SCHEMA … FROM …. The service purges the trash only if it contains nothing else.',
  },
  PREPARATION_LEFT: {
    severity: 'warning',
    fix: 'Run the commands in the message, in that order. Prepared objects can remain after a database was restored, or after rows were deleted by hand.',
  },
  PROJECTION_FAILED: { severity: 'error', fix: 'Run "dps status". It shows the event, the reason and the next step.' },
  PROJECTION_BEHIND: {
    severity: 'warning',
    fix: 'Start the service if it is not running. "dps rebuild NAME" resumes the projection immediately.',
  },
  WEBHOOK_FAILING: {
    severity: 'warning',
    fix: 'Run "dps webhooks deliveries NAME" to see the failed attempts, and correct the receiver or the address. After three days of failures, the service disables the webhook.',
  },
  WEBHOOK_DISABLED: {
    severity: 'warning',
    fix: 'Correct the receiver or the address, and run "dps webhooks enable NAME". It continues after the last delivered event. Delete webhooks that you no longer need.',
  },
  PROVIDER_UNUSABLE: {
    severity: 'warning',
    fix: 'Open OIDC_ISSUER with /.well-known/openid-configuration on the machine of the service. "issuer" there must equal OIDC_ISSUER. Until then, nobody can sign in with the provider.',
  },
  PROVE_SERVER_UNUSABLE: {
    severity: 'warning',
    fix: 'Follow the message, or remove PROVE_DATABASE_URL to prove changes in the database of the service.',
  },
  TRACES_LOST: {
    severity: 'warning',
    fix: 'Correct OTEL_EXPORTER_OTLP_ENDPOINT and OTEL_EXPORTER_OTLP_HEADERS, or start the collector. The address is that of OTLP over HTTP (usually port 4318), without /v1/traces.',
  },
  POSTGREST_UNNOTIFIED: {
    severity: 'warning',
    fix: "Set NOTIFY_POSTGREST=on for all processes and commands of the service. Until then, reload PostgREST after each change: NOTIFY pgrst, 'reload schema'.",
  },
  POSTGREST_MISSING: {
    severity: 'warning',
    fix: 'Start PostgREST, and point PGRST_DB_URI to this database. If PostgREST no longer uses the database, remove NOTIFY_POSTGREST.',
  },
  POSTGREST_PRIVILEGED: {
    severity: 'warning',
    fix: 'Connect PostgREST with a role of its own, and grant it only the roles of its requests. Revoke the privileges that these roles have on the schema of the service: REVOKE ALL ON ALL TABLES IN SCHEMA … FROM ….',
  },
  LISTENER_DEAF: {
    severity: 'error',
    fix: 'Set DIRECT_DATABASE_URL to the address of the server itself, without a pooler. Notifications that are sent on DATABASE_URL must arrive on that connection.',
  },
  POOLER_UNUSABLE: { severity: 'error', fix: 'Change the named settings as docs/cluster.md, "Poolers", describes.' },
  POOLER_UNEXPECTED: {
    severity: 'warning',
    fix: 'Remove DB_POOLER. The service then detects a pooler when it starts.',
  },
  PROXY_UNTRUSTED: {
    severity: 'warning',
    fix: 'If that address is your proxy, set TRUST_PROXY. Otherwise a client sent the header itself, and no action is required.',
  },
  CHECK_FAILED: { severity: 'error', fix: 'Fix the problem in the message, and run "dps doctor" again.' },
} as const satisfies Record<string, Kind>;

export type FindingCode = keyof typeof FINDINGS;

export interface Finding {
  code: FindingCode;
  severity: Severity;
  message: string;
  fix: string;
}

/** Creates a finding with the severity and the fix of its code. */
export function finding(code: FindingCode, message: string): Finding {
  return { code, ...FINDINGS[code], message };
}

/** The settings of the service that checks read. */
interface DoctorSettings {
  /** The default schema. */
  schema: string;
  /** All managed schemas. */
  schemas?: readonly string[] | undefined;
  serviceSchema: string;
  objectsOwner?: string | null;
  databaseUrl: string | null;
  databasePooler: 'none' | 'transaction' | null;
  poolSize: number;
  tokenSecret: string | null;
  oidc: OidcSettings | null;
  notifyPostgrest: boolean;
  proveDatabaseUrl: string | null;
  traces: { endpoint: string | null; headers: Readonly<Record<string, string>> };
}

export interface DoctorContext {
  config: DoctorSettings;
  addresses: Addresses;
  pool: pg.Pool;
  tools: {
    projections: Pick<Projections, 'list' | 'verify'>;
    /** Folds the whole log. */
    load(): Promise<void>;
    /**
     * Sends an export without spans.
     * @throws with the reason if the collector does not accept it
     */
    testExport(collector: { endpoint: string; headers: Readonly<Record<string, string>> }): Promise<void>;
  };
  onVerified?: (done: number, total: number) => void;
  /** Explains why a check could not run. Default: the error's message. */
  explain?: (error: unknown, check: string) => string;
  server: ServerState;
  /**
   * The address that forwarded requests without being trusted. Only a running service knows it, so it is absent
   * elsewhere.
   */
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
  /** True if an error of this check makes the following checks pointless. They are then skipped. */
  decisive?: true;
  run(context: DoctorContext): Promise<Finding[]>;
}
