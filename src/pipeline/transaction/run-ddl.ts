/** Runs the DDL of a batch and interprets PostgreSQL errors. */
import type pg from 'pg';
import { HAS_OTHER_TYPE } from '../../features/trash/rows.js';
import type { Problem } from '../../kernel/problem.js';
import { addArticle } from '../../kernel/text.js';
import { ExchangeError, driverError, isConnectionLoss, isLocked, sqlState } from '../../postgres/errors.js';
import { sendScript, runScript } from '../../postgres/exchange.js';
import { findObjectLocks } from '../../projector/ddl/object-statements.js';
import { type Sql, integer, sql, ident, join, literal, qualified, trashOf } from '../../projector/ddl/sql.js';
import type { LockedTable, Statement } from '../../projector/ddl/step.js';
import {
  LockedError,
  type NeededLock,
  lockTables,
  findStrongestLocks,
  listLosingTables,
  selectFilledTables,
} from '../../projector/ddl/table-locks.js';
import { selectUnmatched } from '../../projector/ddl/trash.js';
import {
  ddlFailure,
  type LockSettings,
  isLockTableFull,
  readLockSettings,
} from '../../projector/refusals/ddl-failure.js';
import {
  rowTypeProblems,
  typeLookup,
  typeQuestion,
  typesToCheck,
  nameExtension,
} from '../../projector/refusals/missing-extension.js';
import {
  type TakenName,
  isNameTaken,
  queryTakenByOthers,
  queryTakenParts,
  parentsOfColumn,
  addParents,
  addTakenNames,
  type RejectedBatch,
  offendingRowsOf,
  addRowCount,
} from '../../projector/refusals/offending-rows.js';
import { backfillOfEvent } from '../../schema/model/backfill.js';
import { type LogEvent, type RestoredCollection, readRestored } from '../../schema/model/events.js';
import { type State, hasColumn } from '../../schema/model/state.js';
import { columnType } from '../../schema/normal-form/index.js';
import type { TransactionAttempt } from '../keep-alive.js';
import type { CompletedChange } from '../types.js';
import { SAVEPOINT } from './begin.js';

/* Adds details to an error of PostgreSQL after the transaction has released its locks. */

/**
 * Limits the query that explains an error to 1.5 seconds, because counting rows may be slow. A fast response without
 * the count is better than a late one with it.
 */
const LIMITS = sql`SELECT pg_catalog.set_config('statement_timeout', '1500', true), pg_catalog.set_config('lock_timeout', '1500', true)`;

interface ExplainedBatch {
  before: State;
  after: State;
  events: readonly LogEvent[];
  schema: string;
  /** True if the transaction continues from its savepoint after the error. */
  keeps: boolean;
}

/**
 * Adds details to a problem. The failed transaction is rolled back first. It then holds no table locks, and without
 * `keeps` no locks at all.
 */
async function explainProblem(client: pg.ClientBase, problem: Problem, context: ExplainedBatch): Promise<Problem> {
  const named = nameExtension(problem, context.after);
  if (isOfReturningValues(named, context.events)) return named;
  const { events } = context;
  const backfill = backfillOfEvent(events[Number(named.details?.['event'])]);
  const inquiry = createInquiry({ ...context, problem: named, restored: collectRestored(events), backfill });
  if (inquiry === null) return named;
  const rows = await queryAfterRollback(client, inquiry.question, context.keeps);
  return rows === null ? named : inquiry.reword(rows);
}

/** Null if the query that explains the error failed itself. */
async function queryAfterRollback(
  client: pg.ClientBase,
  question: Sql,
  keeps: boolean,
): Promise<readonly unknown[] | null> {
  const back = keeps ? sql`ROLLBACK TO SAVEPOINT ${ident(SAVEPOINT)}` : sql`ROLLBACK`;
  const start = keeps ? back : sql`${back}; BEGIN READ ONLY`;
  try {
    const results = await sendScript(client, join([start, LIMITS, question, back], sql`; `));
    return results.at(-2)?.rows ?? [];
  } catch {
    await sendScript(client, back).catch(() => undefined);
    return null;
  }
}

