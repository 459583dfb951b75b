import type pg from 'pg';
import type { Queryable } from '../../postgres/pool.js';
import type { TableLocation } from '../../schema/model/state.js';
import { PREPARED_NAME } from '../online/copy.js';
import { KINDS, type ObjectName, isRoutine } from '../../schema/model/objects.js';
import { objectNameParts, toLocalObject } from '../../schema/model/object-ids.js';
import { type CatalogRows, OBJECT_CATALOGS, type ObjectCatalog } from '../ddl/object-catalogs.js';
import { IS_RULE } from '../ddl/object-sql.js';
import type { Statement } from '../ddl/step.js';
import { listLosingTables, partsOf, selectFilledTables } from '../ddl/table-locks.js';
import { type Sql, ident, integer, join, literal, ownSchemaOid, qualified, sql } from '../ddl/sql.js';
import type { Warning } from '../../kernel/problem.js';

/* Runs optional queries with a short time limit. An answer without counts or sizes is better than a late one. */

/** Milliseconds for all queries of one kind together. */
export const TIME_TO_COUNT = 1_500;

/**
 * @param limit in milliseconds
 * @returns the first row, or null if the query timed out or was cancelled
 */
export async function queryWithin<Row extends pg.QueryResultRow>(
  db: Queryable,
  question: Sql,
  limit: number,
): Promise<Row | null> {
  if (limit < 1) return null;
  const time = literal(String(Math.ceil(limit)));
  // Both statements are in one message: the limits end with its implicit transaction and need no reset after a
  // failure.
  const script = sql`SELECT pg_catalog.set_config('statement_timeout', ${time}, true), pg_catalog.set_config('lock_timeout', ${time}, true);
    ${question}`;
  try {
    const results = (await db.query(script)) as unknown as pg.QueryResult<Row>[];
    return results.at(-1)?.rows[0] ?? null;
  } catch {
    return null;
  }
}

/**
 * Returns the tables from which the statements delete rows or values, but which have no rows. If another session holds
 * ACCESS EXCLUSIVE on one of them, their sizes cannot be read, and none counts as empty.
 */
export async function findEmptyTables(
  db: Queryable,
  schema: string,
  statements: readonly Statement[],
): Promise<ReadonlySet<string>> {
  const losing = listLosingTables(statements);
  if (losing.length === 0) return new Set();
  const question = selectFilledTables(schema, losing);
  const found = await queryWithin<{ filled: string[] }>(db, question, TIME_TO_COUNT);
  const filled = new Set(found === null ? losing.map(({ table }) => table) : found.filled);
  return new Set(losing.flatMap(({ table }) => (filled.has(table) ? [] : [table])));
}

/*
 * Finds functions whose body mentions a name. PostgreSQL stores such bodies as text and resolves names only at run
 * time.
 */

export interface MentioningFunction {
  /** The name with its schema: `public.on_article`. */
  name: string;
  mentions: string;
}

/**
 * A BEGIN ATOMIC body follows renames and has no text. The match ignores case, because unquoted names are folded.
 * Searching the whole text first is faster than one regular expression per pair.
 */
const QUERY = sql`
SELECT pg_catalog.format('%I.%I', n.nspname, p.proname) AS name, w.name AS mentions
  FROM pg_catalog.pg_proc p
  JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
  JOIN pg_catalog.pg_language l ON l.oid = p.prolang AND l.lanname NOT IN ('c', 'internal')
  JOIN pg_catalog.unnest($1::text[]) AS w (name)
    ON pg_catalog.strpos(pg_catalog.lower(p.prosrc), pg_catalog.lower(w.name)) > 0
   AND p.prosrc ~* ('(^|[^[:alnum:]_$])' || pg_catalog.regexp_replace(w.name, '([^[:alnum:]_])', '\\\\\\1', 'g') || '($|[^[:alnum:]_$])')
 WHERE n.nspname !~ '^(pg_|information_schema$)'::text AND n.oid IS DISTINCT FROM ${ownSchemaOid}
   AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.objid = p.oid
                    AND d.classid = 'pg_catalog.pg_proc'::regclass::oid AND d.deptype = 'e')
 ORDER BY 1, 2 LIMIT 50`;

/** Returns at most 50 functions. Functions of extensions and of the service itself are excluded. */
export async function findMentioningFunctions(db: Queryable, names: readonly string[]): Promise<MentioningFunction[]> {
  if (names.length === 0) return [];
  const { rows } = await db.query<MentioningFunction>(QUERY, [names]);
  return rows;
}

