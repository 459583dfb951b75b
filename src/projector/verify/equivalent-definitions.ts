/*
 * Finds out how PostgreSQL spells a stored definition today. It rewrites constraints and indexes when their column
 * changes type (`(v)::text <> 'x'` → `v <> 'x'`), but the fold keeps the original text. PostgreSQL spells that text
 * in a copy of the table that is rolled back.
 */
import type pg from 'pg';
import { isLocked } from '../../postgres/errors.js';
import { createTimeSlice } from '../../kernel/event-loop.js';
import { isObject, jsonEqual, type Json } from '../../kernel/json.js';
import type { Need } from '../../schema/model/extras.js';
import { schemaOfNeed } from '../../schema/model/order.js';
import { parseConstraint } from '../../schema/sql-text/definitions.js';
import { describeType, createDomain, createCollation, describeCollation } from '../ddl/needs.js';
import {
  type Sql,
  constraintDefinition,
  ident,
  indexDefinition,
  join,
  literal,
  partitionBound,
  partitionKey,
  qualified,
  scratch,
  sql,
  tableIn,
  expression,
} from '../ddl/sql.js';
import type { Difference } from './difference.js';
import {
  type ColumnField,
  type State,
  type TableLocation,
  locateTable,
  memberKey,
  tableName,
} from '../../schema/model/state.js';
import { columnTypeSql, defaultExpression } from '../ddl/column.js';

/*
 * Finds out how PostgreSQL spells a column definition. It rewrites expressions (`a+1` → `(a + 1)`, added casts,
 * `pg_catalog."C"` → `"C"`), so the stored text cannot be compared with the catalog. PostgreSQL spells the stored
 * text in a copy of the table that is rolled back.
 */

export interface SpelledColumn {
  type: string;
  collation: string | null;
  default: string | null;
  generated: string | null;
}

/** The state that locates the tables of collections. */
interface LocatedTables {
  state: State;
  /** The default schema. */
  schema: string;
}

/** Number of columns whose copies exist at the same time. Each copy takes a few locks until it is rolled back. */
const COPIES_AT_ONCE = 100;

/**
 * Returns the spellings, keyed by memberKey. A column that PostgreSQL rejects is missing. Call it inside a transaction,
 * which it leaves unchanged.
 * @param fields of existing columns
 */
export async function readColumnSpellings(
  client: pg.ClientBase,
  tables: LocatedTables,
  fields: readonly ColumnField[],
): Promise<ReadonlyMap<string, SpelledColumn>> {
  const columns = new Map<string, SpelledColumn>();
  for (let start = 0; start < fields.length; start += COPIES_AT_ONCE) {
    await readSpellings(client, tables, fields.slice(start, start + COPIES_AT_ONCE), columns);
  }
  return columns;
}

async function readSpellings(
  client: pg.ClientBase,
  tables: LocatedTables,
  fields: readonly ColumnField[],
  columns: Map<string, SpelledColumn>,
): Promise<void> {
  await client.query('SAVEPOINT dps_column');
  try {
    await client.query(
      join(
        fields.map((field, index) => copyOf(field, index, tables)),
        sql`;`,
      ),
    );
    const { rows } = await client.query<SpelledColumn & { name: string }>(SPELLINGS);
    for (const { name, ...spelled } of rows) {
      const field = fields[Number(name.slice(PREFIX.length))];
      if (field !== undefined) columns.set(memberKey(field.collection, field.field), spelled);
    }
    await client.query('ROLLBACK TO SAVEPOINT dps_column; RELEASE SAVEPOINT dps_column');
  } catch (error) {
    // A lock conflict gives no information about the spelling.
    if (isLocked(error)) throw error;
    await client.query('ROLLBACK TO SAVEPOINT dps_column; RELEASE SAVEPOINT dps_column');
    if (fields.length === 1) return;
    // One failing column hides the others, so each half is tried separately.
    const middle = Math.ceil(fields.length / 2);
    await readSpellings(client, tables, fields.slice(0, middle), columns);
    await readSpellings(client, tables, fields.slice(middle), columns);
  }
}

const PREFIX = 'column_';

/**
 * Returns SQL that copies the columns without their generation and adds one with a unique name. Its default is set
 * afterwards, because ADD COLUMN would evaluate it.
 */
function copyOf(field: ColumnField, index: number, { state, schema }: LocatedTables): Sql {
  const name = `${PREFIX}${index}`;
  const copy = scratch(name);
  const probe = ident(field.field);
  const { generation_expression: text } = field.schema;
  const value = defaultExpression(field, field.schema);
  return sql`CREATE TABLE ${copy} (LIKE ${tableIn(state, field.collection, schema)});
    ALTER TABLE ${copy} DROP COLUMN ${probe};
    ${text === null ? addColumn(copy, field) : addGenerated(name, { field, table: tableName(state, field.collection) }, expression(text))}${
      value === null ? sql`` : sql`; ALTER TABLE ${copy} ALTER COLUMN ${probe} SET DEFAULT ${value}`
    }`;
}

const addColumn = (table: Sql, field: ColumnField): Sql =>
  sql`ALTER TABLE ${table} ADD COLUMN ${ident(field.field)} ${columnTypeSql(field)}`;