/** True if the violating values come from the trash. They cannot be counted after the rollback. */
function isOfReturningValues({ details }: Problem, events: readonly LogEvent[]): boolean {
  const event = events[Number(details?.['event'])];
  const isBroken = String(details?.['sqlstate']).startsWith('23');
  return isBroken && event?.type === 'field.created' && readRestored(event.data) !== undefined;
}

const collectRestored = (events: readonly LogEvent[]): NonNullable<RejectedBatch['restored']> =>
  new Map(
    events.flatMap((event): [string, RestoredCollection][] => {
      const restored = event.type === 'collection.created' ? readRestored(event.data) : undefined;
      return restored === undefined || event.collection === null ? [] : [[event.collection, restored]];
    }),
  );

interface FailureQuery {
  question: Sql;
  /** Builds the problem from the result of the query. */
  reword: (rows: readonly unknown[]) => Problem;
}

/**
 * Returns the query that explains an error. It finds the violating rows, or the object that has the name. Null if there
 * is none.
 */
function createInquiry(refused: RejectedBatch): FailureQuery | null {
  const { problem } = refused;
  const offenders = offendingRowsOf(refused);
  if (offenders !== null) {
    const count = (rows: readonly unknown[]) => Number((rows[0] as { count: unknown }).count);
    return { question: offenders.question, reword: (rows) => addRowCount(problem, offenders, count(rows)) };
  }
  const parents = parentsOfColumn(refused);
  if (parents !== null)
    return { question: parents, reword: (rows) => addParents(problem, rows as readonly TakenName[]) };
  const question = queryTakenParts(refused);
  return question && { question, reword: (rows) => addTakenNames(problem, rows as readonly TakenName[]) };
}

export interface Projection {
  pool: pg.Pool;
  before: State;
  after: State;
  events: readonly LogEvent[];
  statements: readonly Statement[];
  schema: string;
  /** Milliseconds that the transaction waits for locks. */
  waits: Pick<TransactionAttempt, 'tableWait' | 'vacuumWait'>;
  /** True if the transaction continues from its savepoint after an error. */
  keeps: boolean;
  /** True to reject the batch if it deletes rows or values of a table that is not empty. */
  lossless?: boolean | undefined;
}

/**
 * Runs the statements of a batch in the client's transaction. It takes all table locks first, so that it never waits
 * for a lock while others wait for changed tables.
 * @returns why PostgreSQL rejected them, or null. After an error the transaction can only be rolled back.
 * @throws LockedError if a lock was not granted, and errors caused by bugs
 */
export async function runStatements(client: pg.ClientBase, projection: Projection): Promise<Problem[] | null> {
  const { statements } = projection;
  const questions = questionsOf(projection);
  const locks = findStrongestLocks(statements);
  const losses = lossQuestion(projection);
  const preamble = [...questions.texts, ...createLocking(projection, locks), ...losses.texts];
  const script = [...preamble, ...statements.map((statement) => statement.sql)];
  if (script.length === 0) return null;
  try {
    const results = await runScript(client, script);
    return losses.judge(results[preamble.length - 1]?.rows ?? []) ?? questions.judge(results);
  } catch (thrown) {
    const error = refusalIn(thrown, [...locks, ...findObjectLocks(projection)]);
    return explainFailure(client, projection, { error, preamble: preamble.length });
  }
}

/** @throws errors that do not concern a statement: a missing lock, a lost connection, a bug */
function refusalIn(error: unknown, locks: readonly NeededLock[]): ExchangeError {
  if (!(error instanceof ExchangeError)) throw error;
  if (isLocked(error)) throw new LockedError(error, locks);
  if (isConnectionLoss(error)) throw error;
  return error;
}

interface CatalogQuestions {
  texts: Sql[];
  /** Returns the problems of a batch that PostgreSQL accepted. */
  judge(results: readonly { rows: readonly unknown[] }[]): Problem[] | null;
}

