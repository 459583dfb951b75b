/** The settings, from the environment. An empty one counts as absent, but for the database's address. */
import { z } from 'zod';
import { PASSWORD_LENGTH } from './auth/account-rules.js';
import { OperatorError } from './kernel/operator-error.js';
import { type Environment, withSecretFiles } from './secret-files.js';
import { directUrlOf, requireAddress, serviceSchemaOf } from './setting-rules.js';
import {
  KIB,
  databaseUrl,
  duration,
  every,
  keeping,
  origins,
  place,
  schemaName,
  secret,
  serviceUrl,
  size,
  token,
  trustProxy,
  wholeNumber,
} from './setting-types.js';

const settings = z.object({
  HOST: z.string().default('127.0.0.1'),
  PORT: wholeNumber('a port', 0, 65_535).default(8055),
  DATABASE_URL: databaseUrl.optional(),
  DIRECT_DATABASE_URL: databaseUrl.optional(),
  LISTEN_DATABASE_URL: databaseUrl.optional(),
  DB_POOLER: z.enum(['none', 'transaction'], 'must be none or transaction').optional(),
  DATA_DIR: z.string().default('./data'),
  DB_SCHEMA: schemaName.default('public'),
  SERVICE_SCHEMA: schemaName.optional(),
  DB_POOL: wholeNumber('a number of connections', 2, 500).default(10),
  ADMIN_EMAIL: z.email('must be an e-mail address').optional(),
  ADMIN_PASSWORD: secret(PASSWORD_LENGTH.min).optional(),
  ADMIN_TOKEN: token.optional(),
  TOKEN_SECRET: secret(32).optional(),
  TRUST_PROXY: trustProxy.default(0),
  CORS_ORIGINS: origins.default([]),
  APP: z.enum(['on', 'off'], 'must be on or off').default('on'),
  LOG_LEVEL: z.enum(['error', 'warn', 'info', 'debug'], 'must be error, warn, info or debug').default('info'),
  LOG_FORMAT: z.enum(['json', 'pretty'], 'must be json or pretty').optional(),
  MAX_BODY: size.default(32 * KIB ** 2),
  REQUESTS_PER_USER: wholeNumber('a number of requests', 1, 100_000).default(200),
  STREAMS_PER_USER: wholeNumber('a number of streams', 1, 100_000).default(50),
  CHANGES_PER_USER: wholeNumber('a number of change requests', 1, 1_000_000).default(200),
  LOCK_TIMEOUT: duration.default(10_000),
  LOCK_WAIT: duration.default(200),
  STATEMENT_TIMEOUT: duration.default(600_000),
  KEEP_DELETED: keeping.default(7 * 86_400_000),
  KEEP_COPY_ROWS: wholeNumber('a number of rows', 0, 100_000_000).default(100_000),
  ONLINE_ROWS_PER_SECOND: wholeNumber('a number of rows', 0, 100_000_000).default(0),
  ONLINE_MAX_LAG: duration.default(10_000),
  PRIMARY_URL: serviceUrl.optional(),
  POSITION_TIMEOUT: duration.default(5_000),
  CHECKPOINT_TO: place.optional(),
  CHECKPOINT_EVERY: every.default({ events: 100, time: 600_000 }),
  CHECKPOINT_KEY_FILE: z.string().optional(),
  CHECKPOINT_WAIT_FOR_STANDBYS: wholeNumber('a number of standbys', 0, 100).optional(),
  ON_LOG_DIVERGENCE: z.enum(['refuse', 'continue'], 'must be refuse or continue').default('refuse'),
});

/** The names of all settings. */
export const SETTINGS = Object.keys(settings.shape);

/** Those that may stand in a file, which `…_FILE` names. */
export const SECRETS = [
  'DATABASE_URL',
  'DIRECT_DATABASE_URL',
  'LISTEN_DATABASE_URL',
  'ADMIN_PASSWORD',
  'ADMIN_TOKEN',
  'TOKEN_SECRET',
  'CHECKPOINT_TO',
];