/** Warnings for a caller who renames an object. */
export const functionWarnings = (functions: readonly MentioningFunction[]): Warning[] =>
  functions.map(({ name, mentions }) => ({
    code: 'NAME_STILL_USED',
    message: `the body of the function ${name} contains ${JSON.stringify(mentions)}. If it means the renamed object, change it`,
  }));

interface DatabaseTable {
  /** Estimated by PostgreSQL, summed over partitions; null without statistics. */
  rows: number | null;
  /**
   * Sizes on disk. `total` includes TOAST. If another session holds ACCESS EXCLUSIVE, they come from statistics; null
   * without statistics.
   */
  bytes: { table: number | null; indexes: number | null; total: number | null };
  /** ISO 8601; null if it was never analyzed since the statistics were reset. */
  analyzed_at: string | null;
  indexes: TableIndex[];
  constraints: TableConstraint[];
  /** Unmanaged objects that depend on the table. */
  dependents: Dependent[];
}

interface TableIndex {
  name: string;
  /** From pg_get_indexdef; null if another session holds ACCESS EXCLUSIVE. */
  definition: string | null;
  /** Null for an index of a partitioned table: its partitions hold the data. */
  bytes: number | null;
  /** Number of scans since the statistics were reset. */
  scans: number | null;
  primary: boolean;
  unique: boolean;
  /** True if the index is complete and in use. */
  valid: boolean;
}

interface TableConstraint {
  name: string;
  kind: 'primary key' | 'unique' | 'foreign key' | 'check' | 'exclusion' | 'not null' | 'trigger';
  /** From pg_get_constraintdef; null if another session holds ACCESS EXCLUSIVE. */
  definition: string | null;
  /** False if existing rows were not checked. */
  valid: boolean;
}

interface Dependent {
  /** `view`, `function`, `foreign key`, `partition` and so on. */
  kind: string;
  name: string;
  /** `text`: a function body mentions the name, perhaps by coincidence. PostgreSQL records no dependency. */
  by: 'catalog' | 'text';
}

const CONSTRAINT_KIND = sql`CASE k.contype WHEN 'p' THEN 'primary key' WHEN 'u' THEN 'unique' WHEN 'f' THEN 'foreign key' WHEN 'c' THEN 'check'
  WHEN 'x' THEN 'exclusion' WHEN 'n' THEN 'not null' ELSE 'trigger' END`;

/**
 * SQL expressions, in one variant that measures and one that estimates. `bytes` refers to `parts`. The others refer to
 * an index `c` or a constraint `k`.
 */
interface FactQueries {
  bytes: Sql;
  indexBytes: Sql;
  indexDefinition: Sql;
  constraintDefinition: Sql;
}

/** Measures sizes exactly. This locks the table, so it waits for sessions that hold ACCESS EXCLUSIVE. */
const MEASURED: FactQueries = {
  bytes: sql`SELECT pg_catalog.json_build_object('table', coalesce(pg_catalog.sum(pg_catalog.pg_relation_size(oid)), 0), 'indexes', coalesce(pg_catalog.sum(pg_catalog.pg_indexes_size(oid)), 0),
    'total', coalesce(pg_catalog.sum(pg_catalog.pg_total_relation_size(oid)), 0)) FROM parts`,
  indexBytes: sql`pg_catalog.pg_relation_size(c.oid)`,
  indexDefinition: sql`pg_catalog.pg_get_indexdef(c.oid)`,
  constraintDefinition: sql`pg_catalog.pg_get_constraintdef(k.oid)`,
};

const BLOCK = sql`pg_catalog.current_setting('block_size')::bigint`;

/** Estimates sizes from the catalog only: page counts as of the last VACUUM or ANALYZE, unknown before the first. */
const ESTIMATED: FactQueries = {
  bytes: sql`SELECT pg_catalog.json_build_object('table', pg_catalog.sum(r.relpages)::bigint * ${BLOCK}, 'indexes', pg_catalog.sum(x.pages)::bigint * ${BLOCK},
      'total', pg_catalog.sum((r.relpages + coalesce(t.relpages, 0))::bigint + x.pages)::bigint * ${BLOCK})
    FROM parts JOIN pg_catalog.pg_class r ON r.oid = parts.oid AND r.reltuples >= 0::real LEFT JOIN pg_catalog.pg_class t ON t.oid = r.reltoastrelid
    CROSS JOIN LATERAL (SELECT coalesce(pg_catalog.sum(c.relpages), 0)::bigint AS pages FROM pg_catalog.pg_index i
      JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid WHERE i.indrelid = r.oid) x`,
  indexBytes: sql`c.relpages * ${BLOCK}`,
  indexDefinition: sql`null`,
  constraintDefinition: sql`null`,
};

