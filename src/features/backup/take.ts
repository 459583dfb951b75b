/** Takes a backup of one snapshot while the service runs. */
import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { readExportedLines } from '../../log/documents.js';
import { readEventTexts } from '../../log/read.js';
import { OperatorError } from '../../kernel/problem.js';
import { isLockTableFull } from '../../projector/refusals/ddl-failure.js';
import { type SequenceValue, type Contents, FORMAT_VERSION, type Section } from './format.js';
import {
  ACCOUNT_COLUMNS,
  type LocatedTables,
  type TableRows,
  readExcludedObjects,
  sequenceNames,
  sequenceText,
  tableText,
  tablesWithRows,
  COPY_SETTINGS,
  copyOut,
} from './contents.js';
import { SQLSTATE, sqlState } from '../../postgres/errors.js';
import { type State, byName, tablesBySchema } from '../../schema/model/state.js';
import { unlimited } from '../../postgres/limits.js';

export interface Moment {
  /** The default schema. */
  schema: string;
  /** The state at the head of the log. */
  state: State;
  head: { position: number; hash: string };
  /** The tables whose rows the backup must contain. */
  tables: readonly string[];
  lockTimeout: number;
}

/**
 * Begins the snapshot transaction of a backup and locks its tables against changes. Must be called under the log's
 * lock, which may be released afterwards.
 * @throws OperatorError if a table cannot be locked
 */
export async function beginSnapshot(
  client: pg.ClientBase,
  { schema, state, tables, lockTimeout }: Moment,
): Promise<void> {
  if (client.getTransactionStatus() !== 'I') await client.query('ROLLBACK');
  // The first query of the transaction takes the snapshot.
  await client.query(
    `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ${COPY_SETTINGS}; ${unlimited('transaction')};
     SET LOCAL lock_timeout = ${Math.ceil(lockTimeout)}`,
  );
  for (let start = 0; start < tables.length; start += LOCKED_AT_ONCE) {
    const some = tables.slice(start, start + LOCKED_AT_ONCE);
    const names = some.map((name) => `ONLY ${tableText({ schema, state }, name)}`);
    await client
      .query(`LOCK TABLE ${names.join(', ')} IN ACCESS SHARE MODE`)
      .catch((error: unknown) => explainLock(error, { client, schema, state, tables }));
  }
}

const LOCKED_AT_ONCE = 500;

/** Errors that mean that the table no longer exists. In the case of the second error, another object has its name. */
const GONE: ReadonlySet<string | undefined> = new Set([SQLSTATE.undefined_table, SQLSTATE.wrong_object_type]);

const MISSING = `
  SELECT w.name FROM pg_catalog.unnest($2::text[]) AS w (name)
   WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
                      WHERE n.nspname = $1 AND c.relname = w.name AND c.relkind IN ('r', 'p'))
   ORDER BY w.name COLLATE "C"`;

interface Locking extends Pick<Moment, 'schema' | 'state' | 'tables'> {
  client: pg.ClientBase;
}

async function explainLock(cause: unknown, { client, schema, state, tables }: Locking): Promise<never> {
  if (GONE.has(sqlState(cause))) {
    await client.query('ROLLBACK');
    const missing: string[] = [];
    for (const [place, names] of tablesBySchema(state, tables, schema)) {
      const { rows } = await client.query<{ name: string }>(MISSING, [place, [...names.keys()]]);
      missing.push(...rows.map(({ name }) => names.get(name) ?? name));
    }
    const [first] = missing.sort(byName);
    if (first !== undefined) throw new OperatorError(missingTables(first, missing.length - 1), { cause });
  }
  if (isLockTableFull(cause)) {
    throw new OperatorError(
      'PostgreSQL ran out of lock slots, because a backup locks each table against changes. Raise max_locks_per_transaction and restart PostgreSQL.',
      { cause },
    );
  }
  throw cause;
}

const missingTables = (name: string, more: number): string =>
  `Nothing was written: the table "${name}"${more > 0 ? ` and ${more} more are` : ' is'} in the log but not in the database. ` +
  'Run "dps drift" to resolve the differences.';

