/** Prints an error for an operator: a sentence for mistakes, and a stack only for bugs. */
import { OperatorError } from '../kernel/operator-error.js';
import { SQLSTATE, readOnly } from '../postgres/errors.js';
import { type Values, UsageError } from './command.js';

/** @param environment secrets in it and in options are never shown */
export function explain(
  error: unknown,
  environment: Readonly<Record<string, string | undefined>>,
  values: Values,
): string {
  return hide(describe(error), [environment['DPS_TOKEN'], values['token'], ...passwords(environment, values)]);
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return `dps failed: ${String(error)}`;
  if (error instanceof UsageError) return `${error.message} See "dps COMMAND --help".`;
  if (error instanceof OperatorError || error.name === 'ProblemError') return error.message;
  if (error.name === 'UnreadableEventError')
    return `The log cannot be read: ${error.message}. Run "dps verify" for details.`;
  if (isSystemError(error)) return `dps failed: ${error.message}.`;
  const state = sqlStateOf(error);
  if (state !== undefined) return refusedByServer(state, error.message);
  if (/^(Connection terminated|timeout exceeded when trying to connect|Client has encountered)/.test(error.message)) {
    return `The connection to the database was lost: ${error.message}.`;
  }
  return `dps failed, and this is a bug: ${error.stack ?? error.message}`;
}

const refusedByServer = (state: string, message: string): string =>
  state === SQLSTATE.read_only_sql_transaction
    ? readOnly(null).message
    : `PostgreSQL rejected the statement: ${message} (SQLSTATE ${state}).`;

/** An error of the file system or the network: `ENOENT: no such file or directory, open '…'`. */
const isSystemError = (error: Error): boolean =>
  'code' in error && typeof error.code === 'string' && 'syscall' in error && error.message !== '';

/** The SQLSTATE from anywhere in the chain of causes. */
function sqlStateOf(error: unknown, depth = 0): string | undefined {
  if (!(error instanceof Error) || depth > 4) return undefined;
  if ('severity' in error && 'code' in error && typeof error.code === 'string') return error.code;
  return sqlStateOf(error.cause, depth + 1);
}

const DATABASE_URLS = ['DATABASE_URL', 'DIRECT_DATABASE_URL', 'LISTEN_DATABASE_URL'];

function passwords(environment: Readonly<Record<string, string | undefined>>, values: Values): string[] {
  const urls = [
    ...DATABASE_URLS.map((name) => environment[name]),
    values['databaseUrl'],
    values['into'],
    values['url'],
  ];
  return urls.flatMap((url) => {
    // With several hosts it is not a valid URL, but still contains user and password.
    const [, password] = typeof url === 'string' ? (/^\w+:\/\/[^/?#:]*:([^/?#]*)@/.exec(url) ?? []) : [];
    if (password === undefined) return [];
    return [password, decoded(password)];
  });
}

function hide(text: string, secrets: readonly unknown[]): string {
  let shown = text.replaceAll(/(\w:\/\/[^\s:@/]*):[^\s@/]*@/g, '$1:…@');
  for (const secret of secrets)
    if (typeof secret === 'string' && secret.length > 3) shown = shown.replaceAll(secret, '…');
  return shown;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
