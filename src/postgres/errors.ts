/** Error codes of PostgreSQL and their meaning for a request. */
import pg from 'pg';
import type { Problem } from '../kernel/problem.js';

/** SQLSTATE codes by their names in appendix A of the PostgreSQL manual. */
export const SQLSTATE = {
  insufficient_privilege: '42501',
  duplicate_table: '42P07',
  duplicate_object: '42710',
  duplicate_column: '42701',
  duplicate_function: '42723',
  dependent_objects_still_exist: '2BP01',
  undefined_table: '42P01',
  undefined_column: '42703',
  wrong_object_type: '42809',
  unique_violation: '23505',
  invalid_text_representation: '22P02',
  serialization_failure: '40001',
  deadlock_detected: '40P01',
  lock_not_available: '55P03',
  object_in_use: '55006',
  query_canceled: '57014',
  read_only_sql_transaction: '25006',
  disk_full: '53100',
  internal_error: 'XX000',
} as const;

/** The message that `REFUSE_OLDER_RELEASE` provokes. It contains no quote because it is embedded in a literal. */
export const OLDER_RELEASE =
  'A newer release has migrated the database. Nothing was changed. ' + 'Start that release or a newer one.';

const isOlderRelease = (error: unknown, state: string | undefined): boolean =>
  state === SQLSTATE.invalid_text_representation && (error as Error).message.includes(OLDER_RELEASE);

/** SQLSTATE codes with which PostgreSQL ends a session. A socket that was lost has no code. */
const SESSION_ENDED = /^(?:08...|57P0[1-5]|25P0[34])$/;

/** Operating system errors that mean that the server cannot be reached. */
const SOCKET_ERRORS = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
]);

/** The result of a finished statement. */
interface Finished {
  command: string;
  rows: readonly unknown[];
}

/** One of several statements sent together failed. `cause` is the driver's error. */
export class ExchangeError extends Error {
  override readonly name = 'ExchangeError';
  /** Results of the statements before it. Their number is the index of the failed one. */
  readonly results: readonly Finished[];
  /** Name of the failed statement, if the statements have names. */
  readonly at: string | undefined;
  /** False if the error occurred before any statement was sent. */
  readonly isSent: boolean;

  constructor(
    cause: unknown,
    results: readonly Finished[],
    { at, isSent = true }: { at?: string | undefined; isSent?: boolean } = {},
  ) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.results = results;
    this.at = at;
    this.isSent = isSent;
  }
}

/** Unwraps the original error of the driver. */
export function driverError(error: unknown): unknown {
  return error instanceof ExchangeError ? error.cause : error;
}

/** Returns the SQLSTATE of an error that PostgreSQL sent. Undefined for any other error. */
export function sqlState(thrown: unknown): string | undefined {
  const error = driverError(thrown);
  return error instanceof pg.DatabaseError ? error.code : undefined;
}

/** True if the connection is lost. The outcome of a running statement is then unknown. */
export function isConnectionLoss(thrown: unknown): boolean {
  const error = driverError(thrown);
  const state = sqlState(error);
  if (state !== undefined) return SESSION_ENDED.test(state);
  if (!(error instanceof Error)) return false;
  const code = errorCode(error);
  if (code !== undefined) return SOCKET_ERRORS.has(code);
  return error instanceof LostConnectionError || LOST_BY_DRIVER.some((text) => error.message.startsWith(text));
}

/** True if the server is available but rejects the connection because of credentials or the database name. */
function isRefusedConnection(state: string | undefined): boolean {
  return state !== undefined && /^(?:28|3D)/.test(state);
}

const LOCKED = new Set<string | undefined>([
  SQLSTATE.lock_not_available,
  SQLSTATE.deadlock_detected,
  SQLSTATE.serialization_failure,
]);

/** True if a lock timeout or a deadlock ended the transaction. The whole transaction can be retried unchanged. */
export function isLocked(error: unknown): boolean {
  return LOCKED.has(sqlState(error));
}

/** The client gave up the connection because the server did not answer in time. */
export class LostConnectionError extends Error {
  override readonly name = 'LostConnectionError';
}

/** The server on this connection accepts no changes. After a failover, the next connection may reach another server. */
export class ReadOnlyServerError extends LostConnectionError {}

/** pg reports a lost connection only by these messages, without codes (client.js, pg-pool). */
const LOST_BY_DRIVER = [
  'Connection terminated',
  'Client has encountered a connection error',
  'Client was closed and is not queryable',
  'timeout exceeded when trying to connect',
  'timeout expired',
  'Query read timeout',
];