/**
 * Returns SQL that adds a generated column to the copy. The copy temporarily has the table's name, because an
 * expression may contain it (`articles.title`).
 */
function addGenerated(name: string, { field, table }: { field: ColumnField; table: string }, generation: Sql): Sql {
  const added = sql`${addColumn(scratch(table), field)} GENERATED ALWAYS AS ${generation} STORED`;
  if (table === name) return added;
  return sql`ALTER TABLE ${scratch(name)} RENAME TO ${ident(table)}; ${added};
    ALTER TABLE ${scratch(table)} RENAME TO ${ident(name)}`;
}

const SPELLINGS = sql`
SELECT c.relname::text AS name, pg_catalog.format_type(a.atttypid, a.atttypmod) AS type,
  CASE WHEN a.attcollation <> t.typcollation THEN a.attcollation::regcollation::text END AS collation,
  CASE WHEN a.attgenerated = '' THEN x.text END AS "default", CASE WHEN a.attgenerated <> '' THEN x.text END AS generated
FROM pg_catalog.pg_class c
JOIN LATERAL (SELECT * FROM pg_catalog.pg_attribute l WHERE l.attrelid = c.oid ORDER BY l.attnum DESC LIMIT 1) a ON true
JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
LEFT JOIN LATERAL (SELECT pg_catalog.pg_get_expr(d.adbin, d.adrelid) AS text FROM pg_catalog.pg_attrdef d
  WHERE d.adrelid = c.oid AND d.adnum = a.attnum) x ON true
WHERE c.relnamespace = pg_catalog.pg_my_temp_schema() AND pg_catalog.starts_with(c.relname, 'column_')`;

/**
 * Removes differences that are only differences in spelling. Call it inside a transaction, which it leaves unchanged.
 */
export async function removeEquivalent(
  client: pg.ClientBase,
  tables: LocatedTables,
  differences: readonly Difference[],
): Promise<Difference[]> {
  const real: Difference[] = [];
  const slice = createTimeSlice();
  for (const difference of differences) {
    if (slice.isOver()) await slice.yield();
    const pair = readPair(difference);
    const need = readNeed(difference);
    const isSame = pair !== null && (await readSpelling(client, tables, pair)) === pair.found;
    if (await isPartitionSpelled(client, tables, difference)) continue;
    if (!isSame && !(need !== null && (await isSpelled(client, tables.schema, need)))) real.push(difference);
  }
  return real;
}

interface Pair {
  kind: 'constraint' | 'index';
  collection: string;
  expected: string;
  found: string;
}

function readPair({ collection, member, expected, found }: Difference): Pair | null {
  const kind = member.startsWith('constraint ') ? 'constraint' : member.startsWith('index ') ? 'index' : null;
  const [ours, theirs] = [definitionOf(expected), definitionOf(found)];
  if (kind === null || ours === null || theirs === null || !jsonEqual(ours.rest, theirs.rest)) return null;
  return { kind, collection, expected: ours.definition, found: theirs.definition };
}

function definitionOf(side: Json | undefined): { definition: string; rest: object } | null {
  if (!isObject(side)) return null;
  const { definition, ...rest } = side;
  return typeof definition === 'string' ? { definition, rest } : null;
}

type SpelledNeed = Extract<Need, { kind: 'domain' | 'collation' }>;

/** Returns the need of a difference that concerns an existing object. Null for other differences. */
function readNeed({ member, expected, found }: Difference): SpelledNeed | null {
  return /^(domain|collation) /.test(member) && isObject(expected) && isObject(found)
    ? (expected as unknown as SpelledNeed)
    : null;
}

const COPY = scratch('spelling_of');
const PARENT = scratch('spelling_parent');

async function readSpelling(client: pg.ClientBase, tables: LocatedTables, pair: Pair): Promise<string | undefined> {
  return tryStatements<string>(client, () => withAddition(tables, pair), SPELLING[pair.kind]);
}

/** True if a difference in partitioning or partition bounds is only one of spelling. */
async function isPartitionSpelled(
  client: pg.ClientBase,
  { state, schema }: LocatedTables,
  difference: Difference,
): Promise<boolean> {
  const { collection, member, expected, found } = difference;
  if (member === 'partition_by' && typeof expected === 'string' && typeof found === 'string') {
    const divided = () =>
      sql`CREATE TABLE ${COPY} (LIKE ${tableIn(state, collection, schema)}) PARTITION BY ${partitionKey(expected)}`;
    return (await tryStatements<string>(client, divided, PARTITION_KEY)) === found;
  }
  if (member !== 'partition_of' || !isObject(expected) || !isObject(found)) return false;
  const { table: parent, bound } = expected;
  if (parent !== found['table'] || typeof parent !== 'string' || typeof bound !== 'string') return false;
  return (
    (await tryStatements<string>(client, () => partition(tableIn(state, parent, schema), bound), BOUND)) ===
    found['bound']
  );
}

