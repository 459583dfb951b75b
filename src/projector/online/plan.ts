import { backfillOfEvent } from '../../schema/model/backfill.js';
import type { Queryable } from '../../postgres/pool.js';
import { tableOfRows, isSizeDependent } from '../../schema/findings/model.js';
import { type NamedTable, type PreparedStep, preparedOf, stepsOf, readTableFacts, type TableFacts } from './steps.js';
import type { FilledColumn, Statement } from '../ddl/step.js';
import type { DecidedChange, Preparation } from './types.js';
import type { Warning, Problem } from '../../kernel/problem.js';
import { jsonEqual } from '../../kernel/json.js';
import { hasColumn, type CollectionNode } from '../../schema/model/state.js';
import type { Field } from '../../schema/model/model.js';
import { columnTypeSql } from '../ddl/column.js';
import { primaryKeyColumns } from '../ddl/create-table.js';
import { ident, columnList } from '../ddl/sql.js';
import { type OffendingRows, offendingRowsOf } from '../refusals/offending-rows.js';

/* Finds the rows that would violate a prepared constraint. */

const STATES = { 'not null': '23502', key: '23505', index: '23505', constraint: '23503', copy: '', fill: '' } as const;

/**
 * Returns the query for rows that would violate the rule. Null if no query adds to PostgreSQL's own message.
 */
export function offendingOf(
  { before, after, schema, events }: DecidedChange,
  { source }: Statement,
  { what }: PreparedStep,
): OffendingRows | null {
  const { collection, field } = source;
  if (field === null || !isOf(what, field)) return null;
  const details = { sqlstate: STATES[what.kind] };
  const problem: Problem = { code: 'DATABASE_REFUSED', message: '', collection, field, details };
  return offendingRowsOf({ problem, before, after, schema, backfill: backfillOfEvent(events[source.event]) });
}

/** True if the rule concerns only this field. */
function isOf(what: PreparedStep['what'], field: string): boolean {
  if (what.kind === 'key' || what.kind === 'index') return what.definition === columnList([field]);
  return what.kind === 'not null' || (what.kind === 'constraint' && what.references !== null);
}

/* Reasons why a statement on a large table cannot be prepared. */

interface JudgedStatement {
  change: DecidedChange;
  statement: Statement;
  prepared: PreparedStep | undefined;
  facts: TableFacts;
  /** The value of `server_version_num`. */
  version: number;
}

/** Returns the problem `ONLINE_NOT_POSSIBLE`, or null if there is no obstacle. */
export function findObstacle(judged: JudgedStatement): Problem | null {
  const { statement, prepared } = judged;
  const reason = statement.rewrites_table
    ? 'PostgreSQL rewrites the whole table'
    : prepared === undefined
      ? 'PostgreSQL reads the whole table under its lock, and cannot do that beforehand'
      : reasonOf(judged, prepared);
  if (reason === null) return null;
  const { collection, field } = statement.source;
  const message = `An online change cannot ${statement.summary}: ${reason}. Send it without online, or remove it.`;
  return { code: 'ONLINE_NOT_POSSIBLE', message, collection, ...(field !== null && { field }), details: { reason } };
}

function reasonOf(judged: JudgedStatement, prepared: PreparedStep): string | null {
  return reasonOfTable(judged, prepared) ?? reasonOfColumns(judged, prepared) ?? reasonOfTarget(judged, prepared);
}

/** Explains which limitation of PostgreSQL with partitions prevents the preparation, or returns null. */
function reasonOfTable(judged: JudgedStatement, { what }: PreparedStep): string | null {
  const { facts, version } = judged;
  if (what.kind === 'copy') return reasonOfRows(facts);
  if (what.kind === 'fill') return reasonOfFilling(facts, what);
  if (facts.kind === 'table') return null;
  if (what.kind === 'index' || what.kind === 'key')
    return 'PostgreSQL has no CREATE INDEX CONCURRENTLY for a partitioned table';
  if (what.kind === 'constraint' && what.references !== null && version < 180_000)
    return 'before version 18, PostgreSQL does not support a NOT VALID foreign key on a partitioned table';
  return null;
}

