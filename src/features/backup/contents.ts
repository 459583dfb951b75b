/* Reads the content of a database for a backup: tables with their columns, sequences, and a list of what the backup
   excludes. */
import pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { OperatorError } from '../../kernel/problem.js';
import { readExportedLines } from '../../log/documents.js';
import { readEventTexts } from '../../log/read.js';
import { SQLSTATE, sqlState } from '../../postgres/errors.js';
import { unlimited } from '../../postgres/limits.js';
import { ownTable } from '../../postgres/own-tables.js';
import { IS_SHARED } from '../../projector/catalog/deletion-facts.js';
import {
  DEFAULT_PRIVILEGES,
  ARE_OWN_DEFAULTS,
  IS_PRIVILEGES,
  PRIVILEGES_FROM,
  PRIVILEGES_ID,
  ROUTINE_ID,
  HAS_ROW_SECURITY,
  POLICY_ID,
  IS_RULE,
  RULE_ID,
  IS_OBJECT,
  IS_OWN_TYPE,
  TRIGGER_ID,
} from '../../projector/ddl/object-sql.js';
import { type Sql, own, ownSchemaOid, sql, trashSchemaName } from '../../projector/ddl/sql.js';
import { HAS_TABLE_OPTIONS } from '../../projector/ddl/table-options.js';
import { isLockTableFull } from '../../projector/refusals/ddl-failure.js';
import { toLocalObject } from '../../schema/model/object-ids.js';
import { needsOfNode, objectsInOrder } from '../../schema/model/order.js';
import {
  type CollectionNode,
  type State,
  byName,
  locateTable,
  schemasOf,
  tablesBySchema,
} from '../../schema/model/state.js';
import { SERVICE_TABLE_COLUMNS, type SequenceValue, type Contents, FORMAT_VERSION, type Section } from './format.js';

export interface TableRows {
  table: string;
  /** Column names, without generated columns. */
  columns: string[];
}

/** Reads the columns of tables. Partitioned tables are excluded, because they have no rows of their own. */
const COLUMNS: Sql = sql`
SELECT c.relname::text AS table,
       coalesce(pg_catalog.json_agg(a.attname ORDER BY a.attnum) FILTER (WHERE a.attnum IS NOT NULL), '[]') AS columns
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_catalog.pg_attribute a
  ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
WHERE CASE WHEN $1::text IS NULL THEN n.oid = ${ownSchemaOid} ELSE n.nspname = $1 END
  AND c.relkind = 'r' AND c.relname = ANY ($2)
GROUP BY c.relname
ORDER BY c.relname COLLATE "C"`;

/** The data that locates the tables of collections. */
export interface LocatedTables {
  /** The default schema. */
  schema: string;
  state: State;
}

/** @param located null for the service's own tables */
export async function tablesWithRows(
  client: pg.ClientBase,
  located: LocatedTables | null,
  names: readonly string[],
): Promise<TableRows[]> {
  if (located === null) return (await client.query<TableRows>(COLUMNS, [null, names])).rows;
  const tableRows: TableRows[] = [];
  for (const [schema, tables] of tablesBySchema(located.state, names, located.schema)) {
    const { rows } = await client.query<TableRows>(COLUMNS, [schema, [...tables.keys()]]);
    for (const { table, columns } of rows) tableRows.push({ table: tables.get(table) ?? table, columns });
  }
  return tableRows.sort((a, b) => byName(a.table, b.table));
}

export const tablesOf = (state: State): string[] =>
  [...state.collections.values()]
    .filter(({ collection }) => collection.schema !== null)
    .map(({ collection }) => collection.collection)
    .sort(byName);

const SEQUENCES: Sql = sql`
SELECT c.relname::text AS name
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = $1 AND c.relkind = 'S'
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
ORDER BY c.relname COLLATE "C"`;

/** A sequence of a managed schema. */
interface SequenceName {
  name: string;
  /** Absent for the default schema. */
  schema?: string | undefined;
}

