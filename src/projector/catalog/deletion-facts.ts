/* Facts about tables that are about to be deleted. None of them is part of the schema. */
import type pg from 'pg';
import { type Parameterised, sendBatch } from '../../postgres/exchange.js';
import type { Queryable } from '../../postgres/pool.js';
import { type Sql, block, ident, integer, join, literal, sql, trashSchemaName } from '../ddl/sql.js';
import { MOST_SHARED } from '../../schema/model/events.js';
import { type State, type TableLocation, collectionAt, locateTable, tablesBySchema } from '../../schema/model/state.js';
import { own, trashSchemaNameSql } from '../../postgres/own-tables.js';

export interface TrashFacts {
  /** The time of the database's clock. */
  now: Date;
  /** False if the role may not create schemas. Nothing can then be kept. */
  mayCreateSchemas: boolean;
  /** The existing tables, by name. */
  tables: ReadonlyMap<string, TrashTable>;
}

export interface TrashTable {
  /** The number of a shared trash schema in which its names are free. Null if there is none. */
  keptIn: number | null;
  /** True if the account owns the table, directly or through a role that it belongs to. */
  owned: boolean;
  /** Publications that list the table. */
  publications: { name: string; owned: boolean }[];
  /** Foreign keys to other tables. `definition`: from pg_get_constraintdef. */
  foreignKeys: { name: string; definition: string }[];
  /** A parent table through inheritance, excluding partitioning. */
  inherits: string | null;
}

/** SQL condition: the role may create schemas. If no shared schema fits, the deletion gets its own schema. */
export const MAY_CREATE_SCHEMAS = "pg_catalog.has_database_privilege(current_database(), 'CREATE')";

/**
 * SQL condition on an event `e`: it kept something that was neither restored nor purged. An index covers the first
 * part.
 */
export const IS_KEPT = `e.type IN ('collection.deleted', 'field.deleted') AND e.data ? 'kept_until'::text
  AND NOT EXISTS (SELECT FROM ${own.events} r
  WHERE r.subject ->> 'kind'::text = 'trash' AND r.subject ->> 'id'::text = e.position::text AND r.position > e.position)`;

/** The number of the shared schema that contains the table of the event `e`. Null if it has its own. */
export const KEPT_IN = `(e.data ->> 'kept_in'::text)::int`;

/*
 * Every new PostgreSQL schema invalidates all cached plans of all sessions. Therefore deleted tables share schemas. A
 * table goes to one in which its names and those of its indexes, sequences and types are free. Another schema takes a
 * table that is deleted, created again and deleted again. A change never moves tables of different schemas to the same one.
 */

/** Number of shared schemas that are created at once. A dry run creates one for each schema of the tables. */
const SHARED_AT_ONCE = 8;

/** SQL for an array with the names of the table `c`, its indexes and its sequences. */
const namesOf = (label: string) => `(ARRAY(
       SELECT c.relname ${label} UNION ALL
       SELECT o.relname FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class o ON o.oid = i.indexrelid WHERE i.indrelid = c.oid UNION ALL
       SELECT o.relname FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_class o ON o.oid = d.objid AND o.relkind = 'S'
        WHERE d.refclassid = 'pg_catalog.pg_class'::regclass::oid AND d.refobjid = c.oid AND d.classid = 'pg_catalog.pg_class'::regclass::oid))`;

/**
 * SQL that selects a shared schema `s` in which the names of the table are free and which no other role may use. An
 * open deletion whose table was dropped by hand still reserves its name, so that its entry never leads to another
 * table.
 */
const sharedFor = (label: string, names = namesOf(label)): string => `
SELECT s.number FROM (SELECT number, ${trashSchemaNameSql(`'s'`)} || number::text AS name FROM pg_catalog.generate_series(1, ${MOST_SHARED}) number) s
  JOIN pg_catalog.pg_namespace n ON n.nspname = s.name
 WHERE ${label && 's.number <> ALL ($4::int[]) AND '}n.nspowner = (SELECT r.oid FROM pg_catalog.pg_roles r WHERE r.rolname = current_user)
   AND NOT EXISTS (SELECT FROM pg_catalog.aclexplode(n.nspacl) a WHERE a.grantee <> n.nspowner)
   AND pg_catalog.has_schema_privilege(n.oid, 'USAGE') AND pg_catalog.has_schema_privilege(n.oid, 'CREATE')
   AND NOT EXISTS (
     SELECT FROM pg_catalog.pg_class x WHERE x.relnamespace = n.oid AND x.relname = ANY (${names}))
   AND NOT EXISTS (
     SELECT FROM pg_catalog.pg_type x WHERE x.typnamespace = n.oid AND x.typname = ANY (ARRAY(
       SELECT t.typname FROM pg_catalog.pg_type t WHERE t.oid = c.reltype UNION ALL
       SELECT a.typname FROM pg_catalog.pg_type t JOIN pg_catalog.pg_type a ON a.oid = t.typarray WHERE t.oid = c.reltype ${label})))
   AND NOT EXISTS (SELECT FROM ${own.events} e
     WHERE ${IS_KEPT} AND e.type = 'collection.deleted' AND e.collection = ANY (${names}::text[]) AND ${KEPT_IN} = s.number)
 LIMIT 1`;