/** Returns SQL that creates a table partitioned like the parent, and a partition of it. */
function partition(parent: Sql, bound: string): Sql {
  const like = literal(sql`CREATE TABLE ${PARENT} (LIKE ${parent}) PARTITION BY %s`);
  const body = sql`BEGIN EXECUTE pg_catalog.format(${like}, pg_catalog.pg_get_partkeydef(pg_catalog.to_regclass(${literal(parent)}))); END`;
  return sql`DO ${literal(body)}; CREATE TABLE ${COPY} PARTITION OF ${PARENT} ${partitionBound(bound)}`;
}

const OF_COPY = sql`FROM pg_catalog.pg_class c WHERE c.oid = pg_catalog.to_regclass(${literal(COPY)})::oid`;
const PARTITION_KEY = sql`SELECT pg_catalog.pg_get_partkeydef(c.oid) AS answer ${OF_COPY}`;
const BOUND = sql`SELECT pg_catalog.pg_get_expr(c.relpartbound, c.oid) AS answer ${OF_COPY}`;

/** True if the existing domain or collation equals the stored definition. */
async function isSpelled(client: pg.ClientBase, schema: string, need: SpelledNeed): Promise<boolean> {
  const described = need.kind === 'domain' ? describeType : describeCollation;
  const [there, ours] = [described(qualified(schemaOfNeed(need) ?? schema, need.name)), described(COPY)];
  const create = () => (need.kind === 'domain' ? createDomain(COPY, need) : createCollation(COPY, need));
  return (await tryStatements<boolean>(client, create, sql`SELECT ${there} = ${ours} AS answer`)) === true;
}

/** Runs the query after the statements and rolls them back. Returns undefined if the statements fail. */
async function tryStatements<T>(client: pg.ClientBase, statements: () => Sql, question: Sql): Promise<T | undefined> {
  await client.query('SAVEPOINT dps_spelling');
  try {
    await client.query(statements());
    const { rows } = await client.query<{ answer: T }>(question);
    return rows[0]?.answer;
  } catch (error) {
    // A lock conflict gives no information about the spelling.
    if (isLocked(error)) throw error;
    return undefined;
  } finally {
    await client.query('ROLLBACK TO SAVEPOINT dps_spelling; RELEASE SAVEPOINT dps_spelling');
  }
}

const NAMES = ['dps_spelling', 'dps_spelling_of'] as const;

/** Returns a temporary name for an index. An index cannot have the name of its table. */
const nameBeside = (collection: string): Sql => ident(collection === NAMES[0] ? NAMES[1] : NAMES[0]);

function withAddition({ state, schema }: LocatedTables, { kind, collection, expected }: Pair): Sql {
  const target = kind === 'constraint' ? targetOf(expected) : undefined;
  if (target !== undefined)
    return withReference(schema, { table: locateTable(state, collection, schema), expected, target });
  // Uses the table's own name, which a definition may contain (`articles.title`).
  const table = tableName(state, collection);
  const [copy, name] = [scratch(table), nameBeside(table)];
  const added =
    kind === 'constraint'
      ? sql`ALTER TABLE ${copy} ADD CONSTRAINT ${name} ${constraintDefinition(expected)}`
      : sql`CREATE INDEX ${name} ON ${copy} ${indexDefinition(expected)}`;
  return sql`CREATE TABLE ${copy} (LIKE ${tableIn(state, collection, schema)}); ${added}`;
}

/** Returns the table that a foreign key references. */
function targetOf(definition: string): string | undefined {
  const parsed = parseConstraint(definition);
  return typeof parsed === 'string' ? undefined : parsed.references?.table;
}

interface Reference {
  table: TableLocation;
  expected: string;
  target: string;
}

/**
 * Returns SQL for a copy of both tables of a foreign key. A temporary table can only reference temporary tables. The
 * copies have the tables' own names, which take precedence.
 */
function withReference(schema: string, { table, expected, target }: Reference): Sql {
  const others = target === table.name ? [] : [{ schema, name: target }];
  const copies = [table, ...others].map(
    (each) => sql`CREATE TABLE ${scratch(each.name)} (LIKE ${qualified(each.schema, each.name)} INCLUDING INDEXES)`,
  );
  const added = sql`ALTER TABLE ${scratch(table.name)} ADD CONSTRAINT ${nameBeside(table.name)} ${constraintDefinition(expected)}`;
  return sql`${join(copies, sql`; `)}; SET LOCAL search_path = pg_temp; ${added}`;
}

const NAMES_SQL = join(NAMES.map(literal), sql`, `);

const SPELLING: Record<Pair['kind'], Sql> = {
  constraint: sql`
SELECT pg_catalog.pg_get_constraintdef(c.oid) AS answer FROM pg_catalog.pg_constraint c
 WHERE c.conname IN (${NAMES_SQL}) AND c.connamespace = pg_catalog.pg_my_temp_schema()`,
  index: sql`
SELECT substring(d.text FROM position(' USING ' IN d.text) + 1) AS answer
  FROM pg_catalog.pg_class c, pg_catalog.pg_get_indexdef(c.oid) AS d (text)
 WHERE c.relname IN (${NAMES_SQL}) AND c.relkind = 'i' AND c.relnamespace = pg_catalog.pg_my_temp_schema()`,
};