/** Returns all sequences of the schemas of the state, sorted by name, without those of extensions. */
export async function sequenceNames(client: pg.ClientBase, { schema, state }: LocatedTables): Promise<SequenceName[]> {
  const sequences: SequenceName[] = [];
  for (const place of schemasOf(state, schema)) {
    const { rows } = await client.query<{ name: string }>(SEQUENCES, [place]);
    sequences.push(...rows.map(({ name }) => ({ name, ...(place !== schema && { schema: place }) })));
  }
  return sequences;
}

/** @param usual the default schema, which the text omits */
export const sequenceText = ({ schema, name }: SequenceName, usual: string): string =>
  `${pg.escapeIdentifier(schema ?? usual)}.${pg.escapeIdentifier(name)}`;

/** Finds the objects of one schema that a backup excludes. Objects of extensions are not listed. */
const LEFT_OUT: Sql = sql`
WITH own AS (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = $1)
SELECT kind, coalesce(pg_catalog.json_agg(name ORDER BY name COLLATE "C"), '[]') AS names FROM (
  SELECT CASE c.relkind WHEN 'v' THEN 'views' WHEN 'm' THEN 'materialized views' WHEN 'f' THEN 'foreign tables'
           ELSE 'tables' END AS kind, c.relname::text AS name, c.oid AS object
    FROM pg_catalog.pg_class c JOIN own ON own.oid = c.relnamespace
   WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relname = ANY ($2)
  UNION ALL
  SELECT 'tables', pg_catalog.format('%I.%I', n.nspname, c.relname), c.oid
    FROM pg_catalog.pg_inherits i JOIN pg_catalog.pg_class p ON p.oid = i.inhparent JOIN own ON own.oid = p.relnamespace
    JOIN pg_catalog.pg_class c ON c.oid = i.inhrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
   WHERE c.relkind IN ('r', 'p', 'f') AND n.nspname <> ALL ($3::text[]) AND p.relname = ANY ($2)
  UNION ALL
  SELECT 'functions', ${ROUTINE_ID}, p.oid
    FROM pg_catalog.pg_proc p JOIN own ON own.oid = p.pronamespace
   WHERE NOT ${ROUTINE_ID} = ANY ($2)
  UNION ALL
  SELECT 'triggers', pg_catalog.format('%s on %s', t.tgname, c.relname), t.oid
    FROM pg_catalog.pg_trigger t JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid JOIN own ON own.oid = c.relnamespace
   WHERE ${IS_OBJECT} AND c.relname = ANY ($2) AND NOT ${TRIGGER_ID} = ANY ($2)
  UNION ALL
  SELECT 'row security policies', pg_catalog.format('%s on %s', policy.polname, c.relname), policy.oid
    FROM pg_catalog.pg_policy policy JOIN pg_catalog.pg_class c ON c.oid = policy.polrelid JOIN own ON own.oid = c.relnamespace
   WHERE NOT ${POLICY_ID} = ANY ($2)
  UNION ALL
  SELECT 'row security', c.relname::text, c.oid
    FROM pg_catalog.pg_class c JOIN own ON own.oid = c.relnamespace
   WHERE ${HAS_ROW_SECURITY} AND c.relname = ANY ($2) AND NOT 'row_security ' || c.relname = ANY ($4::text[])
  UNION ALL
  SELECT 'table options', c.relname::text, c.oid
    FROM pg_catalog.pg_class c JOIN own ON own.oid = c.relnamespace
   WHERE ${HAS_TABLE_OPTIONS} AND c.relname = ANY ($2) AND NOT 'table_options ' || c.relname = ANY ($4::text[])
  UNION ALL
  SELECT 'statistics objects', s.stxname::text, s.oid
    FROM pg_catalog.pg_statistic_ext s JOIN own ON own.oid = s.stxnamespace
   WHERE NOT 'statistics ' || s.stxname = ANY ($4::text[])
  UNION ALL
  SELECT 'rules', pg_catalog.format('%s on %s', r.rulename, c.relname), r.oid
    FROM pg_catalog.pg_rewrite r JOIN pg_catalog.pg_class c ON c.oid = r.ev_class JOIN own ON own.oid = c.relnamespace
   WHERE ${IS_RULE} AND c.relname = ANY ($2) AND NOT 'rule ' || ${RULE_ID} = ANY ($4::text[])
  UNION ALL
  SELECT 'privileges', pg_catalog.format('%s on %s', CASE granted.grantee WHEN 0::oid THEN 'PUBLIC' ELSE granted.role END, coalesce(granted.routine, granted.name::text)), granted.oid
    FROM ${PRIVILEGES_FROM} JOIN own ON own.oid = n.oid
   WHERE ${IS_PRIVILEGES} AND granted.used <> 'pg_namespace' AND (coalesce(granted.routine, granted.name::text) = ANY ($2)
       OR granted.used = 'pg_sequence' AND 'sequence ' || granted.name = ANY ($4::text[])
       OR granted.used = 'pg_type' AND 'type ' || granted.name = ANY ($4::text[]))
     AND NOT 'privileges ' || ${PRIVILEGES_ID} = ANY ($4::text[])
  UNION ALL
  SELECT 'privileges on schemas', pg_catalog.format('%s on %s', CASE granted.grantee WHEN 0::oid THEN 'PUBLIC' ELSE granted.role END, granted.name), granted.oid
    FROM ${PRIVILEGES_FROM} JOIN own ON own.oid = n.oid
   WHERE ${IS_PRIVILEGES} AND granted.used = 'pg_namespace' AND NOT granted.initial AND NOT 'privileges ' || ${PRIVILEGES_ID} = ANY ($4::text[])
  UNION ALL
  SELECT 'sequences', c.relname::text, c.oid
    FROM pg_catalog.pg_class c JOIN own ON own.oid = c.relnamespace
   WHERE c.relkind = 'S' AND NOT 'sequence ' || c.relname = ANY ($4::text[])
     AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_catalog.pg_class'::regclass::oid AND d.objid = c.oid
       AND d.refclassid = 'pg_catalog.pg_class'::regclass::oid AND d.deptype IN ('a', 'i'))
  UNION ALL
  SELECT 'default privileges', ${DEFAULT_PRIVILEGES}, d.oid
    FROM pg_catalog.pg_default_acl d WHERE (d.defaclnamespace = 0::oid OR d.defaclnamespace IN (SELECT oid FROM own))
     AND (NOT ${ARE_OWN_DEFAULTS} OR EXISTS (SELECT FROM ${PRIVILEGES_FROM} JOIN own ON own.oid = n.oid
       WHERE granted.used = 'pg_default_acl' AND granted.oid = d.oid AND ${IS_PRIVILEGES} AND NOT 'privileges ' || ${PRIVILEGES_ID} = ANY ($4::text[])))
  UNION ALL
  SELECT 'types', t.typname::text, t.oid
    FROM pg_catalog.pg_type t JOIN own ON own.oid = t.typnamespace
   WHERE ${IS_OWN_TYPE} AND NOT 'type ' || t.typname = ANY ($4::text[])
  UNION ALL
  SELECT 'schemas', n.nspname::text, n.oid FROM pg_catalog.pg_namespace n
   WHERE n.nspname <> ALL ($3::text[]) AND n.nspname NOT IN ('information_schema', 'public') AND NOT pg_catalog.starts_with(n.nspname, 'pg_') AND n.oid IS DISTINCT FROM ${ownSchemaOid}
     AND NOT EXISTS (SELECT FROM ${own.trash} t WHERE n.nspname = ${trashSchemaName(sql`t.position`)}) AND NOT (${IS_SHARED})
  UNION ALL
  SELECT 'trash', CASE t.kind WHEN 'field' THEN pg_catalog.format('%s.%s (position %s)', t.collection, t.field, t.position)
           ELSE pg_catalog.format('%s (position %s)', t.collection, t.position) END, NULL::oid
    FROM ${own.trash} t
  UNION ALL
  SELECT 'large objects', l.oid::text, l.oid FROM (SELECT oid FROM pg_catalog.pg_largeobject_metadata LIMIT 100) l
) found
WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.objid = found.object AND d.deptype = 'e')
GROUP BY kind ORDER BY kind`;

