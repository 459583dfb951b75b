/* Reads the settings from the environment. An empty variable counts as absent, except the database address. */
import { closeSync, openSync, readSync } from 'node:fs';
import { z } from 'zod';
import { PASSWORD_LENGTH } from './features/accounts/account-rules.js';
import type { OidcSettings } from './features/accounts/oidc.js';
import { OperatorError } from './kernel/problem.js';
import {
  KIB,
  databaseUrl,
  duration,
  every,
  interval,
  headers,
  issuer,
  keeping,
  origins,
  location,
  networks,
  rolesByClaim,
  schemaName,
  scopes,
  roleName,
  schemaNames,
  secret,
  serviceUrl,
  size,
  token,
  trustProxy,
  wholeNumber,
} from './setting-types.js';
import { LONGEST_SERVICE_SCHEMA, defaultServiceSchema } from './postgres/own-tables.js';
import type { HttpDeps } from './http/deps.js';
import type { ConnectionOptions } from './postgres/pool.js';

/* Reads secrets from files: `NAME_FILE` names the file that contains the setting NAME, as with Docker secrets. */

export type Environment = Readonly<Record<string, string | undefined>>;

/** Maximum size of a secret file. Without a limit, reading a device file would never end. */
const MAX_BYTES = 64 * 1024;

/**
 * Returns `environment` with the secrets of its `…_FILE` variables. One trailing line break is removed, because editors
 * add it.
 * @throws OperatorError that names the setting, if both are set or the file cannot be read
 */
function withSecretFiles(environment: Environment, secrets: readonly string[]): Environment {
  const read: Record<string, string> = {};
  for (const name of secrets) {
    const file = environment[`${name}_FILE`];
    if (file === undefined || file === '') continue;
    if (environment[name]) throw new OperatorError(`The settings ${name} and ${name}_FILE cannot be used together.`);
    read[name] = textOf(file, name);
  }
  return { ...environment, ...read };
}

function textOf(file: string, name: string): string {
  try {
    const text = startOf(file);
    if (text.length > MAX_BYTES) throw new Error('it is too large for a secret');
    const secret = text.replace(/\r?\n$/, '');
    if (secret === '') throw new Error('it is empty');
    return secret;
  } catch (cause) {
    throw new OperatorError(`The file of ${name}_FILE cannot be used: ${(cause as Error).message}.`, {
      cause,
    });
  }
}

/** Reads at most one byte more than the limit, which is enough to notice that the file is too long. */
function startOf(file: string): string {
  const descriptor = openSync(file, 'r');
  try {
    const bytes = Buffer.alloc(MAX_BYTES + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < bytes.length; length += read) {
      read = readSync(descriptor, bytes, length, bytes.length - length, null);
    }
    return bytes.toString('utf8', 0, length);
  } finally {
    closeSync(descriptor);
  }
}

/* Rules that involve more than one setting. */

type ConnectionSettings = Partial<
  Record<
    'DATABASE_URL' | 'DIRECT_DATABASE_URL' | 'LISTEN_DATABASE_URL' | 'DB_POOLER' | 'SERVICE_SCHEMA',
    string | undefined
  >
>;

/**
 * Returns the managed schemas and the schema of the service's own tables. DB_SCHEMA configures a single managed schema,
 * and DB_SCHEMAS several.
 * @throws OperatorError if the settings contradict each other
 */
function schemasOf(
  input: Partial<Record<'DB_SCHEMA' | 'SERVICE_SCHEMA', string>> & { DB_SCHEMAS?: readonly string[] | undefined },
): Pick<Config, 'schema' | 'schemas' | 'serviceSchema'> {
  const schemas = input.DB_SCHEMAS ?? [input.DB_SCHEMA ?? 'public'];
  const [schema = 'public'] = schemas;
  if (input.DB_SCHEMA !== undefined && input.DB_SCHEMA !== schema) {
    throw new OperatorError(
      'The settings DB_SCHEMA and DB_SCHEMAS differ. Remove DB_SCHEMA: the first schema of DB_SCHEMAS is the default.',
    );
  }
  const serviceSchema = serviceSchemaOf(schema, input.SERVICE_SCHEMA);
  if (schemas.includes(serviceSchema)) throw new OperatorError(SAME_SCHEMAS);
  return { schema, schemas, serviceSchema };
}