export interface Config {
  host: string;
  /** 0: any free port. */
  port: number;
  /** The database to use; null: an embedded server in `dataDir`. */
  databaseUrl: string | null;
  /** For what needs a session, where `databaseUrl` leads through a pooler; null: the same. */
  directDatabaseUrl: string | null;
  /** What `databaseUrl` leads through; null: found out at the start. */
  databasePooler: 'none' | 'transaction' | null;
  dataDir: string;
  /** The schema that is managed. */
  schema: string;
  /** The one that our own tables live in. */
  serviceSchema: string;
  /** Database connections at most, beside the two for listening and reading. */
  poolSize: number;
  admin: { email: string | null; password: string | null; token: string | null };
  /** What access tokens are signed with; null: the one kept in the database. */
  tokenSecret: string | null;
  /** How many proxies in front are believed when they say where a request comes from, or which. */
  trustProxy: number | readonly string[];
  /** Of other sites, whose pages may ask. */
  corsOrigins: readonly string[];
  /** Whether the admin app is served. */
  app: boolean;
  log: { level: 'error' | 'warn' | 'info' | 'debug'; format: 'json' | 'pretty' };
  /** Bytes of a request body: of schema documents, and of everything else. */
  maxBody: { schema: number; other: number };
  /** Limits per user. */
  quotas: {
    /** Requests under way in this process. */
    requests: number;
    /** Answers that are streamed by this process. */
    streams: number;
    /** Change requests that have not ended. */
    changes: number;
  };
  /** Milliseconds that a change waits for its locks, all together. */
  lockTimeout: number;
  /** Milliseconds that one try waits for a lock on a table, while others queue behind it. */
  lockWait: number;
  /** Milliseconds. */
  statementTimeout: number;
  /** What is deleted stays in the trash. */
  keep: {
    /** Milliseconds; 0: it is dropped at once. */
    deleted: number;
    /** Rows that a table may have, at most, where a deleted field's values are copied in its transaction. */
    copyRows: number;
  };
  /** What is prepared of changes while their tables are used. */
  pace: {
    /** Rows a second, at most; null: as fast as the batches allow. */
    rate: number | null;
    /** Milliseconds that a standby may be behind. */
    maxLag: number;
  };
  /** Where a service is that takes changes, while this one reads from a standby; null: nobody has said. */
  primaryUrl: string | null;
  /** Milliseconds that a request waits for the log to come to the position that it asks for. */
  positionTimeout: number;
  /** Where signed checkpoints of the log go, how often, and how many standbys must have what is signed. */
  checkpoints: {
    /** A folder, or an http(s) address, which may hold a user and a password; null: nowhere. */
    to: string | null;
    /** Events, or milliseconds, whichever is over first. */
    every: { events: number; time: number };
    /** Holds the private key that signs; null: one kept in the database. */
    keyFile: string | null;
    /** Null: one, where the server has or expects one. */
    standbys: number | null;
  };
  /** What to do when the log is not the one that was seen: refuse every change, or acknowledge it and go on. */
  onLogDivergence: 'refuse' | 'continue';
}

/**
 * Reads the settings.
 * @throws OperatorError that names the first wrong one; values are never repeated, they may be secrets
 */
export function readConfig(environment: Environment): Config {
  if (environment['DATABASE_URL'] === '') {
    throw new OperatorError('The setting DATABASE_URL is empty: give the address of a database, or take it away.');
  }
  const complete = withSecretFiles(environment, SECRETS);
  const given = Object.fromEntries(SETTINGS.map((name) => [name, complete[name] || undefined]));
  const parsed = settings.safeParse(given);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new OperatorError(`The setting ${String(issue?.path[0])} ${issue?.message}.`);
  }
  requireAddress(parsed.data);
  return toConfig(parsed.data);
}

function toConfig(given: z.output<typeof settings>): Config {
  return {
    host: given.HOST,
    port: given.PORT,
    databaseUrl: given.DATABASE_URL ?? null,
    directDatabaseUrl: directUrlOf(given),
    databasePooler: given.DB_POOLER ?? null,
    dataDir: given.DATA_DIR,
    schema: given.DB_SCHEMA,
    serviceSchema: serviceSchemaOf(given),
    poolSize: given.DB_POOL,
    admin: {
      email: given.ADMIN_EMAIL ?? null,
      password: given.ADMIN_PASSWORD ?? null,
      token: given.ADMIN_TOKEN ?? null,
    },
    tokenSecret: given.TOKEN_SECRET ?? null,
    trustProxy: given.TRUST_PROXY,
    corsOrigins: given.CORS_ORIGINS,
    app: given.APP === 'on',
    log: { level: given.LOG_LEVEL, format: given.LOG_FORMAT ?? (process.stderr.isTTY ? 'pretty' : 'json') },
    maxBody: { schema: given.MAX_BODY, other: Math.min(given.MAX_BODY, KIB ** 2) },
    quotas: {
      requests: given.REQUESTS_PER_USER,
      streams: given.STREAMS_PER_USER,
      changes: given.CHANGES_PER_USER,
    },
    lockTimeout: given.LOCK_TIMEOUT,
    lockWait: given.LOCK_WAIT,
    statementTimeout: given.STATEMENT_TIMEOUT,
    keep: { deleted: given.KEEP_DELETED, copyRows: given.KEEP_COPY_ROWS },
    pace: paceOf(given),
    primaryUrl: given.PRIMARY_URL ?? null,
    positionTimeout: given.POSITION_TIMEOUT,
    checkpoints: checkpointsOf(given),
    onLogDivergence: given.ON_LOG_DIVERGENCE,
  };
}

const paceOf = ({
  ONLINE_ROWS_PER_SECOND: rate,
  ONLINE_MAX_LAG: maxLag,
}: z.output<typeof settings>): Config['pace'] => ({
  rate: rate === 0 ? null : rate,
  maxLag,
});

const checkpointsOf = (given: z.output<typeof settings>): Config['checkpoints'] => ({
  to: given.CHECKPOINT_TO ?? null,
  every: given.CHECKPOINT_EVERY,
  keyFile: given.CHECKPOINT_KEY_FILE ?? null,
  standbys: given.CHECKPOINT_WAIT_FOR_STANDBYS ?? null,
});

/** The settings that must not be shown anywhere. */
export function secretsOf(config: Config): string[] {
  const { password, token: adminToken } = config.admin;
  return [
    password,
    adminToken,
    config.tokenSecret,
    config.databaseUrl,
    config.directDatabaseUrl,
    ...passwordsIn(config.checkpoints.to),
  ].filter((value) => value !== null);
}

/** Of an address: as it stands there, and as it is sent. */
function passwordsIn(address: string | null): string[] {
  if (address === null || !URL.canParse(address)) return [];
  const { password } = new URL(address);
  return password === '' ? [] : [password, decodeURIComponent(password)];
}