/**
 * SQL condition on `n` of pg_namespace: this role created the schema. A schema of that name that another program
 * created is not shared.
 */
export const IS_SHARED = sql`n.nspowner = (SELECT r.oid FROM pg_catalog.pg_roles r WHERE r.rolname = current_user) AND n.nspname::text IN (
  SELECT ${trashSchemaName(sql`'s'`)} || number::text FROM pg_catalog.generate_series(1, ${integer(String(MOST_SHARED))}) number)`;

/**
 * Creates further shared schemas. Only their owner may use them, whatever the default privileges are. If PostgreSQL
 * rejects one, the plan creates a schema for the deletion, and the change is rejected with the reason.
 */
const createSharedSchemas = (most: number): Sql =>
  sql`DO ${block(sql`DECLARE prefix text := ${trashSchemaName(sql`'s'`)}; name text; g text; created int := 0; BEGIN
    FOR number IN 1..${integer(String(MOST_SHARED))} LOOP
      name := prefix || number::text;
      CONTINUE WHEN EXISTS (SELECT FROM pg_catalog.pg_namespace n WHERE n.nspname = name);
      BEGIN EXECUTE pg_catalog.format('CREATE SCHEMA %I', name);
      EXCEPTION WHEN duplicate_schema OR unique_violation THEN CONTINUE; WHEN OTHERS THEN EXIT; END;
      FOR g IN SELECT DISTINCT CASE WHEN a.grantee = 0::oid THEN 'PUBLIC' ELSE a.grantee::regrole::text END
          FROM pg_catalog.pg_namespace n, pg_catalog.aclexplode(n.nspacl) a WHERE n.nspname = name AND a.grantee <> n.nspowner
      LOOP EXECUTE pg_catalog.format('REVOKE ALL ON SCHEMA %I FROM %s', name, g); END LOOP;
      created := created + 1;
      EXIT WHEN created = ${integer(String(most))};
    END LOOP; END`)}`;

/**
 * SQL of the first query about deleted tables. It only checks whether a table has properties that `DETAILS` reads. Most
 * tables have none, and checking takes a third of the time.
 */
const glanceSql = (label: string): string => `
SELECT clock_timestamp() AS now, ${MAY_CREATE_SCHEMAS} AS creates, c.relname AS name, pg_catalog.pg_has_role(c.relowner, 'USAGE') AS owned,
       EXISTS (SELECT FROM pg_catalog.pg_publication_rel r WHERE r.prrelid = c.oid)
         OR EXISTS (SELECT FROM pg_catalog.pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'f')
         OR EXISTS (SELECT FROM pg_catalog.pg_inherits i WHERE i.inhrelid = c.oid) AS "hasMore",
       CASE WHEN c.oid IS NOT NULL THEN (${sharedFor(label)}) END AS "keptIn"
  FROM (SELECT) one LEFT JOIN pg_catalog.pg_class c
    ON c.relnamespace = (SELECT n.oid FROM pg_catalog.pg_namespace n WHERE n.nspname = $1)
   AND c.relname = ANY ($2) AND c.relkind IN ('r', 'p')`;

const GLANCE = glanceSql('');

/**
 * The first query for tables outside the default schema. $3 has their collections, whose names the tables get in the
 * trash, and $4 the shared schemas that tables of other schemas go to.
 */
const GLANCE_ELSEWHERE = glanceSql(
  'UNION ALL SELECT (($3::text[])[pg_catalog.array_position($2::text[], c.relname::text)])::name',
);