const factsOf = (
  { schema, name }: TableLocation,
  { bytes, indexBytes, indexDefinition, constraintDefinition }: FactQueries,
): Sql => sql`
WITH the AS (SELECT c.oid, c.relkind FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
              WHERE n.nspname = ${literal(schema)} AND c.relname = ${literal(name)} AND c.relkind IN ('r', 'p')),
parts AS (SELECT c.oid, CASE WHEN c.reltuples < 0::real THEN nullif(pg_catalog.pg_stat_get_live_tuples(c.oid), 0::bigint) ELSE c.reltuples END AS rows,
                 greatest(pg_catalog.pg_stat_get_last_analyze_time(c.oid), pg_catalog.pg_stat_get_last_autoanalyze_time(c.oid)) AS analyzed
            FROM the CROSS JOIN LATERAL (${partsOf(sql`the`)}) p
            JOIN pg_catalog.pg_class c ON c.oid = p.oid AND c.relkind = 'r')
SELECT (SELECT pg_catalog.sum(rows)::float8 FROM parts) AS rows,
  (${bytes}) AS bytes,
  (SELECT pg_catalog.to_char(pg_catalog.max(analyzed) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') FROM parts) AS analyzed_at,
  (SELECT coalesce(pg_catalog.json_agg(pg_catalog.json_build_object('name', c.relname, 'definition', ${indexDefinition},
            'bytes', CASE c.relkind WHEN 'i' THEN ${indexBytes} END,
            'scans', CASE c.relkind WHEN 'i' THEN pg_catalog.pg_stat_get_numscans(c.oid) END,
            'primary', i.indisprimary, 'unique', i.indisunique, 'valid', i.indisvalid) ORDER BY i.indisprimary DESC, c.relname), '[]')
     FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid WHERE i.indrelid = the.oid) AS indexes,
  (SELECT coalesce(pg_catalog.json_agg(pg_catalog.json_build_object('name', k.conname, 'kind', ${CONSTRAINT_KIND}, 'definition', ${constraintDefinition},
            'valid', k.convalidated) ORDER BY k.contype = 'n', k.conname), '[]')
     FROM pg_catalog.pg_constraint k WHERE k.conrelid = the.oid) AS constraints
FROM the`;

/**
 * Selects objects that depend on a table. Foreign keys of managed tables are excluded: they are relations in the
 * schema. $3 and $4 are the schemas and names of these tables, because a query of service_collections would scan it.
 */
