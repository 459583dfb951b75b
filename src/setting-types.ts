/** Formats of setting values: numbers, sizes, durations, addresses, names. */
import { z } from 'zod';
import { findDroppedMembers } from './kernel/json.js';
import { isIssuer, isNetwork, isWholeFamily, isServiceUrl } from './kernel/networks.js';
import { ROLES } from './features/accounts/caller.js';
import { parseAddress } from './postgres/hosts/address.js';

export const KIB = 1024;
const SIZE_UNITS: Readonly<Record<string, number>> = { b: 1, kb: KIB, mb: KIB ** 2, gb: KIB ** 3 };
const TIME_UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, min: 60_000 };

/** Parses a number that consists of digits only. Both limits are inclusive. @param what for the message: "a port" */
export const wholeNumber = (what: string, min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `must be ${what}, an integer from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be ${what}, an integer from ${min} to ${max}`);

/** Parses `32mb`, `512 kb` or `1048576` into bytes. */
export const size = quantity(
  SIZE_UNITS,
  'b',
  { min: KIB, max: KIB ** 3 },
  'must be a size from 1kb to 1gb, such as 32mb',
);

/** Parses `10s`, `2min` or `2500` (milliseconds) into milliseconds. */
export const duration = quantity(
  TIME_UNITS,
  'ms',
  { min: 1, max: 24 * 3_600_000 },
  'must be a time from 1ms to 1440min, such as 10s',
);

const DAY = 86_400_000;
const LONG_UNITS: Readonly<Record<string, number>> = { s: 1_000, min: 60_000, h: 3_600_000, d: DAY };

/** Parses `7d`, `12h` or `0` into milliseconds. */
function zeroOrTime(mostDays: number, examples: string) {
  return z
    .string()
    .transform((text) => {
      const [, count, unit = ''] = /^(\d{1,9})\s*([a-z]*)$/i.exec(text) ?? [];
      if (Number(count) === 0) return 0;
      return Number(count) * (LONG_UNITS[unit.toLowerCase()] ?? Number.NaN);
    })
    .refine(
      (value) => value >= 0 && value <= mostDays * DAY,
      `must be 0, or a time from 1s to ${mostDays}d, such as ${examples}`,
    );
}

/** A retention period. */
export const keeping = zeroOrTime(3_650, '7d, 12h or 30min');

/** The time between two runs. Timers of Node.js cannot wait for more than 24 days. */
export const interval = zeroOrTime(20, '1d, 1h or 10min');

function quantity(
  units: Readonly<Record<string, number>>,
  plain: string,
  range: { min: number; max: number },
  message: string,
) {
  return z
    .string()
    .transform((text) => {
      const match = /^(\d{1,12})\s*([a-z]*)$/i.exec(text);
      const unit = units[(match?.[2] || plain).toLowerCase()];
      return match && unit !== undefined ? Number(match[1]) * unit : Number.NaN;
    })
    .refine((value) => value >= range.min && value <= range.max, message);
}

export const databaseUrl = z
  .string()
  .refine(
    (text) => parseAddress(text) !== undefined,
    'must look like postgresql://user:password@host:5432/database, or with several hosts: …@one:5432,two:5432/database?target_session_attrs=read-write',
  );