const DETAILS = `
SELECT c.relname AS name,
       (SELECT coalesce(pg_catalog.json_agg(pg_catalog.json_build_object('name', p.pubname, 'owned', pg_catalog.pg_has_role(p.pubowner, 'USAGE')) ORDER BY p.pubname), '[]')
          FROM pg_catalog.pg_publication_rel r JOIN pg_catalog.pg_publication p ON p.oid = r.prpubid WHERE r.prrelid = c.oid) AS publications,
       (SELECT coalesce(pg_catalog.json_agg(pg_catalog.json_build_object('name', k.conname, 'definition', pg_catalog.pg_get_constraintdef(k.oid)) ORDER BY k.conname), '[]')
          FROM pg_catalog.pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'f' AND k.confrelid <> k.conrelid AND k.conparentid = 0::oid) AS "foreignKeys",
       (SELECT pg_catalog.min(i.inhparent::regclass::text) FROM pg_catalog.pg_inherits i WHERE i.inhrelid = c.oid AND NOT c.relispartition) AS inherits
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = $1 AND c.relname = ANY ($2) AND c.relkind IN ('r', 'p')`;

/** A row of the first query. If no table exists, the query returns one row without a table. */
interface Row {
  now: Date;
  creates: boolean;
  name: string | null;
  owned: boolean | null;
  hasMore: boolean;
  keptIn: number | null;
}

type TrashTableFacts = Omit<TrashTable, 'owned' | 'keptIn'>;

interface Details extends TrashTableFacts {
  name: string;
}

const NOTHING_MORE: TrashTableFacts = { publications: [], foreignKeys: [], inherits: null };

/** The result of the first query about deleted tables. */
export interface TrashFactsQuery {
  tables: readonly string[];
  /** The rows of `trashFactsQuery`. */
  rows: readonly unknown[];
}

/** Returns the first query. It stays prepared as part of a batch, because planning it takes longer than running it. */
export const trashFactsQuery = (schema: string, tables: readonly string[]): Parameterised => ({
  text: GLANCE,
  values: [schema, tables],
});

interface TrashQuery {
  /** The default schema. */
  schema: string;
  /** The state that locates the tables. */
  state: State;
  /** Names of the collections whose tables are about to be deleted. */
  tables: readonly string[];
  /** The result of `trashFactsQuery`. The query is not repeated if it covered all tables. */
  glance: TrashFactsQuery;
  /** True to create only one shared schema if none fits. The transaction is rolled back, so this changes nothing. */
  isDryRun: boolean;
}

/**
 * Returns the facts about the existing tables, and the time of the database's clock at the first query. If no shared
 * schema fits a table, it creates some in the transaction of the client.
 */
export async function readTrashFacts(client: pg.ClientBase, query: TrashQuery): Promise<TrashFacts> {
  const facts = await readTrashFactsOfRows(client, query, await readGlanceRows(client, query));
  if (!facts.mayCreateSchemas || [...facts.tables.values()].every(({ keptIn }) => keptIn !== null)) return facts;
  const { size } = tablesBySchema(query.state, query.tables, query.schema);
  await client.query(createSharedSchemas(query.isDryRun ? size : Math.max(size, SHARED_AT_ONCE)));
  return queueTrashFacts(client, query);
}

/** Returns the same facts as `readTrashFacts`, for a plan that runs nothing. */
export async function queueTrashFacts(
  db: Queryable,
  query: Pick<TrashQuery, 'schema' | 'state' | 'tables'>,
): Promise<TrashFacts> {
  return readTrashFactsOfRows(db, query, await readGlances(db, query));
}

/** Returns the rows of the first query with collection names instead of table names. There is at least one row. */
async function readGlances(db: Queryable, { schema, state, tables }: Pick<TrashQuery, 'schema' | 'state' | 'tables'>) {
  const all = [...tablesBySchema(state, tables, schema)].sort(
    ([a], [b]) => Number(b === schema) - Number(a === schema),
  );
  const allRows: Row[] = [];
  for (const [place, names] of all.length === 0 ? [[schema, new Map<string, string>()] as const] : all) {
    const values = [place, [...names.keys()]];
    const taken = allRows.flatMap(({ keptIn }) => keptIn ?? []);
    const { rows } =
      place === schema
        ? await db.query<Row>(GLANCE, values)
        : await db.query<Row>(GLANCE_ELSEWHERE, [...values, [...names.values()], taken]);
    for (const row of rows) allRows.push({ ...row, name: row.name && (names.get(row.name) ?? row.name) });
  }
  return allRows as [Row, ...Row[]];
}

