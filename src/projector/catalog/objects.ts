import type pg from 'pg';
import type { Collation } from '../../schema/model/extras.js';
import { type ManagedTables, type TableLabels, eachSchema, labelsOf } from './managed.js';
import { type Reading, readTogether, TABLES } from './queries.js';
import { locationKey } from '../../schema/model/state.js';
import { collationDocument } from '../ddl/needs.js';
import { type Sql, sql } from '../ddl/sql.js';

/*
 * Catalog queries for the objects that tables use: types, sequences, functions. $1 is the schema, $2 a list of tables
 * or null.
 */

/** SQL condition on an OID: the object is not built into PostgreSQL. */
const OURS = sql`>= 16384::oid`;

/**
 * Looks up the dependencies of each object one by one. PostgreSQL expects that hardly any dependency has an OID as
 * large as these, and would otherwise search all of them for each table.
 */
const USES = sql`, uses AS (
  SELECT w.relname AS "table", o.kind, o.name, d.refclassid, d.refobjid
  FROM requested w
  CROSS JOIN LATERAL (
    SELECT 'index' AS kind, c.relname AS name, 'pg_catalog.pg_class'::regclass::oid AS classid, c.oid AS objid, 0 AS column
    FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid WHERE i.indrelid = w.oid
    UNION ALL
    SELECT 'constraint', c.conname, 'pg_catalog.pg_constraint'::regclass::oid, c.oid, 0
    FROM pg_catalog.pg_constraint c WHERE c.conrelid = w.oid AND c.contype IN ('c', 'x')
    UNION ALL
    SELECT CASE WHEN a.attgenerated = '' THEN 'default' ELSE 'generated' END, a.attname, 'pg_catalog.pg_attrdef'::regclass::oid, f.oid, 0
    FROM pg_catalog.pg_attrdef f JOIN pg_catalog.pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum
    WHERE f.adrelid = w.oid
    UNION ALL
    -- Before PostgreSQL 15 a generated column depends itself on what its expression names.
    SELECT 'generated', a.attname, 'pg_catalog.pg_class'::regclass::oid, w.oid, a.attnum
    FROM pg_catalog.pg_attribute a WHERE a.attrelid = w.oid AND a.attgenerated <> '' AND NOT a.attisdropped
    OFFSET 0) o
  CROSS JOIN LATERAL (
    SELECT l.refclassid, l.refobjid FROM pg_catalog.pg_depend l
    WHERE l.classid = o.classid AND l.objid = o.objid AND l.objsubid = o.column AND (o.column = 0 OR l.deptype = 'a')
      AND l.refobjid ${OURS} AND NOT (l.refclassid = 'pg_catalog.pg_class'::regclass::oid AND l.refobjid = w.oid)
    OFFSET 0) d
)`;

/**
 * Selects collations of columns and partition keys, which have no dependency entry of their own. OIDs are compared as
 * numbers for the reason given in TYPES_QUERY.
 */
const COLLATED = sql`, collated AS (
  SELECT w.relname AS "table", 'column' AS kind, a.attname AS name, a.attcollation AS used
  FROM requested w JOIN pg_catalog.pg_attribute a ON a.attrelid = w.oid AND a.attnum > 0 AND NOT a.attisdropped
  WHERE a.attcollation::bigint >= 16384::bigint
  UNION ALL
  SELECT w.relname, 'partition key', w.relname, k.used
  FROM requested w JOIN pg_catalog.pg_partitioned_table p ON p.partrelid = w.oid, pg_catalog.unnest(p.partcollation) AS k (used)
  WHERE k.used::bigint >= 16384::bigint
)`;

/** Selects functions, operators, operator classes, sequences and collations, with the object that uses them. */
const USES_QUERY: Sql = sql`${TABLES}${USES}${COLLATED}, every AS (
  SELECT * FROM uses
  UNION ALL
  SELECT l."table", l.kind, l.name, 'pg_catalog.pg_collation'::regclass::oid, l.used FROM collated l
)
SELECT DISTINCT u."table"::text, u.kind, u.name::text,
  CASE WHEN s.oid IS NOT NULL THEN 'sequence' WHEN c.oid IS NOT NULL THEN 'collation' ELSE 'function' END,
  x.extname::text, n.nspname::text,
  coalesce(s.relname::text, c.collname::text, pg_catalog.pg_describe_object(u.refclassid, u.refobjid, 0))
FROM every u
-- Looked up one by one, because PostgreSQL expects a single sequence.
LEFT JOIN LATERAL (SELECT q.oid, q.relname, q.relnamespace FROM pg_catalog.pg_class q WHERE q.oid = u.refobjid AND q.relkind = 'S' OFFSET 0) s
  ON u.refclassid = 'pg_catalog.pg_class'::regclass::oid
LEFT JOIN pg_catalog.pg_collation c ON u.refclassid = 'pg_catalog.pg_collation'::regclass::oid AND c.oid = u.refobjid
LEFT JOIN pg_catalog.pg_namespace n ON n.oid = coalesce(s.relnamespace, c.collnamespace)
LEFT JOIN pg_catalog.pg_depend e ON e.classid = u.refclassid AND e.objid = u.refobjid AND e.deptype = 'e'
LEFT JOIN pg_catalog.pg_extension x ON x.oid = e.refobjid
WHERE s.oid IS NOT NULL OR u.refclassid IN ('pg_catalog.pg_proc'::regclass::oid, 'pg_catalog.pg_operator'::regclass::oid,
  'pg_catalog.pg_opclass'::regclass::oid, 'pg_catalog.pg_collation'::regclass::oid, 'pg_catalog.pg_ts_config'::regclass::oid)
ORDER BY 1, 2, 3, 4, 7`;