const SAME_SCHEMAS =
  'The settings SERVICE_SCHEMA and DB_SCHEMA must differ: the tables of the service are in their own schema.';

/** Returns the schema of the service's own tables. @throws OperatorError */
function serviceSchemaOf(schema: string, setting: string | undefined): string {
  const name = setting ?? defaultServiceSchema(schema);
  if (Buffer.byteLength(name) > LONGEST_SERVICE_SCHEMA) {
    const problem = `"${name}" is too long: the names of the trash schemas begin with it, so it may have at most ${LONGEST_SERVICE_SCHEMA} bytes`;
    throw new OperatorError(
      `The setting SERVICE_SCHEMA ${setting === undefined ? 'is required' : 'must be another schema'}: ${problem}.`,
    );
  }
  if (name === 'public') {
    throw new OperatorError('The setting SERVICE_SCHEMA must not be public: every connection searches that schema.');
  }
  return name;
}

/**
 * Accepts LISTEN_DATABASE_URL too, the former name of DIRECT_DATABASE_URL.
 * @throws OperatorError if both are set and differ
 */
function directUrlOf({ DIRECT_DATABASE_URL: direct, LISTEN_DATABASE_URL: listen }: ConnectionSettings): string | null {
  if (direct === undefined || listen === undefined || direct === listen) return direct ?? listen ?? null;
  throw new OperatorError(
    'The settings DIRECT_DATABASE_URL and LISTEN_DATABASE_URL differ. LISTEN_DATABASE_URL is the old name of DIRECT_DATABASE_URL. Remove it.',
  );
}

/** An embedded server has no second address, so setting one of these is an error. */
const WAYS = ['DIRECT_DATABASE_URL', 'LISTEN_DATABASE_URL', 'DB_POOLER'] as const;

/** @throws OperatorError if one of `WAYS` is set without DATABASE_URL */
function requireAddress(connection: ConnectionSettings): void {
  if (connection.DATABASE_URL !== undefined) return;
  const name = WAYS.find((way) => connection[way] !== undefined);
  if (name === undefined) return;
  throw new OperatorError(
    `The setting ${name} requires DATABASE_URL. Without DATABASE_URL the service starts its own server.`,
  );
}

const settings = z.object({
  HOST: z.string().default('127.0.0.1'),
  PORT: wholeNumber('a port', 0, 65_535).default(8055),
  DATABASE_URL: databaseUrl.optional(),
  DIRECT_DATABASE_URL: databaseUrl.optional(),
  LISTEN_DATABASE_URL: databaseUrl.optional(),
  DB_POOLER: z.enum(['none', 'transaction'], 'must be none or transaction').optional(),
  PROVE_DATABASE_URL: databaseUrl.optional(),
  DATA_DIR: z.string().default('./data'),
  DB_SCHEMA: schemaName.optional(),
  DB_SCHEMAS: schemaNames.optional(),
  SERVICE_SCHEMA: schemaName.optional(),
  OBJECTS: z.enum(['on', 'off'], 'must be on or off').default('off'),
  OBJECTS_OWNER: roleName.optional(),
  SAMPLES: z.enum(['on', 'off'], 'must be on or off').default('on'),
  DB_POOL: wholeNumber('a number of connections', 2, 500).default(10),
  ADMIN_EMAIL: z.email('must be an e-mail address').optional(),
  ADMIN_PASSWORD: secret(PASSWORD_LENGTH.min).optional(),
  ADMIN_TOKEN: token.optional(),
  TOKEN_SECRET: secret(32).optional(),
  OIDC_ISSUER: issuer.optional(),
  OIDC_CLIENT_ID: z.string().max(512).optional(),
  OIDC_CLIENT_SECRET: z.string().max(4_096).optional(),
  OIDC_SCOPES: scopes.default('openid email profile'),
  OIDC_ROLES: rolesByClaim.optional(),
  OIDC_LABEL: z.string().max(60, 'must have at most 60 characters').default('Single sign-on'),
  PASSWORD_LOGIN: z.enum(['on', 'off'], 'must be on or off').default('on'),
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
  VERIFY_EVERY: interval.default(0),
  CHECKPOINT_TO: location.optional(),
  CHECKPOINT_EVERY: every.default({ events: 100, time: 600_000 }),
  CHECKPOINT_KEY_FILE: z.string().optional(),
  CHECKPOINT_WAIT_FOR_STANDBYS: wholeNumber('a number of standbys', 0, 100).optional(),
  WEBHOOK_PRIVATE_NETWORKS: networks.default([]),
  NOTIFY_POSTGREST: z.enum(['on', 'off'], 'must be on or off').default('off'),
  OTEL_EXPORTER_OTLP_ENDPOINT: serviceUrl.optional(),
  OTEL_EXPORTER_OTLP_HEADERS: headers.default({}),
  ON_LOG_DIVERGENCE: z.enum(['refuse', 'continue'], 'must be refuse or continue').default('refuse'),
});

