/** The settings, from the environment. An empty one counts as absent, but for the database's address. */
import { isIP } from 'node:net';
import { z } from 'zod';
import { PASSWORD_LENGTH } from './auth/user.js';
import { OperatorError } from './kernel/operator-error.js';
import { parseAddress } from './postgres/hosts/address.js';
import { defaultServiceSchema } from './postgres/own-tables.js';
import { type Environment, withSecretFiles } from './secret-files.js';

const KIB = 1024;
const SIZE_UNITS: Readonly<Record<string, number>> = { b: 1, kb: KIB, mb: KIB ** 2, gb: KIB ** 3 };
const TIME_UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, min: 60_000 };

const wholeNumber = (what: string, min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `must be ${what}, a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be ${what}, a whole number from ${min} to ${max}`);

/** `32mb`, `512 kb`, `1048576`; in bytes. */
const size = quantity(SIZE_UNITS, 'b', { min: KIB, max: KIB ** 3 }, 'must be a size from 1kb to 1gb, such as 32mb');

/** `10s`, `2min`, `2500` (milliseconds); in milliseconds. */
const duration = quantity(
  TIME_UNITS,
  'ms',
  { min: 1, max: 24 * 3_600_000 },
  'must be a time from 1ms to 1440min, such as 10s',
);

function quantity(
  units: Readonly<Record<string, number>>,
  plain: string,
  range: { min: number; max: number },
  message: string,
) {
  return z
    .string()
    .transform((text) => {
      const found = /^(\d{1,12})\s*([a-z]*)$/i.exec(text);
      const unit = units[(found?.[2] || plain).toLowerCase()];
      return found && unit !== undefined ? Number(found[1]) * unit : Number.NaN;
    })
    .refine((value) => value >= range.min && value <= range.max, message);
}

const databaseUrl = z
  .string()
  .refine(
    (text) => parseAddress(text) !== undefined,
    'must look like postgresql://user:password@host:5432/database, or with several hosts: …@one:5432,two:5432/database?target_session_attrs=read-write',
  );

const SCHEMA_NAME = /^(?!pg_|information_schema$)[^\s"'\\\p{C}][^"'\\\p{C}]*$/u;

const schemaName = z
  .string()
  .refine(
    (name) => SCHEMA_NAME.test(name) && Buffer.byteLength(name) <= 63,
    "must be the name of a schema: 1 to 63 bytes, without quotes, not one of PostgreSQL's own",
  );

/** Shorter ones are guessed: over the network, or from one access token. */
const secret = (least: number) =>
  z
    .string()
    .refine((text) => text.length <= 512, 'must have at most 512 characters')
    .refine((text) => Array.from(text).length >= least, `must have at least ${least} characters`);

/** A bearer token travels in a header. */
const token = secret(32).refine(
  (text) => /^[\w.~+/=-]+$/.test(text),
  'must consist of letters, digits and - . _ ~ + / =',
);

const MAX_HOPS = 20;

/** How many proxies stand in front, or their addresses and networks. */
const trustProxy = z.string().transform((text, context): number | string[] => {
  if (/^\d{1,2}$/.test(text) && Number(text) <= MAX_HOPS) return Number(text);
  const names = listOf(text);
  if (names.length > 0 && names.every(isNetwork)) return names;
  context.addIssue(`must be a number of proxies (0 to ${MAX_HOPS}), or their addresses, such as 10.0.0.0/8, loopback`);
  return z.NEVER;
});

const NAMED_NETWORKS = ['loopback', 'linklocal', 'uniquelocal'];

function isNetwork(text: string): boolean {
  if (NAMED_NETWORKS.includes(text)) return true;
  const [, address = '', bits = '0'] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const family = isIP(address);
  return family !== 0 && Number(bits) <= (family === 4 ? 32 : 128);
}

/** Origins as browsers send them; a list by commas. */
const origins = z
  .string()
  .transform(listOf)
  .refine((names) => names.every(isOrigin), 'must be origins such as https://admin.example.com, separated by commas');

function isOrigin(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) && new URL(text).origin === text;
}

