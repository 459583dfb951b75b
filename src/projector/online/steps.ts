/* The steps that prepare one object, and their members that only this folder reads. */
import { hash } from 'node:crypto';
import type { Json } from '../../kernel/json.js';
import type { FilledColumn, Statement, Preparable, LockedTable } from '../ddl/step.js';
import type { OffendingRows } from '../refusals/offending-rows.js';
import { type Sql, fromStoredSql, qualified, storedSql, sql } from '../ddl/sql.js';
import type { TableLocation } from '../../schema/model/state.js';
import type { PreparationStep } from './types.js';
import { locationText } from '../../schema/model/location.js';
import type { Queryable } from '../../postgres/pool.js';
import { partsOf, findStrongestLocks } from '../ddl/table-locks.js';

/* The parts of a batch that can be prepared, and how they are stored in a step. */

export interface PreparedStep {
  table: string;
  /** The location of the table, unless it has the same name in the default schema. */
  at?: TableLocation;
  what: Preparable;
  /** Identifies the step. Planning the same change again yields the same key. */
  key: string;
}

/** The qualified table on which something is prepared. @param schema the default schema */
export const preparedTable = ({ table, at }: Pick<PreparedStep, 'table' | 'at'>, schema: string): Sql =>
  qualified(at?.schema ?? schema, at?.name ?? table);

/** Qualifies an index with the schema of that table. @param schema the default schema */
export const qualifyInPreparedSchema = ({ at }: Pick<PreparedStep, 'at'>, schema: string, name: string): Sql =>
  qualified(at?.schema ?? schema, name);

/** Returns what can be prepared for a statement. Undefined if nothing can be. */
export function preparedOf({ preparable: what, object, at }: Statement): PreparedStep | undefined {
  return what === undefined || object.table === null
    ? undefined
    : { table: object.table, ...(at !== undefined && { at }), what, key: keyOf(object.table, what) };
}

function keyOf(table: string, what: Preparable): string {
  if (what.kind === 'not null') return `not null ${locationText({ collection: table, field: what.column })}`;
  if (what.kind === 'fill') return `fill ${locationText({ collection: table, field: what.column })} ${hashOf(what)}`;
  if (what.kind === 'copy')
    return `copy ${locationText({ collection: table, field: what.column.name })} ${hashOf([what.column, what.key])}`;
  return `${wordOf(what)} ${locationText({ collection: table, field: what.name })} ${hashOf(what)}`;
}

const hashOf = (what: unknown): string => hash('sha256', JSON.stringify(what)).slice(0, 8);

/** Returns the kind for display: `check`, `foreign key`, `index` … */
export function wordOf(what: Preparable): string {
  switch (what.kind) {
    case 'constraint':
      return what.references === null ? 'check' : 'foreign key';
    case 'key':
      return what.type === 'UNIQUE' ? 'unique' : 'primary key';
    case 'index':
      return what.unique ? 'unique index' : 'index';
    default:
      return what.kind;
  }
}

/** The members that contain SQL. */
const SQL_MEMBERS = ['definition', 'after', 'value'] as const;

function toStored(what: object): Json {
  const members = what as Partial<Record<(typeof SQL_MEMBERS)[number], Sql>> & { fill?: object };
  const stored: { [member: string]: Json } = { ...(what as { [member: string]: Json }) };
  for (const name of SQL_MEMBERS) if (members[name] !== undefined) stored[name] = storedSql(members[name]);
  if (members.fill !== undefined) stored['fill'] = toStored(members.fill);
  return stored;
}

/** Reads what `toStored` wrote. */
function fromStored(stored: Json): Preparable {
  const what: Record<string, unknown> = { ...(stored as { [member: string]: Json }) };
  for (const name of SQL_MEMBERS) if (what[name] !== undefined) what[name] = fromStoredSql(what[name] as string[]);
  if (what['fill'] !== undefined) what['fill'] = fromStored(what['fill'] as Json);
  return what as unknown as Preparable;
}

/* Facts from the catalog and the statistics about the tables of a change. */