/**
 * Selects types of columns, their component types, and types that expressions name. An array counts as its element
 * type.
 */
const TYPES_QUERY: Sql = sql`${TABLES}${USES}, used AS (
  SELECT w.relname AS "table", a.atttypid AS type, 0 AS depth
  FROM requested w JOIN pg_catalog.pg_attribute a ON a.attrelid = w.oid AND a.attnum > 0 AND NOT a.attisdropped
  -- As a number: of an oid as large as these PostgreSQL expects one column, and goes through all tables for each.
  WHERE a.atttypid::bigint >= 16384::bigint
  UNION
  SELECT u."table", u.refobjid, 0 FROM uses u WHERE u.refclassid = 'pg_catalog.pg_type'::regclass::oid
  UNION
  SELECT u."table", CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.typelem END, u.depth + 1
  FROM used u JOIN pg_catalog.pg_type t ON t.oid = u.type WHERE t.typtype = 'd' OR t.typcategory = 'A'
)
SELECT u."table"::text, pg_catalog.max(u.depth), t.typname::text, n.nspname::text, t.typtype::text, x.extname::text,
  CASE WHEN t.typtype = 'd' THEN pg_catalog.format_type(t.typbasetype, t.typtypmod) END, t.typnotnull,
  pg_catalog.pg_get_expr(t.typdefaultbin, 0),
  CASE WHEN t.typcollation <> b.typcollation THEN t.typcollation::regcollation::text END,
  (SELECT pg_catalog.json_agg(l.enumlabel ORDER BY l.enumsortorder) FROM pg_catalog.pg_enum l WHERE l.enumtypid = t.oid),
  (SELECT pg_catalog.json_agg(pg_catalog.json_build_object('name', c.conname, 'definition', pg_catalog.pg_get_constraintdef(c.oid))
     ORDER BY c.conname) FROM pg_catalog.pg_constraint c WHERE c.contypid = t.oid AND c.contype = 'c'),
  -- Its own, and those that its default and its checks name.
  CASE WHEN t.typtype = 'd' THEN (
    SELECT pg_catalog.json_agg(pg_catalog.json_build_object('schema', cn.nspname, 'name', c.collname) ORDER BY c.collname)
    FROM pg_catalog.pg_collation c JOIN pg_catalog.pg_namespace cn ON cn.oid = c.collnamespace
    WHERE c.oid ${OURS} AND (c.oid = t.typcollation OR EXISTS (SELECT FROM pg_catalog.pg_depend d
      WHERE d.refclassid = 'pg_catalog.pg_collation'::regclass::oid AND d.refobjid = c.oid
        AND (d.classid = 'pg_catalog.pg_type'::regclass::oid AND d.objid = t.oid
          OR d.classid = 'pg_catalog.pg_constraint'::regclass::oid
            AND d.objid IN (SELECT k.oid FROM pg_catalog.pg_constraint k WHERE k.contypid = t.oid))))) END
FROM used u
JOIN pg_catalog.pg_type t ON t.oid = u.type AND t.oid ${OURS} AND (t.typtype = 'd' OR t.typcategory <> 'A')
JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
LEFT JOIN pg_catalog.pg_type b ON b.oid = t.typbasetype
LEFT JOIN pg_catalog.pg_depend e ON e.classid = 'pg_catalog.pg_type'::regclass::oid AND e.objid = t.oid AND e.deptype = 'e'
LEFT JOIN pg_catalog.pg_extension x ON x.oid = e.refobjid
GROUP BY 1, t.oid, t.typname, n.nspname, t.typtype, x.extname, t.typbasetype, t.typtypmod, t.typnotnull,
  t.typdefaultbin, t.typcollation, b.typcollation
ORDER BY 1, 3`;