/** Kinds of objects that belong to a schema, so that their names need it. */
const IN_SCHEMA: ReadonlySet<string> = new Set([
  'tables',
  'views',
  'materialized views',
  'foreign tables',
  'functions',
  'triggers',
  'row security policies',
  'row security',
  'statistics objects',
  'rules',
  'privileges',
  'table options',
  'sequences',
  'types',
]);

/** Returns the names of the managed tables and objects by schema. */
function includedNames(
  { schema, state }: LocatedTables,
  managed: readonly string[],
): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, readonly string[]>(
    [...tablesBySchema(state, managed, schema)].map(([place, tables]) => [place, [...tables.keys()]] as const),
  );
  for (const { object } of state.objects.values()) {
    const { schema: place = schema, id } = toLocalObject(object);
    names.set(place, [...(names.get(place) ?? []), id]);
  }
  return names;
}

/** Returns the sequences and types of a schema that a table needs. A restore creates them with the table. */
const objectsNeededIn = (node: CollectionNode, place: string, schema: string): string[] =>
  needsOfNode(node).flatMap((need) =>
    need.kind !== 'extension' && need.kind !== 'collation' && (need.schema ?? schema) === place
      ? [`${need.kind === 'sequence' ? 'sequence' : 'type'} ${need.name}`]
      : [],
  );