async function readTrashFactsOfRows(
  db: Queryable,
  { schema, state }: Pick<TrashQuery, 'schema' | 'state'>,
  rows: [Row, ...Row[]],
): Promise<TrashFacts> {
  const details = await readDetails(
    db,
    { schema, state },
    rows.flatMap(({ name, hasMore }) => (hasMore && name !== null ? [name] : [])),
  );
  const [{ now, creates }] = rows;
  const entries = rows.flatMap(({ name, owned, keptIn }): [string, TrashTable][] =>
    name === null ? [] : [[name, { ...NOTHING_MORE, ...details.get(name), owned: owned === true, keptIn }]],
  );
  return { now, mayCreateSchemas: creates, tables: new Map(entries) };
}

async function readGlanceRows(client: pg.ClientBase, query: TrashQuery): Promise<[Row, ...Row[]]> {
  const { schema, state, tables, glance } = query;
  const isDefault = tables.every((name) => state.collections.get(name)?.collection.schema?.schema === undefined);
  if (!isDefault) return readGlances(client, query);
  if (tables.length > 0 && tables.every((name) => glance.tables.includes(name))) return glance.rows as [Row, ...Row[]];
  const [row] = await sendBatch(client, [trashFactsQuery(schema, tables)]);
  return (row?.rows ?? []) as unknown[] as [Row, ...Row[]];
}

async function readDetails(
  client: Queryable,
  { schema, state }: Pick<TrashQuery, 'schema' | 'state'>,
  tables: readonly string[],
): Promise<ReadonlyMap<string, TrashTableFacts>> {
  const detailsByName = new Map<string, TrashTableFacts>();
  for (const [place, names] of tablesBySchema(state, tables, schema)) {
    const { rows } = await client.query<Details>(DETAILS, [place, [...names.keys()]]);
    for (const { name, ...details } of rows) detailsByName.set(names.get(name) ?? name, details);
  }
  return detailsByName;
}

/* Facts about a table before its values are copied, read while no other session can change it. */

export interface ValuesFacts {
  /** True if the account may read the table. */
  readable: boolean;
  partitioned: boolean;
  /** Tables that inherit from it, at any depth. Their rows also belong to this table but not to its primary key. */
  descendants: string[];
  columns: string[];
  /** The columns of each unique index on columns that are NOT NULL. */
  unique_keys: string[][];
  /**
   * Number of rows. Counting stops at one more than the limit. Null if the rows were not counted. An estimate if policies
   * hide rows from the service.
   */
  rows: number | null;
}

/** The location of a table before the batch: a managed schema, or the trash if the batch restores it. */
export interface TrashLocation {
  name: string;
  /** Its schema, unless it is the default schema. */
  schema?: Sql | undefined;
}

export interface ValuesFactsRequest {
  schema: string;
  places: readonly TrashLocation[];
  /** The counting limit. Null skips counting. */
  most: number | null;
}

type ValuesRow = Omit<ValuesFacts, 'rows'> & {
  place: number;
  /** The number of rows by statistics, if policies hide rows from the service. Otherwise null. */
  estimate: number | null;
};

const tablesAt = (places: Sql): Sql => sql`
SELECT w.place, pg_catalog.has_table_privilege(c.oid, 'SELECT') AS readable, c.relkind = 'p' AS partitioned,
  CASE WHEN pg_catalog.row_security_active(c.oid) THEN greatest(c.reltuples, 0::real) END AS estimate,
  ARRAY(WITH RECURSIVE descendants AS (
          SELECT i.inhrelid AS oid FROM pg_catalog.pg_inherits i WHERE i.inhparent = c.oid AND c.relkind = 'r'
          UNION SELECT i.inhrelid FROM pg_catalog.pg_inherits i JOIN descendants d ON i.inhparent = d.oid)
        SELECT d.oid::regclass::text FROM descendants d ORDER BY 1) AS descendants,
  ARRAY(SELECT a.attname::text FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) AS columns,
  (SELECT coalesce(pg_catalog.json_agg(k.columns), '[]')
     FROM pg_catalog.pg_index i CROSS JOIN LATERAL (
          SELECT pg_catalog.array_agg(a.attname::text) AS columns, pg_catalog.bool_and(a.attnotnull) AS required
            FROM pg_catalog.generate_series(0, i.indnkeyatts - 1) AS s
            JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[s]) k
    WHERE i.indrelid = c.oid AND i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL AND k.required
  ) AS unique_keys
  FROM (VALUES ${places}) AS w (place, schema, name)
  JOIN pg_catalog.pg_class c ON c.relnamespace = w.schema AND c.relname = w.name AND c.relkind IN ('r', 'p')`;