const DEPENDENTS = `
WITH the AS (SELECT c.oid, c.reltype FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
              WHERE n.nspname = $1 AND c.relname = $2 AND c.relkind IN ('r', 'p')),
found AS (
SELECT CASE v.relkind WHEN 'm' THEN 'materialized view' ELSE 'view' END AS kind, pg_catalog.format('%I.%I', n.nspname, v.relname) AS name
  FROM the JOIN pg_catalog.pg_depend d ON d.refclassid = 'pg_catalog.pg_class'::regclass::oid AND d.refobjid = the.oid
  JOIN pg_catalog.pg_rewrite r ON r.oid = d.objid AND d.classid = 'pg_catalog.pg_rewrite'::regclass::oid AND NOT ${IS_RULE}
  JOIN pg_catalog.pg_class v ON v.oid = r.ev_class AND v.relkind IN ('v', 'm') JOIN pg_catalog.pg_namespace n ON n.oid = v.relnamespace
UNION SELECT 'function', pg_catalog.format('%I.%I', n.nspname, p.proname)
  FROM the JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_proc'::regclass::oid
    AND (d.refclassid = 'pg_catalog.pg_class'::regclass::oid AND d.refobjid = the.oid
      OR d.refclassid = 'pg_catalog.pg_type'::regclass::oid AND d.refobjid = the.reltype)
  JOIN pg_catalog.pg_proc p ON p.oid = d.objid JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
UNION SELECT 'trigger', t.tgname::text FROM the JOIN pg_catalog.pg_trigger t
    ON t.tgrelid = the.oid AND NOT t.tgisinternal AND t.tgname !~ '${PREPARED_NAME}'::text
UNION SELECT 'policy', p.polname::text FROM the JOIN pg_catalog.pg_policy p ON p.polrelid = the.oid
UNION SELECT 'rule', CASE WHEN c.oid = the.oid THEN r.rulename::text ELSE pg_catalog.format('%I on %I.%I', r.rulename, n.nspname, c.relname) END
  FROM the JOIN pg_catalog.pg_depend d ON d.refclassid = 'pg_catalog.pg_class'::regclass::oid AND d.refobjid = the.oid
  JOIN pg_catalog.pg_rewrite r ON r.oid = d.objid AND d.classid = 'pg_catalog.pg_rewrite'::regclass::oid AND ${IS_RULE}
  JOIN pg_catalog.pg_class c ON c.oid = r.ev_class JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
UNION SELECT 'foreign key', pg_catalog.format('%I.%I, %I', n.nspname, c.relname, k.conname)
  FROM the JOIN pg_catalog.pg_constraint k ON k.confrelid = the.oid AND k.contype = 'f' AND k.conparentid = 0::oid
  JOIN pg_catalog.pg_class c ON c.oid = k.conrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE (n.nspname::text, c.relname::text) NOT IN
       (SELECT * FROM ROWS FROM (pg_catalog.unnest($3::text[]), pg_catalog.unnest($4::text[])) managed)
UNION SELECT CASE WHEN c.relispartition THEN 'partition' ELSE 'child' END, pg_catalog.format('%I.%I', n.nspname, c.relname)
  FROM the JOIN pg_catalog.pg_inherits i ON i.inhparent = the.oid
  JOIN pg_catalog.pg_class c ON c.oid = i.inhrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
UNION SELECT 'publication', p.pubname::text FROM the JOIN pg_catalog.pg_publication_rel r ON r.prrelid = the.oid
  JOIN pg_catalog.pg_publication p ON p.oid = r.prpubid)
SELECT kind, name, 'catalog' AS by FROM found ORDER BY kind, name LIMIT 200`;

/** Number of rows that `readSample` reads. */
export const SAMPLE_ROWS = 20;
/** Characters that are shown of a value. */
const SAMPLE_LENGTH = 500;
/** Bytes on disk above which a value is not read. */
const SAMPLE_BYTES = 65_536;
/** Milliseconds for a sample, which waits for locks and may have to skip many dead rows. */
const TIME_TO_SAMPLE = 2_000;

/**
 * Reads the rows that PostgreSQL returns first. Values are text in PostgreSQL's output format: `format` calls no cast
 * that a user created, and without row security no policy runs. Longer values end with `…`.
 * @returns one object per row, null if the rows cannot be read: the table is locked or missing, or the role may not
 * read all rows
 */
export async function readSample(
  db: Queryable,
  { schema, name }: TableLocation,
  columns: readonly string[],
): Promise<Record<string, string | null>[] | null> {
  const values = columns.map((column): Sql => {
    const value = sql`s.${ident(column)}`;
    const shown = sql`pg_catalog.left(pg_catalog.format('%s', ${value}), ${integer(String(SAMPLE_LENGTH + 1))})`;
    return sql`CASE WHEN ${value} IS NULL THEN NULL WHEN pg_catalog.pg_column_size(${value}) > ${integer(String(SAMPLE_BYTES))} THEN '…' ELSE ${shown} END`;
  });
  const question = sql`SELECT pg_catalog.set_config('row_security', 'off', true);
    SELECT coalesce(pg_catalog.json_agg(r.row), '[]') AS rows FROM (
      SELECT ARRAY[${join(values, sql`, `)}]::text[] AS row FROM ${qualified(schema, name)} s LIMIT ${integer(String(SAMPLE_ROWS))}) r`;
  const read = await queryWithin<{ rows: (string | null)[][] }>(db, question, TIME_TO_SAMPLE);
  if (read === null) return null;
  return read.rows.map((row) => Object.fromEntries(columns.map((column, index) => [column, cut(row[index] ?? null)])));
}

const cut = (value: string | null): string | null =>
  value !== null && value.length > SAMPLE_LENGTH ? `${value.slice(0, SAMPLE_LENGTH)}…` : value;

/** Milliseconds to wait for a session that holds ACCESS EXCLUSIVE (LOCK TABLE, VACUUM FULL). */
const TIME_TO_MEASURE = 1_000;

/**
 * Lists at most 200 dependents, and 50 functions found by text.
 * @param managed tables whose foreign keys are not listed
 * @returns undefined if the table does not exist
 */