export interface TableFacts {
  name: string;
  kind: 'table' | 'partitioned';
  /** Size of the heap with its partitions; null without statistics. */
  bytes: number | null;
  /** PostgreSQL's estimate; null without statistics. */
  rows: number | null;
  /** Age of the statistics in seconds; null if the table was never analyzed. */
  age: number | null;
  uses: number | null;
  /** True if rows arrive through logical replication. */
  subscribed: boolean;
  /**
   * True if the table is a partition or takes part in inheritance. Statements on other tables then add and remove its
   * rows.
   */
  related: boolean;
  /** True if row security policies also apply to the table's owner. */
  policed: boolean;
}

/**
 * Selects facts about tables. Reading exact file sizes needs a lock that waits for ACCESS EXCLUSIVE; statistics do not.
 * Partitions come from pg_inherits, because pg_partition_tree locks them.
 */
const FACTS = sql`
SELECT w.label AS name, CASE c.relkind WHEN 'p' THEN 'partitioned' ELSE 'table' END AS kind, p.bytes, p.rows, p.age, p.uses,
  EXISTS (SELECT FROM pg_catalog.pg_subscription_rel s WHERE s.srrelid = c.oid) AS subscribed,
  EXISTS (SELECT FROM pg_catalog.pg_inherits i WHERE c.oid IN (i.inhrelid, i.inhparent)) AS related, c.relforcerowsecurity AS policed
FROM ROWS FROM (pg_catalog.unnest($1::text[]), pg_catalog.unnest($2::text[]), pg_catalog.unnest($3::text[])) AS w (schema, name, label)
JOIN pg_catalog.pg_namespace n ON n.nspname = w.schema
JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = w.name AND c.relkind IN ('r', 'p'),
LATERAL (
  SELECT pg_catalog.sum(CASE WHEN $4 THEN pg_catalog.pg_relation_size(r.oid)
      WHEN r.reltuples >= 0::real THEN r.relpages::bigint * pg_catalog.current_setting('block_size')::bigint END)::float8 AS bytes,
    pg_catalog.sum(coalesce(nullif(r.reltuples, (-1)::real), nullif(pg_catalog.pg_stat_get_live_tuples(r.oid), 0::bigint)))::float8 AS rows,
    extract(epoch FROM now() - pg_catalog.min(greatest(pg_catalog.pg_stat_get_last_analyze_time(r.oid),
      pg_catalog.pg_stat_get_last_autoanalyze_time(r.oid))))::float8 AS age,
    pg_catalog.sum(pg_catalog.pg_stat_get_numscans(r.oid) + pg_catalog.pg_stat_get_tuples_inserted(r.oid)
      + pg_catalog.pg_stat_get_tuples_updated(r.oid) + pg_catalog.pg_stat_get_tuples_deleted(r.oid)
      + (SELECT coalesce(pg_catalog.sum(pg_catalog.pg_stat_get_numscans(i.indexrelid)), 0)::bigint
           FROM pg_catalog.pg_index i WHERE i.indrelid = r.oid))::float8 AS uses
  FROM (${partsOf(sql`c`)}) AS t (oid)
  JOIN pg_catalog.pg_class r ON r.oid = t.oid AND r.relkind = 'r'
) p`;

/** A table, named like its collection. */
export type NamedTable = Pick<LockedTable, 'table' | 'at'>;

export interface FactsRequest {
  schema: string;
  tables: readonly NamedTable[];
  /** True to measure sizes exactly instead of estimating them. */
  exact: boolean;
}

/** Returns the query parameters for tables: their schemas, their names, and the names of their collections. */
const locationsOf = (schema: string, tables: readonly NamedTable[]): [string[], string[], string[]] => [
  tables.map(({ at }) => at?.schema ?? schema),
  tables.map(({ table, at }) => at?.name ?? table),
  tables.map(({ table }) => table),
];

/** Returns facts by the name of the collection. Missing tables are left out. */
export async function readTableFacts(
  client: Queryable,
  { schema, tables, exact }: FactsRequest,
): Promise<ReadonlyMap<string, TableFacts>> {
  if (tables.length === 0) return new Map();
  const { rows } = await client.query<TableFacts>(FACTS, [...locationsOf(schema, tables), exact]);
  return new Map(rows.map((row) => [row.name, row]));
}

/* The tables that a batch locks, and their size. */

export interface LockedTableFacts extends LockedTable {
  /** Estimated by PostgreSQL; null without statistics. */
  rows: number | null;
  bytes: number | null;
  /** True if the change deletes the table or values of it, and the table has no rows. */
  empty?: true;
}