function listOf(text: string): string[] {
  return text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
}

const settings = z.object({
  HOST: z.string().default('127.0.0.1'),
  PORT: wholeNumber('a port', 0, 65_535).default(8055),
  DATABASE_URL: databaseUrl.optional(),
  LISTEN_DATABASE_URL: databaseUrl.optional(),
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
  LOG_LEVEL: z.enum(['error', 'warn', 'info', 'debug'], 'must be error, warn, info or debug').default('info'),
  LOG_FORMAT: z.enum(['json', 'pretty'], 'must be json or pretty').optional(),
  MAX_BODY: size.default(32 * KIB ** 2),
  LOCK_TIMEOUT: duration.default(10_000),
  LOCK_WAIT: duration.default(200),
  STATEMENT_TIMEOUT: duration.default(600_000),
  ON_LOG_DIVERGENCE: z.enum(['refuse', 'continue'], 'must be refuse or continue').default('refuse'),
});

/** The names of all settings. */
export const SETTINGS = Object.keys(settings.shape);

/** Those that may stand in a file, which `…_FILE` names. */
export const SECRETS = ['DATABASE_URL', 'LISTEN_DATABASE_URL', 'ADMIN_PASSWORD', 'ADMIN_TOKEN', 'TOKEN_SECRET'];

export interface Config {
  host: string;
  /** 0: any free port. */
  port: number;
  /** The database to use; null: an embedded server in `dataDir`. */
  databaseUrl: string | null;
  /** For LISTEN, where `databaseUrl` leads through a pooler that can't; null: the same. */
  listenDatabaseUrl: string | null;
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
  log: { level: 'error' | 'warn' | 'info' | 'debug'; format: 'json' | 'pretty' };
  /** Bytes of a request body: of schema documents, and of everything else. */
  maxBody: { schema: number; other: number };
  /** Milliseconds that a change waits for its locks, all together. */
  lockTimeout: number;
  /** Milliseconds that one try waits for a lock on a table, while others queue behind it. */
  lockWait: number;
  /** Milliseconds. */
  statementTimeout: number;
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
  return toConfig(parsed.data);
}

function serviceSchemaOf({ DB_SCHEMA: schema, SERVICE_SCHEMA: given }: z.output<typeof settings>): string {
  const name = given ?? defaultServiceSchema(schema);
  if (Buffer.byteLength(name) > 63) {
    throw new OperatorError(`The setting SERVICE_SCHEMA is needed: "${name}" is too long for the name of a schema.`);
  }
  if (name === 'public') {
    throw new OperatorError('The setting SERVICE_SCHEMA must not be public: every connection searches that schema.');
  }
  if (name !== schema) return name;
  throw new OperatorError(
    "The setting SERVICE_SCHEMA must not be DB_SCHEMA's: the service's own tables live apart from those it manages.",
  );
}

function toConfig(given: z.output<typeof settings>): Config {
  return {
    host: given.HOST,
    port: given.PORT,
    databaseUrl: given.DATABASE_URL ?? null,
    listenDatabaseUrl: given.LISTEN_DATABASE_URL ?? null,
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
    log: { level: given.LOG_LEVEL, format: given.LOG_FORMAT ?? (process.stderr.isTTY ? 'pretty' : 'json') },
    maxBody: { schema: given.MAX_BODY, other: Math.min(given.MAX_BODY, KIB ** 2) },
    lockTimeout: given.LOCK_TIMEOUT,
    lockWait: given.LOCK_WAIT,
    statementTimeout: given.STATEMENT_TIMEOUT,
    onLogDivergence: given.ON_LOG_DIVERGENCE,
  };
}

/** The settings that must not be shown anywhere. */
export function secretsOf(config: Config): string[] {
  const { password, token: adminToken } = config.admin;
  return [password, adminToken, config.tokenSecret, config.databaseUrl, config.listenDatabaseUrl].filter(
    (value) => value !== null,
  );
}