/** Queries that are sent in the same message before the DDL, so they cost no round trip. */
function questionsOf(projection: Projection): CatalogQuestions {
  // PostgreSQL itself rejects a new table whose name is taken.
  const names = findTakenNames(projection, (name) => isFolder(projection.after, name));
  const uses = typesToCheck(projection.events, projection.after);
  const types = uses.length === 0 ? null : typeQuestion(uses, projection.schema);
  const lost = lostColumns(projection.events);
  const texts = [names, lost, types].filter((text) => text !== null);
  const rowsOf = (text: Sql | null, results: readonly { rows: readonly unknown[] }[]): readonly unknown[] =>
    text === null ? [] : (results[texts.indexOf(text)]?.rows ?? []);
  return {
    texts,
    judge(results) {
      const missing = lostProblems(rowsOf(lost, results) as readonly LostColumn[]);
      if (missing.length > 0) return missing;
      const rows = rowsOf(types, results);
      const problems = rowTypeProblems(uses, typeLookup(rows));
      if (problems.length > 0) return problems;
      return names === null ? null : rejectHiddenTables(projection, rowsOf(names, results));
    },
  };
}

/** The query is sent after the locks have been taken, so that no session can add rows before the commit. */
function lossQuestion({ statements, schema, lossless }: Projection): {
  texts: Sql[];
  judge(rows: readonly unknown[]): Problem[] | null;
} {
  const tables = lossless === true ? listLosingTables(statements) : [];
  if (tables.length === 0) return { texts: [], judge: () => null };
  return {
    texts: [selectFilledTables(schema, tables)],
    judge(rows) {
      const { filled } = rows[0] as { filled: string[] };
      return filled.length === 0 ? null : filled.map(rejectLoss);
    },
  };
}

function rejectLoss(collection: string): Problem {
  const message =
    `Table ${JSON.stringify(collection)} is not empty, and the request allows no loss of data. ` +
    'Read the plan again, then allow the loss or keep the table.';
  return { code: 'IN_USE', message, collection };
}

interface LostColumn {
  collection: string;
  table: string;
  column: string;
  type: string;
  /** The current type of the column in the trash, after someone changed it by hand. Null if the column is missing. */
  found: string | null;
}

/**
 * Returns rows of `LostColumn`: columns of restored tables that someone dropped or changed in the trash by hand. Null if
 * the batch restores no table. Ask before the tables are moved.
 */
function lostColumns(events: readonly LogEvent[]): Sql | null {
  const wanted = events.flatMap((event) => {
    const restored = event.type === 'collection.created' ? readRestored(event.data) : undefined;
    if (event.type !== 'collection.created' || restored === undefined) return [];
    const table = qualified(trashOf(restored), restored.name);
    return event.data.fields.filter(hasColumn).map(({ field, schema }) => {
      const values = [event.collection, table, field, columnType(schema)].map((each) => sql`${literal(each)}::text`);
      return sql`(${join(values, sql`, `)})`;
    });
  });
  if (wanted.length === 0) return null;
  return sql`SELECT w.collection, w.tab AS table, w.col AS column, w.type, pg_catalog.format_type(a.atttypid, a.atttypmod) AS found
    FROM (VALUES ${join(wanted, sql`, `)}) AS w (collection, tab, col, type)
    LEFT JOIN pg_catalog.pg_attribute a
      ON a.attrelid = pg_catalog.to_regclass(w.tab)::oid AND a.attname = w.col AND a.attnum > 0 AND NOT a.attisdropped
    WHERE pg_catalog.to_regclass(w.tab) IS NOT NULL AND (a.attnum IS NULL OR ${HAS_OTHER_TYPE})`;
}