/** Returns by kind the objects that a backup of `managed` does not contain. */
async function readExcludedObjects(
  client: pg.ClientBase,
  { schema, state }: LocatedTables,
  managed: readonly string[],
): Promise<Record<string, string[]>> {
  const schemas = schemasOf(state, schema);
  const included = includedNames({ schema, state }, managed);
  // Row security and table options have the name of their table, and statistics objects can have that of another object.
  const objects = objectsInOrder(state).map(toLocalObject);
  const namesByKind = new Map<string, Set<string>>();
  for (const place of schemas) {
    const needed = [...state.collections.values()].flatMap((node) => objectsNeededIn(node, place, schema));
    const here = objects.flatMap((each) => ((each.schema ?? schema) === place ? [`${each.kind} ${each.id}`] : []));
    const values = [place, included.get(place) ?? [], schemas, [...here, ...needed]];
    const { rows } = await client.query<{ kind: string; names: string[] }>(LEFT_OUT, values);
    for (const { kind, names } of rows) {
      const isOwn = place !== schema && IN_SCHEMA.has(kind);
      const namesOfKind = namesByKind.get(kind) ?? new Set();
      for (const name of names) namesOfKind.add(isOwn && !name.includes('.') ? `${place}.${name}` : name);
      namesByKind.set(kind, namesOfKind);
    }
  }
  const kinds = [...namesByKind].sort(([a], [b]) => byName(a, b));
  return Object.fromEntries(kinds.map(([kind, names]) => [kind, [...names].sort(byName)]));
}

/* Read rows in COPY's text format, which is the same in every release of PostgreSQL. */

/** Settings for one transaction that affect the text of values, in addition to those of all connections. */
export const COPY_SETTINGS = `SET LOCAL lc_monetary = 'C'; SET LOCAL xmloption = 'content'; SET LOCAL row_security = off`;

/** Returns the quoted, qualified name of a collection's table. */
export function tableText({ schema, state }: LocatedTables, collection: string): string {
  const at = locateTable(state, collection, schema);
  return `${pg.escapeIdentifier(at.schema)}.${pg.escapeIdentifier(at.name)}`;
}

/** @param located null for the service's own tables */
const copyTarget = (located: LocatedTables | null, { table, columns }: TableRows): string => {
  const list = columns.length === 0 ? '' : ` (${columns.map((name) => pg.escapeIdentifier(name)).join(', ')})`;
  return `${located === null ? ownTable(pg.escapeIdentifier(table)) : tableText(located, table)}${list}`;
};

const copyOut = (located: LocatedTables | null, rows: TableRows): string =>
  `COPY ${copyTarget(located, rows)} TO STDOUT`;

export const copyIn = (located: LocatedTables | null, rows: TableRows): string =>
  `COPY ${copyTarget(located, rows)} FROM STDIN`;

/* Takes a backup of one snapshot while the service runs. */

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
  const accounts = [...SERVICE_TABLE_COLUMNS].map(([table, columns]) => ({ table, columns: [...columns] }));
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