/** True if no connection of the pool became free in time. pg-pool reports an unavailable server differently. */
const isPoolExhausted = (error: unknown): boolean =>
  error instanceof Error && error.message.startsWith('timeout exceeded when trying to connect');

/** True if a standby cancelled the statement to continue its recovery. The statement itself is correct. */
export const isRecoveryConflict = (error: unknown): boolean =>
  isLocked(error) && /conflict with recovery/.test((error as Error).message);

/**
 * Returns the problem for a failure that the statement did not cause: connection, locks, time, resources or hidden
 * rows. Undefined for other errors, which the caller must handle.
 * @param primaryUrl where clients can make changes if this server is read-only
 */
export function environmentProblem(error: unknown, primaryUrl: string | null = null): Problem | undefined {
  const state = sqlState(error);
  if (isLocked(error)) return isRecoveryConflict(error) ? unavailableProblem(RECOVERY_CONFLICT) : lockTimeout();
  if (state === SQLSTATE.query_canceled) return createTooLongProblem();
  if (state === SQLSTATE.read_only_sql_transaction || driverError(error) instanceof ReadOnlyServerError)
    return readOnly(primaryUrl);
  return hiddenRowsProblem(error, state) ?? unavailability(error, state);
}

/** The connections of the service set `row_security` to off. The message contains the name of the table. */
const HIDDEN_ROWS = /^query would be affected by row-level security policy for table "(.+)"$/;

/** Returns the problem of a query that would miss rows. Undefined for other errors. */
export function hiddenRowsProblem(error: unknown, state: string | undefined): Problem | undefined {
  if (state !== SQLSTATE.insufficient_privilege) return undefined;
  const [, table] = HIDDEN_ROWS.exec((driverError(error) as Error).message) ?? [];
  if (table === undefined) return undefined;
  return {
    code: 'DATABASE_REFUSED',
    message: `Policies of table ${JSON.stringify(table)} would hide rows from the service, because the table has FORCE ROW LEVEL SECURITY or another owner. Nothing was changed. Turn FORCE off during this operation, or give the database role of the service BYPASSRLS.`,
    details: { sqlstate: state },
  };
}

function unavailability(error: unknown, state: string | undefined): Problem | undefined {
  if (isPoolExhausted(error)) return overloadedProblem('All database connections are in use');
  if (isOlderRelease(error, state)) return unavailableProblem(OLDER_RELEASE);
  if (isConnectionLoss(error) || isRefusedConnection(state))
    return unavailableProblem('The database is not reachable. Nothing was changed. Try again later.');
  if (state === SQLSTATE.disk_full)
    return { ...unavailableProblem(`${DISK_FULL} Nothing was changed.`), details: { sqlstate: state } };
  if (state?.startsWith('53'))
    return unavailableProblem('The database is out of resources. Nothing was changed. Try again later.');
  return undefined;
}

/** Message for clients and for the health check if the disk is full. */
export const DISK_FULL = 'The disk of the database server is full (SQLSTATE 53100). Free space on it, then try again.';

/** Message for operators, at the start and in the health check, if transactions are read-only by default. */
export const READ_ONLY_BY_DEFAULT =
  'Transactions are read-only by default in this database. Remove default_transaction_read_only from it and from the role of DATABASE_URL.';

const RECOVERY_CONFLICT = 'The standby canceled the query, because it conflicted with replay. Try again.';

/** Creates the problem READ_ONLY. @param primaryUrl where changes are accepted */
export function readOnly(primaryUrl: string | null): Problem {
  return {
    code: 'READ_ONLY',
    message:
      'The database is read-only: it is a standby, or its transactions are read-only by default. Nothing was changed. ' +
      `Send the change to the primary${primaryUrl === null ? '.' : `: ${primaryUrl}`}`,
    ...(primaryUrl !== null && { details: { primary: primaryUrl } }),
  };
}

/** Creates the problem UNAVAILABLE. The request was correct and may succeed when repeated. */
export function unavailableProblem(message: string): Problem {
  return { code: 'UNAVAILABLE', message };
}

/** Creates the problem OVERLOADED: the service has too much work. @param reason a clause for the message */
export function overloadedProblem(reason: string): Problem {
  return { code: 'OVERLOADED', message: `${reason}. Nothing was changed. Try again later.` };
}

/** Creates the problem LOCK_TIMEOUT. @param who a sentence about the holders of the locks, if they are known */
export function lockTimeout(who = 'Another session holds a lock that this change needs'): Problem {
  return { code: 'LOCK_TIMEOUT', message: `${who}. Nothing was changed. Try again shortly.` };
}