/** Explains why writes cannot be recorded or rows cannot be read, or returns null. */
function reasonOfRows({ kind, related, subscribed, policed }: TableFacts): string | null {
  if (kind === 'partitioned' || related)
    return 'statements on other tables (its partitions, or tables that it inherits from) also change rows of the table';
  if (subscribed) return 'logical replication writes rows of the table, and the service cannot track those writes';
  return policed ? POLICED : null;
}

/** Explains why rows cannot be filled in batches, or returns null. */
function reasonOfFilling({ policed }: TableFacts, { key }: FilledColumn): string | null {
  if (key.length === 0) return 'the table has no primary key, and the service fills rows in the order of that key';
  return policed ? POLICED : null;
}

const POLICED = 'row-level security applies to the owner of the table, so the service cannot read all rows';

/**
 * Explains how the change affects the table or its columns, or returns null. Prepared objects need the columns to be
 * the same before and after the change.
 */
function reasonOfColumns({ change }: JudgedStatement, { table, what }: PreparedStep): string | null {
  const [before, after] = [change.before, change.after].map(({ collections }) => collections.get(table));
  const isRenamed = change.events.some(
    ({ type, collection, data }) =>
      type === 'collection.renamed' && (collection === table || (data as { to?: unknown }).to === table),
  );
  if (before === undefined || after === undefined || isRenamed)
    return 'the same change renames the table. Send the rename first, as a separate change';
  const names = [...findMovingColumns(change, table, { before, after })];
  const moving = names.find((name) => needsColumn(what, name));
  return moving === undefined
    ? null
    : `the same change creates, renames or alters the column ${JSON.stringify(moving)}. Send that first, as a separate change`;
}

/** True if a string may contain a name, with or without quotes. A false match only rejects more. */
const mentions = (text: string, name: string): boolean => text.includes(name) || text.includes(ident(name));

function needsColumn(what: PreparedStep['what'], name: string): boolean {
  if (what.kind === 'not null') return what.column === name;
  // A copy needs only the columns of the key to stay. The copied column is the one that is dropped.
  if (what.kind === 'copy') return what.key.some((each) => each.name === name);
  if (what.kind === 'fill') return [what.column, what.source, ...what.key].includes(name);
  return mentions(what.definition, name);
}

interface Nodes {
  before: CollectionNode;
  after: CollectionNode;
}

/** Yields columns that do not exist before or after the change, or that change their name or type. */
function* findMovingColumns({ events }: DecidedChange, table: string, { before, after }: Nodes): Iterable<string> {
  for (const { type, collection, field, data } of events) {
    if (type !== 'field.renamed' || collection !== table) continue;
    yield field ?? '';
    yield String((data as { to?: unknown }).to);
  }
  for (const name of new Set([...before.fields.keys(), ...after.fields.keys()])) {
    if (describeColumn(before.fields.get(name)) !== describeColumn(after.fields.get(name))) yield name;
  }
}

/** Describes what determines the values of a column, to compare two versions of it. */
const describeColumn = (field: Field | undefined): string =>
  hasColumn(field) ? `${columnTypeSql(field)} ${field.schema.generation_expression}` : '';

/**
 * Explains how the change affects the key that a foreign key references, or returns null. That key must stay the same.
 */
function reasonOfTarget({ change }: JudgedStatement, { table, what }: PreparedStep): string | null {
  if (what.kind !== 'constraint' || what.references === null || what.references === table) return null;
  const [before, after] = [change.before, change.after].map(({ collections }) =>
    collections.get(what.references as string),
  );
  if (after === undefined && before === undefined) return null;
  if (before === undefined || after === undefined)
    return `the same change creates the table ${JSON.stringify(what.references)}. Send that first, as a separate change`;
  return jsonEqual(primaryKeyColumns(before), primaryKeyColumns(after))
    ? null
    : `the same change alters the primary key of ${JSON.stringify(what.references)}. Send that first, as a separate change`;
}

/* Warnings that are shown before a preparation starts. */

/** Returns the warning about a prepared constraint. It applies from its first step on, before the change itself. */
export function warningOf({ source }: Statement, prepared: PreparedStep): Warning {
  const { collection, field } = source;
  const end = prepared.what.kind === 'fill' ? 'They keep the value' : 'This ends';
  const message = `${sentenceOf(prepared)}. ${end} if the change request is withdrawn or fails`;
  return { code: 'ACTS_WHILE_PREPARED', collection, ...(field !== null && { field }), message };
}