export const SETTINGS = Object.keys(settings.shape);

/** Settings that `…_FILE` variables can read from files. */
export const SECRETS = [
  'DATABASE_URL',
  'DIRECT_DATABASE_URL',
  'LISTEN_DATABASE_URL',
  'PROVE_DATABASE_URL',
  'ADMIN_PASSWORD',
  'ADMIN_TOKEN',
  'TOKEN_SECRET',
  'OIDC_CLIENT_SECRET',
  'CHECKPOINT_TO',
  'OTEL_EXPORTER_OTLP_HEADERS',
];

export interface Config {
  host: string;
  /** 0 selects any free port. */
  port: number;
  /** Null starts an embedded server in `dataDir`. */
  databaseUrl: string | null;
  /** The address for work that needs a session, if `databaseUrl` uses a pooler. Null uses `databaseUrl`. */
  directDatabaseUrl: string | null;
  /** The pooling mode behind `databaseUrl`. Null detects it at the start. */
  databasePooler: 'none' | 'transaction' | null;
  /** The server on which proofs create a scratch database. Null proves changes in the database itself. */
  proveDatabaseUrl: string | null;
  dataDir: string;
  /** The default managed schema. */
  schema: string;
  /** The managed schemas, the default first. */
  schemas: readonly string[];
  /** The schema of the service's own tables. */
  serviceSchema: string;
  /** True to manage objects other than tables. */
  objects: boolean;
  /** The role that owns managed tables and objects. Null leaves them to the role of the connection. */
  objectsOwner: string | null;
  /** True to show sample rows to admins and auditors. */
  samples: boolean;
  /** Maximum number of database connections, in addition to three for listening, reading and building indexes. */
  poolSize: number;
  admin: { email: string | null; password: string | null; token: string | null };
  /** Signs access tokens. Null uses the secret that the database keeps. */
  tokenSecret: string | null;
  /** The OpenID provider. Null if not configured. */
  oidc: OidcSettings | null;
  /** False if users log in with the provider only. */
  passwordLogin: boolean;
  /** The number of trusted proxies in front of the service, or their addresses. */
  trustProxy: number | readonly string[];
  /** Origins of other sites whose pages may send requests. */
  corsOrigins: readonly string[];
  /** Serves the admin app. */
  app: boolean;
  log: { level: 'error' | 'warn' | 'info' | 'debug'; format: 'json' | 'pretty' };
  /** Maximum size of a request body in bytes, for schema documents and for all other requests. */
  maxBody: { schema: number; other: number };
  quotas: {
    /** Concurrent requests in this process. */
    requests: number;
    /** Concurrent streamed responses of this process. */
    streams: number;
    /** Unfinished change requests. */
    changes: number;
  };
  /** Milliseconds that a change waits for all of its locks in total. */
  lockTimeout: number;
  /** Milliseconds that one attempt waits for a table lock while other sessions queue behind it. */
  lockWait: number;
  /** Maximum milliseconds that a statement may run. */
  statementTimeout: number;
  /** Limits of the trash. */
  keep: {
    /** Milliseconds that deleted objects stay in the trash. 0 drops them immediately. */
    deleted: number;
    /** Maximum number of rows of a table for which the values of a deleted field are copied within the transaction. */
    copyRows: number;
  };
  /** Limits for background preparation of changes while clients use the tables. */
  pace: {
    /** Maximum rows per second. Null sets no limit. */
    rate: number | null;
    /** Maximum replication lag of a standby in milliseconds. */
    maxLag: number;
  };
  /** Address of a service that accepts changes, while this one reads from a standby. Null if not configured. */
  primaryUrl: string | null;
  /** Milliseconds that a request waits for the log to reach the position that the request names. */
  positionTimeout: number;
  /** Milliseconds between two scheduled verifications. 0 schedules none. */
  verifyEvery: number;
  /** Destination and interval of signed checkpoints, and the number of standbys that must have the signed events. */
  checkpoints: {
    /** A folder or an http(s) URL, which may contain a user and a password. Null publishes nothing. */
    to: string | null;
    /** Number of events, or milliseconds. Whichever limit is reached first triggers a checkpoint. */
    every: { events: number; time: number };
    /** File of the private signing key. Null uses a key kept in the database. */
    keyFile: string | null;
    /** Null requires one standby if the server has or expects one. */
    standbys: number | null;
  };
  /** Private networks that webhooks may reach, even over http. */
  webhookNetworks: readonly string[];
  /** Each schema change asks PostgREST to reload its schema cache. */
  notifyPostgrest: boolean;
  /** The OpenTelemetry collector, and the headers that it requires. Null for no traces. */
  traces: { endpoint: string | null; headers: Readonly<Record<string, string>> };
  /**
   * Decides what happens if the log is not the one seen before. `refuse` rejects every change. `continue` acknowledges
   * the divergence and continues.
   */
  onLogDivergence: 'refuse' | 'continue';
}