/** Creates the problem for a statement that exceeded its time limit or was cancelled. */
function createTooLongProblem(): Problem {
  return {
    code: 'LOCK_TIMEOUT',
    message:
      'PostgreSQL canceled a statement of this change: it exceeded STATEMENT_TIMEOUT, or an operator ' +
      'canceled it. Nothing was changed.',
  };
}

function errorCode(error: Error): string | undefined {
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** SQLSTATE classes whose messages can contain values of rows: data exceptions and integrity constraint violations. */
const ABOUT_VALUES = /^2[23]/;

/** PostgreSQL's source file with errors about storage parameters, which come from the statement. */
const ABOUT_PARAMETERS = 'reloptions.c';

/**
 * Source files of PostgreSQL and of its extensions that read values of types. They quote the value, but report it as a
 * syntax error or as an internal error.
 */
const READS_VALUES = /^(?:ts(?:vector|query)|jsonpath|xml|hstore|ltree|lquery|ltxtquery|_int_bool|lwgeom).*\.[cly]$/;

/** PostgreSQL's source file that reads statements, and also values that are names of types. */
const READS_TYPES = 'scan.l';

/** Source files of PostgreSQL that find objects and settings by name. The name may be a value, as in `title::regclass`. */
const READS_NAMES = /^(?:namespace|regproc|parse_type|acl|guc(?:_funcs)?|ruleutils|genfile|be-fsstubs)\.c$/;

/** Functions of PostgreSQL in other files that find objects by name, such as `get_language_oid`. */
const FINDS_BY_NAME =
  /^(?:get_\w+_oid|get_object_address_\w+|LookupFuncWithArgs|Op(?:Class|Family)CacheLookup|ParameterAclLookup|deserialize_deflist)$/;

/** An extension may require others, whose names its statement does not contain. */
const CREATES_EXTENSION = 'CREATE EXTENSION';

/** @param sent the statements that may have caused the error */
const readsNames = ({ file = '', routine = '' }: pg.DatabaseError, sent: readonly string[]): boolean =>
  READS_NAMES.test(file) ||
  FINDS_BY_NAME.test(routine) ||
  (file === 'extension.c' && !sent.some((text) => text.includes(CREATES_EXTENSION)));

/** Matches the context of an error in a statement that a C function executes. PL/pgSQL names itself first. */
const EXECUTED = /^(?:$|(?:SQL statement|SQL expression|PL\/pgSQL assignment) ")/;

/** True if a function such as query_to_xml executed a value. */
const isFromExecutedValue = ({ internalQuery, where = '' }: pg.DatabaseError, sent: readonly string[]): boolean =>
  internalQuery !== undefined && EXECUTED.test(where) && !sent.some((text) => text.includes(internalQuery));

/** @param sent the statements that may have caused the error */
function mayHaveValues(error: pg.DatabaseError, sent: readonly string[]): boolean {
  const { code = '', file = '', message } = error;
  const statements = [...sent, ...builtStatement(error)];
  if (ABOUT_VALUES.test(code)) return file !== ABOUT_PARAMETERS;
  if (isFromExecutedValue(error, statements)) return true;
  // Here the position refers to the value, not to the statement.
  if (file === READS_TYPES) return error.where !== undefined && error.internalPosition === undefined;
  // An error with a position is in the text of a statement, which contains no values of rows.
  if (error.position !== undefined) return false;
  return READS_VALUES.test(file) || (readsNames(error, statements) && !isNameIn(statements, message));
}

const BUILT = /^SQL statement "((?:(?!"\n)[^])*)"\nPL\/pgSQL function inline_code_block line \d+ at EXECUTE$/;

/** Returns the failed statement of an anonymous block. The blocks are our own, and contain only names from the catalog. */
const builtStatement = ({ where = '' }: pg.DatabaseError): string[] => BUILT.exec(where)?.slice(1) ?? [];