function lostProblems(lost: readonly LostColumn[]): Problem[] {
  return [...new Map(lost.map((each) => [each.collection, each])).values()].map(({ collection, table }) => {
    const altered = lost.filter((each) => each.collection === collection);
    const columns = altered.map(({ column }) => column);
    const missing = altered.filter(({ found }) => found === null).map(({ column }) => JSON.stringify(column));
    const retyped = altered
      .filter(({ found }) => found !== null)
      .map(({ column, type, found }) => `column ${JSON.stringify(column)} has the type ${found} instead of ${type}`);
    const [reason, remedy] =
      missing.length > 0
        ? [`the table ${table} in the trash has no column ${missing.join(', ')}`, 'Add the column']
        : [`in the table ${table} in the trash, ${retyped.join(', ')}`, 'Change the type back'];
    const message =
      `Table ${JSON.stringify(collection)} cannot be restored: ${reason}, so someone changed or replaced it. ` +
      `${remedy} with SQL, then restore the table.`;
    return { code: 'IN_USE', message, collection, details: { columns } };
  });
}

/**
 * Takes the locks of a batch early, for checks before its statements are final.
 * @returns why they cannot be taken at all, or null
 * @throws LockedError if one was not granted in time
 */
export async function takeLocks(
  client: pg.ClientBase,
  { schema, statements, waits }: Pick<Projection, 'schema' | 'statements' | 'waits'>,
): Promise<Problem[] | null> {
  const locks = findStrongestLocks(statements);
  if (locks.length === 0) return null;
  try {
    await runScript(client, lockScript(schema, locks, waits));
    return null;
  } catch (error) {
    return [ddlFailure(refusalIn(error, locks), statements, 0)];
  }
}

/** Returns the statements that take the locks. Empty for a single statement, which takes its lock itself. */
function createLocking({ statements, schema, waits, lossless }: Projection, locks: readonly LockedTable[]): Sql[] {
  const byItself = statements.length < 2 && waits.vacuumWait === undefined && lossless !== true;
  return locks.length === 0 || byItself ? [] : lockScript(schema, locks, waits);
}

/**
 * Returns statements that take the locks. While an automatic VACUUM holds a lock, they first request the same lock as
 * VACUUM. No reader or writer waits behind that lock, and VACUUM cancels itself.
 */
function lockScript(schema: string, locks: readonly LockedTable[], waits: Projection['waits']): Sql[] {
  const { tableWait, vacuumWait } = waits;
  if (vacuumWait === undefined) return [lockTables(schema, locks)];
  const weak = locks.map((each) => ({ ...each, lock: 'SHARE UPDATE EXCLUSIVE' }) as const);
  return [lockTimeout(vacuumWait), lockTables(schema, weak), lockTimeout(tableWait), lockTables(schema, locks)];
}

const lockTimeout = (milliseconds: number): Sql =>
  sql`SET LOCAL lock_timeout = ${integer(String(Math.ceil(milliseconds)))}`;

interface StatementFailure {
  error: ExchangeError;
  /** The number of statements that run before those of the batch. */
  preamble: number;
}

async function explainFailure(
  client: pg.ClientBase,
  projection: Projection,
  refusing: StatementFailure,
): Promise<Problem[]> {
  const taken = await unmanagedTables(client, projection, refusing.error);
  if (taken.length > 0) return taken;
  const isFull = isLockTableFull(driverError(refusing.error));
  const settings = isFull ? await lockSettings(client, projection.pool) : undefined;
  const { error, preamble } = refusing;
  const at = Math.max(0, error.results.length - preamble);
  const problems = [ddlFailure(error, projection.statements, at, settings)];
  return Promise.all(problems.map((problem) => explainProblem(client, problem, projection)));
}

/**
 * Does not use the failed client, whose transaction cannot run queries. The query runs only after that transaction has
 * released its locks. Before that, a new connection might find no free lock slots either.
 */
async function lockSettings(client: pg.ClientBase, pool: pg.Pool): Promise<LockSettings | undefined> {
  try {
    await sendScript(client, '');
    return await readLockSettings(pool);
  } catch {
    return undefined;
  }
}