/** Selects all sequences of the schema, whether tables use them or not. */
const SEQUENCES_QUERY: Sql = sql`
SELECT s.relname::text, pg_catalog.format_type(q.seqtypid, NULL), q.seqstart::text, q.seqincrement::text, q.seqmin::text,
  q.seqmax::text, q.seqcache::text, q.seqcycle, t.relname::text, a.attname::text, d.deptype = 'i'
FROM pg_catalog.pg_sequence q
JOIN pg_catalog.pg_class s ON s.oid = q.seqrelid
JOIN pg_catalog.pg_namespace n ON n.oid = s.relnamespace AND n.nspname = $1
LEFT JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_class'::regclass::oid AND d.objid = s.oid
  AND d.refclassid = 'pg_catalog.pg_class'::regclass::oid AND d.refobjsubid > 0 AND d.deptype IN ('a', 'i')
LEFT JOIN pg_catalog.pg_class t ON t.oid = d.refobjid
LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
ORDER BY 1`;

/** Selects all collations of the schema, whether tables use them or not. */
const COLLATIONS_QUERY: Sql = sql`
SELECT c.collname::text, ${collationDocument}
FROM pg_catalog.pg_collation c
JOIN pg_catalog.pg_namespace n ON n.oid = c.collnamespace AND n.nspname = $1 ORDER BY 1`;

/** Selects all enums and domains of the schema, whether tables use them or not. */
const TYPE_NAMES_QUERY: Sql = sql`
SELECT t.typname::text FROM pg_catalog.pg_type t
JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace AND n.nspname = $1 WHERE t.typtype IN ('d', 'e')`;

const EXTENSIONS_QUERY: Sql = sql`SELECT extname::text FROM pg_catalog.pg_extension`;

/** A dependency of a table: the dependent object and the object it uses. */
export interface Use {
  kind: 'index' | 'constraint' | 'default' | 'generated' | 'column' | 'partition key';
  name: string;
  uses: 'sequence' | 'collation' | 'function';
  extension: string | null;
  schema: string | null;
  /** The name of a sequence or a collation; otherwise a description: `function lower(text[])`. */
  what: string;
}

export interface UsedType {
  name: string;
  schema: string;
  kind: 'b' | 'c' | 'd' | 'e' | 'm' | 'p' | 'r';
  extension: string | null;
  /** The nesting depth: the base type of a domain comes before the domain. */
  depth: number;
  base: string | null;
  notNull: boolean;
  default: string | null;
  collation: string | null;
  labels: string[];
  checks: { name: string; definition: string }[];
  /** Excludes the collations that are built into PostgreSQL. */
  collations: { schema: string; name: string }[];
}

export interface CatalogSequence {
  name: string;
  /** Undefined for the default schema. */
  schema: string | undefined;
  type: string;
  start: string;
  increment: string;
  min: string;
  max: string;
  cache: string;
  cycle: boolean;
  owner: { table: string; column: string } | null;
  /** True if it belongs to an identity column. */
  isIdentity: boolean;
}

export interface CatalogObjects {
  uses: ReadonlyMap<string, readonly Use[]>;
  types: ReadonlyMap<string, readonly UsedType[]>;
  /** All sequences of the schemas, by `locationKey`. */
  sequences: ReadonlyMap<string, CatalogSequence>;
  /** Keyed by the owning table, ordered by name. */
  owned: ReadonlyMap<string, readonly CatalogSequence[]>;
  /** All collations of the schemas, by `locationKey`. */
  collations: ReadonlyMap<string, Collation>;
  /** The `locationKey` of each enum and domain of the schemas. */
  typeNames: ReadonlySet<string>;
  extensions: ReadonlySet<string>;
  /** Undefined for the default schema. */
  schemaOf(schema: string): string | undefined;
  isManaged(schema: string | null): boolean;
}

type UseRow = [string, Use['kind'], string, Use['uses'], string | null, string | null, string];
type TypeRow = [
  table: string,
  depth: number,
  name: string,
  schema: string,
  kind: UsedType['kind'],
  extension: string | null,
  base: string | null,
  notNull: boolean,
  value: string | null,
  collation: string | null,
  labels: string[] | null,
  checks: UsedType['checks'] | null,
  collations: UsedType['collations'] | null,
];
type SequenceRow = [
  string,
  string,
  string,
  string,
  string,
  string,
  string,
  boolean,
  string | null,
  string | null,
  boolean | null,
];

/**
 * Sends six queries per schema in one round trip for any number of tables.
 * @param tables limits the result; all tables if absent
 */
export function readObjects(
  client: pg.ClientBase,
  managed: ManagedTables,
  tables?: readonly string[],
): Promise<CatalogObjects> {
  const reading = eachSchema(
    managed,
    (schema, namesIn) => partObjects(schema, namesIn(tables)),
    (parts) => mergeObjects(parts, labelsOf(managed)),
  );
  return readTogether(client, reading)[0];
}