/**
 * Returns the contents of a backup. They are read while they are written.
 * @param onRead called for each table
 */
export async function contentsOf(
  client: pg.ClientBase,
  moment: Moment,
  more: Pick<Contents['header'], 'release' | 'migration' | 'database'> & {
    onRows: (done: number, total: number) => void;
  },
): Promise<Contents & { rowCounts: ReadonlyMap<string, number> }> {
  const { schema, state, head, tables } = moment;
  const located = { schema, state };
  const { onRows, ...about } = more;
  const accounts = [...ACCOUNT_COLUMNS].map(([table, columns]) => ({ table, columns: [...columns] }));
  const rowCounts = new Map<string, number>();
  const rows = await tablesWithRows(client, located, tables);
  const header = {
    format: 'dps-backup' as const,
    version: FORMAT_VERSION,
    ...about,
    schema,
    taken_at: new Date().toISOString(),
    head,
    not_included: await readExcludedObjects(client, located, tables),
  };
  return { header, rowCounts, sections: sectionsOf(client, moment, { accounts, rows, rowCounts, onRows }) };
}

interface Tables {
  accounts: TableRows[];
  rows: TableRows[];
  /** The number of rows by table. It grows while rows are read. */
  rowCounts: Map<string, number>;
  onRows: (done: number, total: number) => void;
}

async function* sectionsOf(
  client: pg.ClientBase,
  { schema, state, head }: Moment,
  { accounts, rows, rowCounts, onRows }: Tables,
): AsyncGenerator<{ section: Section; content: AsyncIterable<Buffer> }, void, undefined> {
  const located = { schema, state };
  yield { section: { section: 'events' }, content: eventsOf(client, head.position) };
  for (const table of accounts) {
    yield { section: { section: 'account-rows', ...table }, content: rowsOf(client, null, table) };
  }
  for (const [index, table] of rows.entries()) {
    onRows(index, rows.length);
    const content = countRows(rowsOf(client, located, table), (count) => rowCounts.set(table.table, count));
    yield { section: { section: 'rows', ...table }, content };
  }
  onRows(rows.length, rows.length);
  // Sequences come last. They are not part of the snapshot, so their values must be at least as new as the rows.
  yield { section: { section: 'sequences' }, content: sequencesOf(client, located) };
}

const EVENTS_AT_ONCE = 500;

async function* eventsOf(client: pg.ClientBase, upTo: number): AsyncGenerator<Buffer, void, undefined> {
  for (let after = 0; after < upTo;) {
    const page = await readEventTexts(client, { after, upTo, limit: EVENTS_AT_ONCE });
    const last = page.at(-1);
    if (last === undefined)
      throw new OperatorError(`The log has no event after position ${after}. Run "dps verify" for details.`);
    yield Buffer.from((await readExportedLines(client, page)).map((line) => `${line}\n`).join(''));
    after = last.position;
  }
}

/** Passes rows on and counts them. COPY's text format escapes line feeds in values, so each line feed ends a row. */
async function* countRows(
  chunks: AsyncIterable<Buffer>,
  onEnd: (count: number) => void,
): AsyncGenerator<Buffer, void, undefined> {
  let count = 0;
  for await (const chunk of chunks) {
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) count += 1;
    yield chunk;
  }
  onEnd(count);
}

function rowsOf(client: pg.ClientBase, located: LocatedTables | null, table: TableRows): AsyncIterable<Buffer> {
  return client.query(copyTo(copyOut(located, table)));
}

async function* sequencesOf(client: pg.ClientBase, located: LocatedTables): AsyncGenerator<Buffer, void, undefined> {
  for (const sequence of await sequenceNames(client, located)) {
    const { rows } = await client.query<Omit<SequenceValue, 'name'>>(
      `SELECT last_value::text AS last_value, is_called FROM ${sequenceText(sequence, located.schema)}`,
    );
    yield Buffer.from(`${JSON.stringify({ ...sequence, ...rows[0] })}\n`);
  }
}