export async function readDatabaseTable(
  db: Queryable,
  location: TableLocation,
  managed: readonly TableLocation[],
): Promise<DatabaseTable | undefined> {
  const facts = await readFacts(db, location);
  if (facts === undefined) return undefined;
  const { schema, name: table } = location;
  const dependents = await db.query<Dependent>(DEPENDENTS, [
    schema,
    table,
    managed.map((each) => each.schema),
    managed.map((each) => each.name),
  ]);
  return { ...facts, dependents: [...dependents.rows, ...(await mentioningFunctions(db, table, dependents.rows))] };
}

/**
 * Returns the functions that contain the name and are not among the known dependents.
 * @param others names of functions to leave out
 */
async function mentioningFunctions(
  db: Queryable,
  name: string,
  known: readonly Dependent[],
  others: readonly string[] = [],
): Promise<Dependent[]> {
  const isKnown = new Set([...others, ...known.map((each) => each.name.replace(/\(.*/s, ''))]);
  const functions = await findMentioningFunctions(db, [name]);
  return functions
    .filter((each) => !isKnown.has(each.name))
    .map((each): Dependent => ({ kind: 'function', name: each.name, by: 'text' }));
}

/** SQL for the class and the oid in pg_depend of an object. Nothing can depend on objects of the other catalogs. */
const ADDRESSES: Partial<Record<ObjectCatalog, Sql>> = {
  pg_class: sql`('pg_catalog.pg_class'::regclass::oid, c.oid), ('pg_catalog.pg_type'::regclass::oid, c.reltype)`,
  pg_proc: sql`('pg_catalog.pg_proc'::regclass::oid, p.oid)`,
  pg_sequence: sql`('pg_catalog.pg_class'::regclass::oid, c.oid)`,
  pg_type: sql`('pg_catalog.pg_type'::regclass::oid, t.oid), ('pg_catalog.pg_type'::regclass::oid, t.typarray)`,
};

/** A view is what depends on an object, not its rule that contains the query. */
const dependentsOfObject = ({ from, where, id }: CatalogRows, addresses: Sql): Sql => sql`
WITH the AS (SELECT address.class, address.oid FROM ${from} CROSS JOIN LATERAL (VALUES ${addresses}) AS address (class, oid)
              WHERE ${where} AND n.nspname = $1 AND ${id} = $2),
found AS (SELECT DISTINCT CASE WHEN r.oid IS NULL THEN d.classid ELSE 'pg_catalog.pg_class'::regclass::oid END AS class,
                 coalesce(r.ev_class, d.objid) AS oid, CASE WHEN r.oid IS NULL THEN d.objsubid ELSE 0 END AS part
            FROM the JOIN pg_catalog.pg_depend d ON d.refclassid = the.class AND d.refobjid = the.oid AND d.deptype IN ('n', 'a')
            LEFT JOIN pg_catalog.pg_rewrite r ON d.classid = 'pg_catalog.pg_rewrite'::regclass::oid AND r.oid = d.objid AND NOT ${IS_RULE})
SELECT o.type AS kind, o.identity AS name, 'catalog' AS by
  FROM found CROSS JOIN LATERAL pg_catalog.pg_identify_object(found.class, found.oid, found.part) o
 WHERE (found.class, found.oid) NOT IN (SELECT the.class, the.oid FROM the) ORDER BY 1, 2 LIMIT 200`;

/** Lists at most 200 dependents of an object, managed or not, and 50 functions found by text. */
export async function readObjectDependents(
  db: Queryable,
  object: ObjectName,
  /** The default schema. */
  usual: string,
): Promise<Dependent[]> {
  const { catalog } = KINDS[object.kind];
  const addresses = ADDRESSES[catalog];
  if (addresses === undefined) return [];
  const { name, schema = usual } = objectNameParts(object);
  const query = dependentsOfObject(OBJECT_CATALOGS[catalog], addresses);
  const { rows } = await db.query<Dependent>(query, [schema, toLocalObject(object).id]);
  const own = isRoutine(object) ? [`${schema}.${name}`] : [];
  return [...rows, ...(await mentioningFunctions(db, name, rows, own))];
}

type Facts = Omit<DatabaseTable, 'dependents'>;

async function readFacts(db: Queryable, location: TableLocation): Promise<Facts | undefined> {
  const measured = await queryWithin<Facts>(db, factsOf(location, MEASURED), TIME_TO_MEASURE);
  return measured ?? (await db.query<Facts>(factsOf(location, ESTIMATED))).rows[0];
}
