/** The service's log on stderr: one JSON object per line, or text for people. Secrets are redacted. */
import winston from 'winston';
import { environmentProblem } from './postgres/errors.js';

export interface LoggerOptions {
  level: 'error' | 'warn' | 'info' | 'debug';
  format: 'json' | 'pretty';
  /** Secrets that are redacted wherever they occur in a log entry. */
  secrets?: readonly string[];
  /** Defaults to stderr. */
  stream?: NodeJS.WritableStream;
}

const HIDDEN = '[hidden]';

/** Members whose value is never shown. */
const SECRET_MEMBER = /token|passw|secret|authorization|cookie|connection_?(string|url)|database_?url|credential/i;

/** Secrets within text: after `Bearer`, static tokens, JSON web tokens, and credentials in addresses. */
const SECRET_TEXT: readonly (readonly [RegExp, string])[] = [
  [/\b(Bearer|Basic)\s+[\w.~+/=-]+/gi, `$1 ${HIDDEN}`],
  [/\bdps_[\w-]{20,}/g, HIDDEN],
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]+/g, HIDDEN],
  [/\b(postgres(?:ql)?:\/\/)[^\s"']*/gi, `$1${HIDDEN}`],
  [/(:\/\/)[^\s/@:]*:[^\s/@]*@/g, `$1${HIDDEN}@`],
];

const MAX_DEPTH = 8;

/** Redacting shorter secrets would remove ordinary words. */
const MIN_SECRET = 6;

/** Returns a copy of `value` without secrets. */
export function redact(value: unknown, secrets: readonly string[] = []): unknown {
  return redactAt(value, secrets, 0);
}

function redactAt(value: unknown, secrets: readonly string[], depth: number): unknown {
  if (typeof value === 'string') return redactText(value, secrets);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_DEPTH) return '[…]';
  if (value instanceof Error) return redactAt(errorFields(value), secrets, depth);
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map((item) => redactAt(item, secrets, depth + 1));
  return redactMembers(value, secrets, depth);
}

function redactMembers(value: object, secrets: readonly string[], depth: number): object {
  const copy: Record<string | symbol, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    copy[name] = SECRET_MEMBER.test(name) && isShown(member) ? HIDDEN : redactAt(member, secrets, depth + 1);
  }
  return copy;
}

/** True if the value under a secret name must be redacted. Numbers and flags (`tokens: 3`) reveal nothing. */
function isShown(member: unknown): boolean {
  return typeof member === 'string' || (typeof member === 'object' && member !== null);
}

function redactText(text: string, secrets: readonly string[]): string {
  let shown = text;
  for (const secret of secrets) shown = shown.replaceAll(secret, HIDDEN);
  for (const [pattern, replacement] of SECRET_TEXT) shown = shown.replace(pattern, replacement);
  return shown;
}

/**
 * Returns the members of an error to log. The `detail` and `where` of a database error may quote rows, so they are left
 * out. While the database is unavailable or read-only, many requests fail at once, and a stack would explain none of
 * them.
 */
function errorFields(error: Error): Record<string, unknown> {
  const { code } = error as { code?: unknown };
  return {
    name: error.name,
    message: error.message,
    ...(typeof code === 'string' ? { code } : {}),
    ...(environmentProblem(error) === undefined && { stack: error.stack }),
    ...(error.cause === undefined ? {} : { cause: error.cause }),
  };
}

/** Every log entry passes through this format. */
const withoutSecrets = winston.format((info, options) => {
  const { secrets } = options as { secrets: readonly string[] };
  const clean = redact(info, secrets) as winston.Logform.TransformableInfo;
  for (const key of Object.getOwnPropertySymbols(info)) clean[key] = info[key];
  return clean;
});

/** Time, level and message come first because people read these lines too. */
const jsonLine = winston.format.printf(({ timestamp, level, message, ...fields }) =>
  JSON.stringify({ timestamp, level, message, ...fields }),
);

const pretty = winston.format.printf(({ timestamp, level, message, ...fields }) => {
  const { stack, ...shown } = fields;
  const members = Object.entries(shown).map(([name, value]) => `${name}=${quoteIfNeeded(value)}`);
  const line = [String(timestamp), level.padEnd(5), String(message), ...members].join(' ');
  return typeof stack === 'string' ? `${line}\n${stack}` : line;
});

function quoteIfNeeded(value: unknown): string {
  return typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
}

/** Writes to stderr by default. Secrets shorter than `MIN_SECRET` characters are not redacted. */
export function createLogger(options: LoggerOptions): winston.Logger {
  const stream = options.stream ?? process.stderr;
  return winston.createLogger({
    level: options.level,
    format: winston.format.combine(
      winston.format.timestamp(),
      withoutSecrets({ secrets: (options.secrets ?? []).filter((secret) => secret.length >= MIN_SECRET) }),
      options.format === 'json' ? jsonLine : pretty,
    ),
    transports: [new winston.transports.Stream({ stream, eol: '\n' })],
  });
}