/** Match the name in a message: `relation "a"`, `operator does not exist: a`, `function a(text) does not exist`. */
const NAMES = [/"(.*)"/s, /: (.*)/s, /^\w+ (.*)\(/s];

/** The text between two names: `trigger "a" for table "b" does not exist`. The second is the name of an existing object. */
const BETWEEN_NAMES = /" [a-z ]+ "/;

/** True if the statements contain the name that a message is about, or all parts of a qualified name. */
function isNameIn(statements: readonly string[], message: string): boolean {
  const names = NAMES.map((pattern) => pattern.exec(message)?.[1]).find((found) => found !== undefined);
  const name = names?.split(BETWEEN_NAMES)[0];
  if (statements.length === 0 || name === undefined) return true;
  const isThere = (part: string): boolean => statements.some((text) => text.includes(part));
  return isThere(name) || name.split('.').every(isThere);
}

/**
 * Matches the innermost context of an error that PL/pgSQL raises, or that a statement causes that it builds from values.
 * Anonymous blocks are excluded because they are our own.
 */
const RAISED_BY =
  /^(?:SQL statement "[^]*?"\n)?PL\/pgSQL function (?!inline_code_block\b)(.+?) line \d+ at (?:RAISE|ASSERT|EXECUTE|FOR over EXECUTE|OPEN|RETURN QUERY)\b/;

const IN_FUNCTION = /^PL\/pgSQL function (?!inline_code_block\b)(.+?) line \d+ /;

/** Returns the PL/pgSQL function whose error may contain values. */
function functionWithValues(
  { where = '', internalQuery }: pg.DatabaseError,
  sent: readonly string[],
): string | undefined {
  const raisedBy = RAISED_BY.exec(where)?.[1];
  if (raisedBy !== undefined || internalQuery === undefined) return raisedBy;
  // The query may be an expression of the function, or a value that query_to_xml executes in that expression.
  return sent.some((text) => text.includes(internalQuery)) ? undefined : IN_FUNCTION.exec(where)?.[1];
}

/**
 * Rewords errors that can contain values of rows before anything reads them. It removes message, detail, hint, context
 * and stack, and keeps names of tables, columns and constraints.
 * @param ownSchema the schema of the service's own functions, whose messages contain no values
 * @param sent the statements that may have caused the error. Empty for prepared statements, which read no values
 */
export function removeValues(error: pg.DatabaseError, ownSchema: string, sent: readonly string[]): void {
  const raisedBy = functionWithValues(error, sent);
  const isForeign = raisedBy !== undefined && !raisedBy.replaceAll('"', '').startsWith(`${ownSchema}.`);
  if (!isForeign && !mayHaveValues(error, sent)) return;
  const description = isForeign
    ? `the function ${raisedBy} raised an exception (SQLSTATE ${error.code}); its message is in the PostgreSQL log`
    : describeError(error);
  const { message } = error;
  error.message = description;
  if (error.stack !== undefined) error.stack = error.stack.replace(message, () => description);
  for (const part of ['detail', 'hint', 'where', 'internalQuery'] as const) error[part] = undefined;
}

/** Builds the message from the SQLSTATE and names only. */
function describeError(error: pg.DatabaseError): string {
  const { code = '' } = error;
  if (isOlderRelease(error, code)) return OLDER_RELEASE;
  return CONSTRAINTS.get(code)?.(error) ?? VALUES.get(code) ?? `${describeGenerally(code)} (SQLSTATE ${code})`;
}

const describeGenerally = (code: string): string =>
  code.startsWith('23') ? 'a constraint is violated' : 'a value is not valid for its type or for a function';

type Worded = (names: Pick<pg.DatabaseError, 'table' | 'column' | 'constraint' | 'dataType'>) => string | undefined;

const violates =
  (kind: string): Worded =>
  ({ table, constraint, dataType }) => {
    if (constraint === undefined) return undefined;
    const whose = table === undefined ? `values of domain "${dataType ?? ''}"` : `rows of table "${table}"`;
    return `${whose} violate ${kind} "${constraint}"`;
  };

const CONSTRAINTS: ReadonlyMap<string, Worded> = new Map<string, Worded>([
  [
    '23502',
    ({ table, column, dataType }) => {
      if (column === undefined) return dataType === undefined ? undefined : `domain "${dataType}" contains null values`;
      return table === undefined ? undefined : `column "${column}" of relation "${table}" contains null values`;
    },
  ],
  ['23503', violates('foreign key constraint')],
  ['23505', violates('unique index or constraint')],
  ['23514', violates('check constraint')],
  ['23P01', violates('exclusion constraint')],
]);

const VALUES: ReadonlyMap<string, string> = new Map([
  ['22001', 'a value is too long for its type'],
  ['22003', 'a number is out of range for its type'],
  ['22007', 'a date or time has a format that its type does not accept'],
  ['22008', 'a date or time is out of range'],
  ['22012', 'a division by zero'],
  ['22P02', 'a value has a format that its type does not accept'],
]);