/** Returns each existing table once, by name, with its strongest lock. */
export async function listLockedTables(
  db: Queryable,
  { schema, statements }: { schema: string; statements: readonly Statement[] },
): Promise<LockedTableFacts[]> {
  const locks = findStrongestLocks(statements);
  const facts = await readTableFacts(db, { schema, tables: locks, exact: false });
  return locks.map(({ table, lock }) => {
    const { rows = null, bytes = null } = facts.get(table) ?? {};
    return { table, lock, rows, bytes };
  });
}

/**
 * How a column becomes NOT NULL: through the constraint itself from PostgreSQL 18 on, or through an equivalent check.
 */
export type NotNullBy = 'constraint' | 'check';

/** A step as the engine reads it. */
export interface EngineStep {
  kind: 'add' | 'validate' | 'index' | 'note' | 'copy' | 'fill';
  prepared: PreparedStep;
  notNullBy: NotNullBy;
  /** The query for rows that violate the rule. Null if only PostgreSQL's message is available. */
  offending: OffendingRows | null;
  source: Statement['source'];
}

export interface StepInput {
  prepared: PreparedStep;
  statement: Statement;
  size: Pick<TableFacts, 'rows'> & { bytes: number | null };
  notNullBy: NotNullBy;
  offending: OffendingRows | null;
}

export function stepsOf(stepping: StepInput): PreparationStep[] {
  const { prepared } = stepping;
  const { what } = prepared;
  if (what.kind === 'index' || what.kind === 'key')
    return [toStep('index', `build the ${wordOf(what)} ${what.name} of ${prepared.table}`, stepping)];
  if (what.kind === 'copy')
    return [
      toStep('note', `track written rows of ${prepared.table}`, stepping),
      toStep('copy', `copy the values of ${prepared.table}.${what.column.name}`, stepping),
    ];
  if (what.kind === 'fill')
    return [toStep('fill', `fill ${prepared.table}.${what.column} in rows without a value`, stepping)];
  const label = what.kind === 'not null' ? `${prepared.table}.${what.column}` : `${what.name} of ${prepared.table}`;
  const rule = what.kind === 'not null' ? `that ${label} is never null` : `the ${wordOf(what)} ${label}`;
  // Rows that were written without a value before the rule was enforced are filled after it.
  const filled = what.kind === 'not null' && what.fill !== undefined;
  return [
    toStep('add', `enforce ${rule} for new rows of ${prepared.table}`, stepping),
    ...(filled ? [toStep('fill', `fill ${label} in rows that were written in the meantime`, stepping)] : []),
    toStep('validate', `validate ${rule}`, stepping),
  ];
}

/** Returns the column that a step fills. */
export function filledBy({ what }: PreparedStep): FilledColumn {
  const filled = what.kind === 'not null' ? what.fill : what.kind === 'fill' ? what : undefined;
  if (filled === undefined) throw new Error('not the step of a fill');
  return filled;
}

function toStep(kind: EngineStep['kind'], summary: string, stepping: StepInput): PreparationStep {
  const { prepared, statement, size, notNullBy, offending } = stepping;
  const isScan = kind !== 'add' && kind !== 'note';
  return {
    key: `${kind} ${prepared.key}`,
    kind,
    collection: prepared.table,
    field: statement.source.field,
    summary,
    rows: isScan ? size.rows : null,
    bytes: isScan ? size.bytes : null,
    prepared: {
      table: prepared.table,
      ...(prepared.at !== undefined && { at: { ...prepared.at } }),
      key: prepared.key,
      what: toStored(prepared.what),
    },
    notNullBy,
    offending: offending && { ...offending, words: [...offending.words], question: storedSql(offending.question) },
    source: { ...statement.source },
  };
}

/** Reads a step that the runner returns. */
export function readStep(step: PreparationStep): EngineStep {
  const { prepared, offending } = step as unknown as Record<'prepared' | 'offending', Record<string, Json>>;
  return {
    ...(step as unknown as Pick<EngineStep, 'kind' | 'notNullBy' | 'source'>),
    prepared: { ...(prepared as unknown as PreparedStep), what: fromStored(prepared['what'] ?? null) },
    offending: offending && {
      ...(offending as unknown as OffendingRows),
      question: fromStoredSql(offending['question'] as string[]),
    },
  };
}