function sentenceOf({ table, what }: PreparedStep): string {
  const from = 'from the start of the preparation, not only after the change';
  switch (what.kind) {
    case 'not null':
      return `PostgreSQL rejects rows of ${table} without a value for ${what.column} ${from}`;
    case 'key':
      return `PostgreSQL rejects rows of ${table} with a duplicate key of ${what.name} as soon as its index is being built`;
    case 'index':
      return what.unique
        ? `PostgreSQL rejects rows of ${table} with a duplicate value of ${what.name} as soon as it is being built`
        : `every write to ${table} also updates the index ${what.name} as soon as it is being built`;
    case 'copy':
      return `every statement that writes to ${table} records the keys of its rows ${from.split(',')[0]}, so that the service can keep the values of ${what.column.name}`;
    case 'fill':
      return `the service fills rows of ${table} in which ${what.column} is null ${from}`;
    default:
      return what.references === null
        ? `PostgreSQL rejects rows of ${table} that violate ${what.name} ${from}`
        : `PostgreSQL rejects rows of ${table} without a referenced row in ${what.references}, and executes the ON DELETE and ON UPDATE actions of the foreign key, ${from}`;
  }
}

interface PlanOptions {
  /** Maximum size in bytes of a table that is read quickly. Nothing is prepared on such a table. */
  smallTable: number;
}

/** @see PreparationEngine.planPreparation */
export async function planPreparation(
  client: Queryable,
  change: DecidedChange,
  { smallTable }: PlanOptions,
): Promise<Preparation> {
  const lengthy = change.statements.filter(isSizeDependent);
  const before = namesBefore(change);
  const tableBefore = (statement: Statement): string => before.get(tableOfRows(statement)) ?? tableOfRows(statement);
  const facts = await readTableFacts(client, {
    schema: change.schema,
    tables: [...new Map(lengthy.map((each) => [tableBefore(each), namedTable(each, tableBefore(each))])).values()],
    exact: true,
  });
  const large = lengthy.flatMap((statement) => {
    const of = facts.get(tableBefore(statement));
    return of !== undefined && (of.bytes ?? 0) > smallTable
      ? [{ statement, facts: of, prepared: preparedOf(statement) }]
      : [];
  });
  if (large.length === 0) return { kind: 'nothing' };
  const version = await readServerVersion(client);
  const problems = large.flatMap((each) => findObstacle({ ...each, change, version }) ?? []);
  if (problems.length > 0) return { kind: 'not possible', problems };
  const notNullBy = version >= 180_000 ? 'constraint' : 'check';
  const steps = large.flatMap(({ statement, prepared, facts: size }) => {
    if (prepared === undefined) return [];
    return stepsOf({ prepared, statement, size, notNullBy, offending: offendingOf(change, statement, prepared) });
  });
  const all = large.flatMap(({ prepared }) => prepared ?? []);
  return {
    kind: 'steps',
    steps,
    collections: [...new Set(all.flatMap(tablesOf))].sort(),
    warnings: large.flatMap(({ statement, prepared }) =>
      prepared === undefined ? [] : [warningOf(statement, prepared)],
    ),
  };
}

/** Returns the table of a statement by its name before the change. */
const namedTable = (statement: Statement, table: string): NamedTable => {
  const { at } = statement.locks.find((each) => each.table === tableOfRows(statement)) ?? statement;
  return { table, ...(at !== undefined && { at }) };
};

/** Maps the name that the change gives a table to its name in the catalog. */
function namesBefore({ events }: DecidedChange): Map<string, string> {
  const names = new Map<string, string>();
  for (const event of events) {
    if (event.type === 'collection.renamed') names.set(event.data.to, names.get(event.collection) ?? event.collection);
  }
  return names;
}

const tablesOf = ({ table, what }: PreparedStep): string[] =>
  what.kind === 'constraint' && what.references !== null ? [table, what.references] : [table];

async function readServerVersion(client: Queryable): Promise<number> {
  const { rows } = await client.query<{ version: number }>(
    `SELECT pg_catalog.current_setting('server_version_num')::int AS version`,
  );
  return rows[0]?.version ?? 0;
}