/** @throws OperatorError that names the first invalid setting. It never repeats a value, which may be a secret. */
export function readConfig(environment: Environment): Config {
  if (environment['DATABASE_URL'] === '') {
    throw new OperatorError('The setting DATABASE_URL is empty. Set the address of a database, or remove the setting.');
  }
  const complete = withSecretFiles(environment, SECRETS);
  const values = Object.fromEntries(SETTINGS.map((name) => [name, complete[name] || undefined]));
  const parsed = settings.safeParse(values);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new OperatorError(`The setting ${String(issue?.path[0])} ${issue?.message}.`);
  }
  requireAddress(parsed.data);
  return toConfig(parsed.data);
}

function toConfig(values: z.output<typeof settings>): Config {
  return {
    host: values.HOST,
    port: values.PORT,
    ...addressesOf(values),
    dataDir: values.DATA_DIR,
    ...schemasOf(values),
    objects: values.OBJECTS === 'on',
    objectsOwner: values.OBJECTS_OWNER ?? null,
    samples: values.SAMPLES === 'on',
    poolSize: values.DB_POOL,
    admin: {
      email: values.ADMIN_EMAIL ?? null,
      password: values.ADMIN_PASSWORD ?? null,
      token: values.ADMIN_TOKEN ?? null,
    },
    tokenSecret: values.TOKEN_SECRET ?? null,
    oidc: oidcOf(values),
    passwordLogin: values.PASSWORD_LOGIN === 'on',
    trustProxy: values.TRUST_PROXY,
    corsOrigins: values.CORS_ORIGINS,
    app: values.APP === 'on',
    log: { level: values.LOG_LEVEL, format: values.LOG_FORMAT ?? (process.stderr.isTTY ? 'pretty' : 'json') },
    maxBody: { schema: values.MAX_BODY, other: Math.min(values.MAX_BODY, KIB ** 2) },
    quotas: {
      requests: values.REQUESTS_PER_USER,
      streams: values.STREAMS_PER_USER,
      changes: values.CHANGES_PER_USER,
    },
    lockTimeout: values.LOCK_TIMEOUT,
    lockWait: values.LOCK_WAIT,
    statementTimeout: values.STATEMENT_TIMEOUT,
    keep: { deleted: values.KEEP_DELETED, copyRows: values.KEEP_COPY_ROWS },
    pace: paceOf(values),
    primaryUrl: values.PRIMARY_URL ?? null,
    positionTimeout: values.POSITION_TIMEOUT,
    verifyEvery: values.VERIFY_EVERY,
    checkpoints: checkpointsOf(values),
    webhookNetworks: values.WEBHOOK_PRIVATE_NETWORKS,
    notifyPostgrest: values.NOTIFY_POSTGREST === 'on',
    traces: tracesOf(values),
    onLogDivergence: values.ON_LOG_DIVERGENCE,
  };
}