const SCHEMA_NAME = /^(?!pg_|information_schema$)[^\s"'\\\p{C}][^"'\\\p{C}]*$/u;

export const schemaName = z
  .string()
  .refine(
    (name) => SCHEMA_NAME.test(name) && Buffer.byteLength(name) <= 63,
    'must be the name of a schema: 1 to 63 bytes, without quotes, and not a schema of PostgreSQL itself',
  );

export const roleName = z
  .string()
  .refine(
    (name) => !/["\0]/.test(name) && Buffer.byteLength(name) <= 63 && !name.startsWith('pg_') && name !== 'public',
    'must be the name of a role: 1 to 63 bytes, without quotes, and not a role of PostgreSQL itself',
  );

/** Parses a comma-separated list of different schema names. */
export const schemaNames = z
  .string()
  .transform((text) => text.split(',').map((name) => name.trim()))
  .pipe(z.array(schemaName).min(1))
  .refine((names) => new Set(names).size === names.length, 'must not contain a schema twice');

/** The service shows this address to clients, so it must not contain a password. */
export const serviceUrl = z
  .string()
  .refine(isServiceUrl, 'must be the address of a service, such as https://dps.example.com, without user or password');

/**
 * Accepts secrets of at least this many characters. Shorter secrets can be guessed over the network, or from one access
 * token.
 */
export const secret = (least: number) =>
  z
    .string()
    .refine((text) => text.length <= 512, 'must have at most 512 characters')
    .refine((text) => Array.from(text).length >= least, `must have at least ${least} characters`);

/** A bearer token is sent in a header, which limits its characters. */
export const token = secret(32).refine(
  (text) => /^[\w.~+/=-]+$/.test(text),
  'must consist of letters, digits and - . _ ~ + / =',
);

const MAX_HOPS = 20;

/** Parses the number of proxies in front of the service, or their addresses and networks. */
export const trustProxy = z.string().transform((text, context): number | string[] => {
  if (/^\d{1,2}$/.test(text) && Number(text) <= MAX_HOPS) return Number(text);
  const names = listOf(text);
  if (names.length > 0 && names.every((name) => NAMED_NETWORKS.includes(name) || isNetwork(name))) {
    if (!names.some(isWholeFamily)) return names;
    context.addIssue('must not contain every address, because all clients could then forge their address');
    return z.NEVER;
  }
  context.addIssue(`must be a number of proxies (0 to ${MAX_HOPS}) or their addresses, such as 10.0.0.0/8, loopback`);
  return z.NEVER;
});

/** Parses comma-separated addresses and networks: `10.0.0.0/8, 127.0.0.1, fd00::/8`. */
export const networks = z
  .string()
  .transform(listOf)
  .refine(
    (names) => names.every(isNetwork),
    'must be addresses or networks separated by commas, such as 10.0.0.0/8, 127.0.0.1',
  );

const NAMED_NETWORKS = ['loopback', 'linklocal', 'uniquelocal'];

/** Parses comma-separated origins, as browsers send them. */
export const origins = z
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

/** A folder or a URL. The service checks both when it first writes there. */
export const location = z.string().refine((text) => {
  if (!/^(?:https?:|[a-z][a-z\d+.-]*:\/\/)/i.test(text)) return !text.includes('\0');
  return /^https?:\/\//i.test(text) && URL.canParse(text) && isDecodable(new URL(text));
}, 'must be a folder, or an address that begins with http:// or https://');

/** True if user and password can be decoded. A percent sign in a password must be escaped. */
function isDecodable({ username, password }: URL): boolean {
  try {
    return decodeURIComponent(username + password) !== null;
  } catch {
    return false;
  }
}

/** The address of an OpenID provider. Its answers decide who may log in, so they must not be forged on the way. */
export const issuer = z
  .string()
  .refine(
    isIssuer,
    'must be the https address of an OpenID provider, such as https://id.example.com/realms/main. http is allowed on this machine only',
  );

export const scopes = z
  .string()
  .refine(
    (text) =>
      /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/.test(text) && text.split(' ').includes('openid'),
    'must be scopes separated by spaces, and contain openid',
  );

const ROLES_BY_CLAIM = `must be JSON with roles by claim and value, such as {"groups":{"platform-team":"admin"}}. The roles are ${ROLES.join(', ')}`;

/**
 * Parses `{"groups":{"platform-team":"admin"}}`. The value is JSON because claims and their values may contain any
 * character.
 */
export const rolesByClaim = z.string().transform((text, context) => {
  try {
    const value: unknown = JSON.parse(text);
    const roles = z.record(z.string().min(1), z.record(z.string().min(1), z.enum(ROLES))).parse(value);
    if (Object.keys(roles).length > 0 && findDroppedMembers(value, roles).length === 0) return roles;
  } catch {
    // The check of the roles below reports the invalid JSON.
  }
  context.addIssue(ROLES_BY_CLAIM);
  return z.NEVER;
});

const EVERY = 'must be a number of events, a time, or both, such as 100, 10min or 100,10min';

/** Parses `100,10min` into a number of events and milliseconds. One of the two may be missing. */
export const every = z.string().transform((text, context): { events: number; time: number } => {
  const items = listOf(text);
  const events = items.filter((each) => /^[1-9]\d{0,8}$/.test(each)).map(Number);
  const times = items.filter((each) => /^\d+\s*[a-z]+$/i.test(each)).map((each) => duration.safeParse(each).data);
  const [count = Infinity] = events;
  const [time = Infinity] = times;
  if (events.length + times.length === items.length && events.length <= 1 && times.length <= 1 && items.length > 0) {
    if (times.length === 0 || times[0] !== undefined) return { events: count, time };
  }
  context.addIssue(EVERY);
  return z.NEVER;
});

const HEADERS = 'must be headers as name=value, separated by commas, with values encoded as in URLs';

/** Parses `api-key=secret,tenant=my%20team`, the format that OpenTelemetry defines. */
export const headers = z.string().transform((text, context): Record<string, string> => {
  const pairs = listOf(text).map((pair) => /^([\w!#$%&'*+.^`|~-]+)\s*=\s*([\x21-\x7e]+)$/.exec(pair));
  try {
    const decoded = pairs.map((pair) => [pair?.[1] ?? '', decodeURIComponent(pair?.[2] ?? '')] as const);
    if (decoded.every(([name, value]) => name !== '' && /^[\t\x20-\x7e]+$/.test(value)))
      return Object.fromEntries(decoded);
  } catch {
    // The check below reports a header that cannot be decoded.
  }
  context.addIssue(HEADERS);
  return z.NEVER;
});