/**
 * Returns the facts by the index of the requested table. Tables that someone dropped by hand are missing. Call it with
 * the tables locked.
 */
export async function readValuesFacts(
  client: pg.ClientBase,
  query: ValuesFactsRequest,
): Promise<ReadonlyMap<number, ValuesFacts>> {
  return readFacts(client, query, async (counted) => {
    const { rows } = await client.query<CountedRows>(join(counted, sql` UNION ALL `));
    return rows;
  });
}

/**
 * Returns the same facts as `readValuesFacts` without locking tables. @param ask returns null for a table that cannot
 * be counted in time
 */
export async function readValuesFactsUnlocked(
  db: Queryable,
  query: ValuesFactsRequest,
  ask: (question: Sql) => Promise<CountedRows | null>,
): Promise<ReadonlyMap<number, ValuesFacts>> {
  return readFacts(db, query, async (questions) => {
    const counted: CountedRows[] = [];
    for (const question of questions) {
      const rows = await ask(question);
      if (rows !== null) counted.push(rows);
    }
    return counted;
  });
}

export interface CountedRows {
  place: number;
  rows: number;
}

type Count = (questions: readonly Sql[]) => Promise<CountedRows[]>;

async function readFacts(
  db: Queryable,
  { schema, places, most }: ValuesFactsRequest,
  count: Count,
): Promise<ReadonlyMap<number, ValuesFacts>> {
  if (places.length === 0) return new Map();
  const values = places.map(
    ({ name, schema: place = ident(schema) }, index) =>
      sql`(${integer(String(index))}, pg_catalog.to_regnamespace(${literal(place)})::oid, ${literal(name)})`,
  );
  const { rows: valuesRows } = await db.query<ValuesRow>(tablesAt(join(values, sql`, `)));
  const counted = valuesRows.flatMap(({ place, readable, partitioned, descendants, estimate }) => {
    const at = places[place];
    const isCounted = readable && estimate === null && !partitioned && descendants.length === 0;
    return most !== null && isCounted && at !== undefined ? [countOf(schema, at, { index: place, most })] : [];
  });
  const counts = new Map((counted.length > 0 ? await count(counted) : []).map(({ place, rows }) => [place, rows]));
  return new Map(
    valuesRows.map(({ place, estimate, ...facts }) => [place, { ...facts, rows: counts.get(place) ?? estimate }]),
  );
}

/** Stops reading a table once the limit is exceeded. */
function countOf(
  schema: string,
  { name, schema: place = ident(schema) }: TrashLocation,
  { index, most }: { index: number; most: number },
): Sql {
  const table = sql`${place}.${ident(name)}`;
  const rows = sql`SELECT FROM ${table} LIMIT ${integer(String(most + 1))}`;
  return sql`SELECT ${integer(String(index))} AS place, count(*)::int AS rows FROM (${rows}) AS counted`;
}

/** A column of a table before the batch, or the table itself with an empty name. */
export interface ParentColumn {
  table: string;
  column: string;
  /** True to list partitions too. */
  withPartitions?: boolean;
}

/** A table that inherits, directly or indirectly, from the table of a `ParentColumn`. */
export interface Descendant {
  /** The index of the requested column. */
  place: number;
  oid: number;
  parent: number;
  /** The table of the requested column. */
  root: number;
  /** The collection, or the name of an unmanaged table of the default schema. Null elsewhere. */
  table: string | null;
  /** The name, qualified with the PostgreSQL schema if necessary. */
  name: string;
  /** The number of parents that the table inherits the column from. Null if it does not have the column. */
  parents: number | null;
  /** The names of these parents, if there are several. */
  parentNames: readonly string[] | null;
  /** True if the table also defines the column itself. */
  isLocal: boolean | null;
  /** The named NOT NULL constraint of the column, which only PostgreSQL 18 has. */
  notNull: Inherited;
  /** CHECK constraints of the table by name. Null if a column was requested instead of the table itself. */
  checks: Readonly<Record<string, Inherited>> | null;
  /** True if NOT NULL of a new column also applies to tables that have the column already (PostgreSQL 18). */
  takesNotNull: boolean;
}

/**
 * The number of parents that a column or constraint is inherited from, and whether the table also defines it itself.
 */
interface Inherited {
  parents: number;
  isLocal: boolean;
}

/**
 * Returns a query for those of `tables` that other tables may inherit from. It stays prepared, unlike the query of
 * `readDescendants`.
 */