/** Names all objects that have the names of new tables, after PostgreSQL rejected one of them. */
async function unmanagedTables(
  client: pg.ClientBase,
  projection: Projection,
  error: ExchangeError,
): Promise<Problem[]> {
  const question = findTakenNames(projection, (name) => !isFolder(projection.after, name));
  if (!isNameTaken(sqlState(error)) || question === null) return [];
  const rows = await queryAfterRollback(client, question, projection.keeps);
  return ((rows ?? []) as readonly TakenName[]).map(createUnmanagedProblem);
}

/**
 * Rejects a new folder whose name an existing table has, because the folder would hide the table. PostgreSQL cannot
 * reject it: a folder has no table.
 */
function rejectHiddenTables({ after }: Projection, rows: readonly unknown[]): Problem[] | null {
  const hidden = (rows as TakenName[]).filter(({ name, kind }) => kind === 'table' && isFolder(after, name));
  return hidden.length === 0 ? null : hidden.map(createUnmanagedProblem);
}

const isFolder = ({ collections }: State, name: string): boolean => collections.get(name)?.collection.schema === null;

/**
 * Returns the statements of a batch that needs no lock that others may hold, and whose results need no check. Null for
 * any other batch.
 */
export function readUnobstructedScript({
  events,
  after,
  statements,
}: Pick<Projection, 'events' | 'after' | 'statements'>): Sql[] | null {
  const isFree = statements.every(({ locks }) => locks.length === 0);
  const hidesTable = (event: LogEvent): boolean =>
    event.type === 'collection.created' && isFolder(after, event.collection);
  if (!isFree || events.some(hidesTable) || typesToCheck(events, after).length > 0) return null;
  return statements.map(({ sql }) => sql);
}

/** Finds which names of new collections are taken by other objects. Null if there are no new collections. */
function findTakenNames({ before, after, events, schema }: Projection, isAsked: (name: string) => boolean): Sql | null {
  const names = events
    .flatMap((event) => {
      // Outside the default schema, the table keeps its name.
      if (event.type === 'collection.renamed')
        return after.collections.get(event.data.to)?.collection.schema?.schema === undefined ? [event.data.to] : [];
      return event.type === 'collection.created' ? [event.collection] : [];
    })
    .filter((name) => before.collections.get(name)?.collection.schema == null && isAsked(name));
  return names.length === 0 ? null : queryTakenByOthers(after, names, schema);
}

function createUnmanagedProblem({ name, kind }: TakenName): Problem {
  if (kind === 'table') {
    const message = `Table "${name}" already exists in the database and is not managed. Adopt it, or choose another name.`;
    return { code: 'ALREADY_EXISTS', message, collection: name, details: { adopt: name } };
  }
  const message = `${JSON.stringify(name)} is already the name of ${addArticle(kind)} in the database. Choose another name.`;
  return { code: 'ALREADY_EXISTS', message, collection: name, details: { taken: [{ name, kind }] } };
}

/* Counts restored values whose rows no longer exist. Their copy is dropped with the restore. */

/** True if the event copies values from the trash to a new column. */
export const restoresValues = (event: LogEvent): boolean =>
  event.type === 'field.created' && readRestored(event.data) !== undefined;

/** Runs after the statements of the events, in the same transaction. */
export async function countUnmatched(
  client: pg.ClientBase,
  events: readonly LogEvent[],
): Promise<Pick<CompletedChange, 'unmatched'>> {
  const restored = events.flatMap((event) => {
    const values = event.type === 'field.created' ? readRestored(event.data) : undefined;
    const { collection, field } = event;
    if (values === undefined || collection === null || field === null) return [];
    return [{ collection, field, position: values.position }];
  });
  if (restored.length === 0) return {};
  const results = await runScript(
    client,
    restored.map(({ position }) => selectUnmatched(position)),
  );
  const counts = results.flatMap(({ rows }) => rows as { unmatched: number | string | null }[]);
  const unmatched = restored.map((each, index) => ({ ...each, count: Number(counts[index]?.unmatched) }));
  return { unmatched: unmatched.filter(({ count }) => count > 0) };
}
