/** The settings, from the environment. An empty one counts as absent. */
import { z } from 'zod';
import { OperatorError } from './operator-error.js';

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

const databaseUrl = z.string().refine(isDatabaseUrl, 'must look like postgresql://user:password@host:5432/database');

function isDatabaseUrl(text: string): boolean {
  return URL.canParse(text) && ['postgres:', 'postgresql:'].includes(new URL(text).protocol);
}

const SCHEMA_NAME = /^(?!pg_|information_schema$)[^\s"'\\\p{C}][^"'\\\p{C}]*$/u;

const secret = z.string().refine((text) => text.length <= 512, 'must have at most 512 characters');

/** A bearer token travels in a header. */
const token = secret.refine((text) => /^[\w.~+/=-]+$/.test(text), 'must consist of letters, digits and - . _ ~ + / =');

const settings = z.object({
  HOST: z.string().default('127.0.0.1'),
  PORT: wholeNumber('a port', 0, 65_535).default(8055),
  DATABASE_URL: databaseUrl.optional(),
  LISTEN_DATABASE_URL: databaseUrl.optional(),
  DATA_DIR: z.string().default('./data'),
  DB_SCHEMA: z
    .string()
    .refine(
      (name) => SCHEMA_NAME.test(name) && Buffer.byteLength(name) <= 63,
      "must be the name of a schema: 1 to 63 bytes, without quotes, not one of PostgreSQL's own",
    )
    .default('public'),
  DB_POOL: wholeNumber('a number of connections', 2, 500).default(10),
  ADMIN_EMAIL: z.email('must be an e-mail address').optional(),
  ADMIN_PASSWORD: secret.optional(),
  ADMIN_TOKEN: token.optional(),
  TOKEN_SECRET: secret.optional(),
  LOG_LEVEL: z.enum(['error', 'warn', 'info', 'debug'], 'must be error, warn, info or debug').default('info'),
  LOG_FORMAT: z.enum(['json', 'pretty'], 'must be json or pretty').optional(),
  MAX_BODY: size.default(32 * KIB ** 2),
  LOCK_TIMEOUT: duration.default(10_000),
  LOCK_WAIT: duration.default(200),
  STATEMENT_TIMEOUT: duration.default(600_000),
});

/** The names of all settings. */
export const SETTINGS = Object.keys(settings.shape);

export interface Config {
  host: string;
  /** 0: any free port. */
  port: number;
  /** The database to use; null: an embedded server in `dataDir`. */
  databaseUrl: string | null;
  /** For LISTEN, where `databaseUrl` leads through a pooler that can't; null: the same. */
  listenDatabaseUrl: string | null;
  dataDir: string;
  /** The schema that is managed, and that our own tables live in. */
  schema: string;
  /** Database connections at most, beside the two for listening and reading. */
  poolSize: number;
  admin: { email: string | null; password: string | null; token: string | null };
  /** What access tokens are signed with; null: the one kept in the database. */
  tokenSecret: string | null;
  log: { level: 'error' | 'warn' | 'info' | 'debug'; format: 'json' | 'pretty' };
  /** Bytes of a request body: of schema documents, and of everything else. */
  maxBody: { schema: number; other: number };
  /** Milliseconds that a change waits for its locks, all together. */
  lockTimeout: number;
  /** Milliseconds that one try waits for a lock on a table, while others queue behind it. */
  lockWait: number;
  /** Milliseconds. */
  statementTimeout: number;
}

/**
 * Reads the settings.
 * @throws OperatorError that names the first wrong one; values are never repeated, they may be secrets
 */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const given = Object.fromEntries(SETTINGS.map((name) => [name, environment[name] || undefined]));
  const parsed = settings.safeParse(given);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new OperatorError(`The setting ${String(issue?.path[0])} ${issue?.message}.`);
  }
  return toConfig(parsed.data);
}

function toConfig(given: z.output<typeof settings>): Config {
  return {
    host: given.HOST,
    port: given.PORT,
    databaseUrl: given.DATABASE_URL ?? null,
    listenDatabaseUrl: given.LISTEN_DATABASE_URL ?? null,
    dataDir: given.DATA_DIR,
    schema: given.DB_SCHEMA,
    poolSize: given.DB_POOL,
    admin: {
      email: given.ADMIN_EMAIL ?? null,
      password: given.ADMIN_PASSWORD ?? null,
      token: given.ADMIN_TOKEN ?? null,
    },
    tokenSecret: given.TOKEN_SECRET ?? null,
    log: { level: given.LOG_LEVEL, format: given.LOG_FORMAT ?? (process.stderr.isTTY ? 'pretty' : 'json') },
    maxBody: { schema: given.MAX_BODY, other: Math.min(given.MAX_BODY, KIB ** 2) },
    lockTimeout: given.LOCK_TIMEOUT,
    lockWait: given.LOCK_WAIT,
    statementTimeout: given.STATEMENT_TIMEOUT,
  };
}

/** The settings that must not be shown anywhere. */
export function secretsOf(config: Config): string[] {
  const { password, token: adminToken } = config.admin;
  return [password, adminToken, config.tokenSecret, config.databaseUrl, config.listenDatabaseUrl].filter(
    (value) => value !== null,
  );
}

/** What a stranger could guess, one sentence each. */
export function weaknesses(config: Config): string[] {
  const { password, token: adminToken } = config.admin;
  const limits = [
    ['ADMIN_PASSWORD', password, 8],
    ['ADMIN_TOKEN', adminToken, 16],
    ['TOKEN_SECRET', config.tokenSecret, 32],
  ] as const;
  return limits
    .filter(([, value, least]) => value !== null && value.length < least)
    .map(([name, , least]) => `The setting ${name} is short enough to be guessed: use at least ${least} characters.`);
}