const addressesOf = (values: z.output<typeof settings>) => ({
  databaseUrl: values.DATABASE_URL ?? null,
  directDatabaseUrl: directUrlOf(values),
  databasePooler: values.DB_POOLER ?? null,
  proveDatabaseUrl: values.PROVE_DATABASE_URL ?? null,
});

const paceOf = ({
  ONLINE_ROWS_PER_SECOND: rate,
  ONLINE_MAX_LAG: maxLag,
}: z.output<typeof settings>): Config['pace'] => ({
  rate: rate === 0 ? null : rate,
  maxLag,
});

/** @throws OperatorError if the settings of the provider are incomplete */
function oidcOf(values: z.output<typeof settings>): OidcSettings | null {
  const { OIDC_ISSUER: url, OIDC_CLIENT_ID: clientId, OIDC_ROLES: roles, OIDC_CLIENT_SECRET: clientSecret } = values;
  if (url === undefined) {
    const alone = (['OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET', 'OIDC_ROLES'] as const).find((name) => values[name]);
    if (alone !== undefined) throw new OperatorError(`The setting ${alone} requires OIDC_ISSUER.`);
    if (values.PASSWORD_LOGIN === 'on') return null;
    throw new OperatorError('The setting PASSWORD_LOGIN=off requires OIDC_ISSUER. Otherwise nobody could log in.');
  }
  if (clientId === undefined) throw new OperatorError('The setting OIDC_ISSUER requires OIDC_CLIENT_ID.');
  if (roles === undefined) {
    throw new OperatorError(
      'The setting OIDC_ISSUER requires OIDC_ROLES, such as {"groups":{"platform-team":"admin"}}. Without a role nobody could log in.',
    );
  }
  const { OIDC_SCOPES, OIDC_LABEL: label } = values;
  return { issuer: url, clientId, clientSecret: clientSecret ?? null, scopes: OIDC_SCOPES, roles, label };
}

const checkpointsOf = (values: z.output<typeof settings>): Config['checkpoints'] => ({
  to: values.CHECKPOINT_TO ?? null,
  every: values.CHECKPOINT_EVERY,
  keyFile: values.CHECKPOINT_KEY_FILE ?? null,
  standbys: values.CHECKPOINT_WAIT_FOR_STANDBYS ?? null,
});

const tracesOf = (values: z.output<typeof settings>): Config['traces'] => ({
  endpoint: values.OTEL_EXPORTER_OTLP_ENDPOINT ?? null,
  headers: values.OTEL_EXPORTER_OTLP_HEADERS,
});

/** Returns the settings that must never be shown. */
export function secretsOf(config: Config): string[] {
  const { password, token: adminToken } = config.admin;
  return [
    password,
    adminToken,
    config.tokenSecret,
    config.oidc?.clientSecret ?? null,
    config.databaseUrl,
    config.directDatabaseUrl,
    config.proveDatabaseUrl,
    ...passwordsIn(config.checkpoints.to),
    ...Object.values(config.traces.headers),
  ].filter((value) => value !== null);
}

/** Returns the password of an address, both as written and decoded. */
function passwordsIn(address: string | null): string[] {
  if (address === null || !URL.canParse(address)) return [];
  const { password } = new URL(address);
  return password === '' ? [] : [password, decodeURIComponent(password)];
}

/* Selects the settings that the HTTP layer needs. */

/** Returns the settings of the HTTP layer. Read requests are logged at level `debug` only. */
export function httpConfig(
  options: Config & Pick<ConnectionOptions, 'serviceSchema'>,
  about: Pick<HttpDeps['config'], 'databaseVersion' | 'release'>,
): HttpDeps['config'] {
  const {
    schema,
    schemas,
    serviceSchema,
    lockTimeout,
    maxBody,
    quotas,
    trustProxy,
    corsOrigins,
    app,
    primaryUrl,
    log,
  } = options;
  return {
    ...about,
    schema,
    schemas,
    serviceSchema,
    objects: options.objects,
    samples: options.samples,
    keepDeleted: options.keep.deleted,
    keepCopyRows: options.keep.copyRows,
    lockTimeout,
    maxBody,
    quotas,
    trustProxy,
    corsOrigins,
    app,
    primaryUrl,
    logReads: log.level === 'debug',
  };
}