export const parentsAmong = (schema: string, tables: readonly string[]): Parameterised => ({
  text: `
SELECT c.relname AS name FROM pg_catalog.pg_class c
 WHERE c.relnamespace = (SELECT n.oid FROM pg_catalog.pg_namespace n WHERE n.nspname = $1) AND c.relname = ANY ($2)
   AND c.relkind IN ('r', 'p') AND c.relhassubclass`,
  values: [schema, tables],
});

/**
 * Returns inheriting tables at any depth, parents first. Partitions are only listed for changed constraints, because
 * their columns cannot be changed here.
 */
export async function readDescendants(
  db: Queryable,
  { schema, state }: { schema: string; state: State },
  columns: readonly ParentColumn[],
): Promise<Descendant[]> {
  if (columns.length === 0) return [];
  const values = columns.map(({ table, column, withPartitions = false }, index) => {
    const at = locateTable(state, table, schema);
    return sql`(${integer(String(index))}, ${literal(at.schema)}, ${literal(at.name)}, ${literal(column)}::name, ${withPartitions ? sql`true` : sql`false`})`;
  });
  const { rows } = await db.query<Omit<Descendant, 'table'> & TableLocation & { relation: string }>(sql`
WITH RECURSIVE roots AS (
  SELECT w.place, w.column_name, c.oid FROM (VALUES ${join(values, sql`, `)}) AS w (place, schema_name, table_name, column_name, with_partitions)
    JOIN pg_catalog.pg_namespace n ON n.nspname = w.schema_name
    JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = w.table_name
     AND (c.relkind = 'r' OR w.with_partitions AND c.relkind = 'p')),
descendants AS (
  SELECT r.place, r.column_name, r.oid AS root, i.inhrelid AS oid, i.inhparent AS parent, 1 AS depth
    FROM roots r JOIN pg_catalog.pg_inherits i ON i.inhparent = r.oid
  UNION SELECT d.place, d.column_name, d.root, i.inhrelid, i.inhparent, d.depth + 1
    FROM descendants d JOIN pg_catalog.pg_inherits i ON i.inhparent = d.oid)
SELECT d.place, d.oid::int8::float8 AS oid, d.parent::int8::float8 AS parent, d.root::int8::float8 AS root,
  n.nspname::text AS schema, c.relname::text AS relation, d.oid::regclass::text AS name,
  a.attinhcount::int AS parents, a.attislocal AS "isLocal",
  CASE WHEN a.attinhcount > 1 THEN ARRAY(
    SELECT i.inhparent::regclass::text FROM pg_catalog.pg_inherits i
      JOIN pg_catalog.pg_attribute p ON p.attrelid = i.inhparent AND p.attname = a.attname AND NOT p.attisdropped
     WHERE i.inhrelid = d.oid ORDER BY i.inhseqno) END AS "parentNames",
  pg_catalog.jsonb_build_object('parents', coalesce(o.coninhcount, 0), 'isLocal', coalesce(o.conislocal, false)) AS "notNull",
  CASE WHEN d.column_name = ''::name THEN (
    SELECT coalesce(pg_catalog.jsonb_object_agg(k.conname, pg_catalog.jsonb_build_object('parents', k.coninhcount, 'isLocal', k.conislocal)), '{}')
      FROM pg_catalog.pg_constraint k WHERE k.conrelid = d.oid AND k.contype = 'c') END AS checks,
  pg_catalog.current_setting('server_version_num')::int >= 180000 AS "takesNotNull"
  FROM descendants d JOIN pg_catalog.pg_class c ON c.oid = d.oid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = d.oid AND a.attname = d.column_name AND NOT a.attisdropped
  LEFT JOIN pg_catalog.pg_constraint o ON o.conrelid = d.oid AND o.contype = 'n' AND o.conkey OPERATOR(pg_catalog.=) ARRAY[a.attnum]
 ORDER BY d.depth, d.place, 2, 3`);
  return rows.map(({ schema: place, relation, ...row }) => {
    const own = place === schema ? undefined : place;
    const collection = collectionAt(state, own, relation);
    // An unmanaged table of the default schema is known by its name, unless a collection of another table has it.
    const isFree = own === undefined && !state.collections.has(relation);
    return { ...row, table: collection ?? (isFree ? relation : null) };
  });
}

/** Explains why a column cannot be dropped without a loss in other tables. */
export function explainInherited(tables: readonly string[]): string {
  const [table, inherits] = tables.length === 1 ? ['table', 'inherits'] : ['tables', 'inherit'];
  return `the ${table} ${tables.join(', ')} ${inherits} from it, and PostgreSQL drops inherited columns together with the column of the parent`;
}