/** Returns the reading for one schema. Its result contains the names of PostgreSQL. */
export function partObjects(schema: string, tables?: readonly string[]): Reading<CatalogObjects> {
  const values = [schema, tables ?? null];
  return {
    queries: [
      { text: USES_QUERY, values },
      { text: TYPES_QUERY, values },
      { text: SEQUENCES_QUERY, values: [schema] },
      { text: COLLATIONS_QUERY, values: [schema] },
      { text: TYPE_NAMES_QUERY, values: [schema] },
      { text: EXTENSIONS_QUERY },
    ],
    async make(rows) {
      const uses = groupRows(await rows<UseRow>(), toUse);
      const types = groupRows(await rows<TypeRow>(), toType);
      const sequences = (await rows<SequenceRow>()).map(toSequence);
      const collations = new Map(await rows<[string, Collation]>());
      const typeNames = new Set((await rows<[string]>()).map(([name]) => name));
      const extensions = new Set((await rows<[string]>()).map(([name]) => name));
      const byName = new Map(sequences.map((each) => [each.name, each]));
      const objects = { uses, types, sequences: byName, owned: byOwner(sequences), collations, typeNames, extensions };
      return { ...objects, schemaOf: () => undefined, isManaged: (name) => name === schema };
    },
  };
}

/** Merges the objects of several schemas. The result names tables by collection, and objects by `locationKey`. */
export function mergeObjects(
  parts: readonly (readonly [schema: string, objects: CatalogObjects])[],
  { schemaOf, isManaged, label }: TableLabels,
): CatalogObjects {
  const [first] = parts;
  if (parts.length === 1 && first !== undefined) return first[1];
  const all = <K, V>(entries: (schema: string, objects: CatalogObjects) => Iterable<readonly [K, V]>): Map<K, V> =>
    new Map(parts.flatMap(([schema, objects]) => [...entries(schema, objects)]));
  const byTable = <V>(schema: string, map: ReadonlyMap<string, V>) =>
    [...map].map(([table, value]) => [label(schema, table), value] as const);
  const byKey = <V>(schema: string, map: ReadonlyMap<string, V>) =>
    [...map].map(([name, value]) => [locationKey(schemaOf(schema), name), value] as const);
  const sequences = all((schema, objects) =>
    byKey(schema, objects.sequences).map(([key, { owner, ...each }]): [string, CatalogSequence] => [
      key,
      { ...each, schema: schemaOf(schema), owner: owner && { ...owner, table: label(schema, owner.table) } },
    ]),
  );
  return {
    uses: all((schema, objects) => byTable(schema, objects.uses)),
    types: all((schema, objects) => byTable(schema, objects.types)),
    sequences,
    owned: byOwner([...sequences.values()]),
    collations: all((schema, objects) => byKey(schema, objects.collations)),
    typeNames: new Set(
      parts.flatMap(([schema, { typeNames }]) => [...typeNames].map((name) => locationKey(schemaOf(schema), name))),
    ),
    extensions: new Set(parts.flatMap(([, { extensions }]) => [...extensions])),
    schemaOf,
    isManaged,
  };
}

function byOwner(sequences: readonly CatalogSequence[]) {
  const owned = new Map<string, CatalogSequence[]>();
  for (const sequence of sequences) {
    if (sequence.owner === null) continue;
    const { table } = sequence.owner;
    owned.set(table, [...(owned.get(table) ?? []), sequence]);
  }
  return owned;
}

function groupRows<Row extends [string, ...unknown[]], T>(rows: readonly Row[], toValue: (row: Row) => T) {
  const groups = new Map<string, T[]>();
  for (const row of rows) {
    const group = groups.get(row[0]);
    if (group === undefined) groups.set(row[0], [toValue(row)]);
    else group.push(toValue(row));
  }
  return groups;
}

function toUse([, kind, name, uses, extension, schema, what]: UseRow): Use {
  return { kind, name, uses, extension, schema, what };
}

function toType(row: TypeRow): UsedType {
  const [, depth, name, schema, kind, extension, base, notNull, value, collation, labels, checks, used] = row;
  const parts = { labels: labels ?? [], checks: checks ?? [], collations: used ?? [] };
  return { name, schema, kind, extension, depth, base, notNull, default: value, collation, ...parts };
}

function toSequence([
  name,
  type,
  start,
  increment,
  min,
  max,
  cache,
  cycle,
  table,
  column,
  isIdentity,
]: SequenceRow): CatalogSequence {
  const owner = table === null || column === null ? null : { table, column };
  return {
    name,
    schema: undefined,
    type,
    start,
    increment,
    min,
    max,
    cache,
    cycle,
    owner,
    isIdentity: isIdentity === true,
  };
}
