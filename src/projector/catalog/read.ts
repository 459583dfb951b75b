/* Reads the tables of a schema and the objects that they use. */
import type pg from 'pg';
import { createTimeSlice, mapYielding } from '../../kernel/event-loop.js';
import { requestOf } from '../online/copy.js';
import type {
  CatalogPrepared,
  CatalogTable,
  CatalogColumn,
  CatalogConstraint,
  CatalogIndex,
  ForeignKeyAction,
} from './model.js';
import { type Sql, ownSchemaOid, sql } from '../ddl/sql.js';
import { type CatalogObjects, mergeObjects, partObjects } from './objects.js';
import { type ManagedTables, eachSchema, labelsOf } from './managed.js';
import { type Reading, readTogether, TABLES } from './queries.js';

const TABLES_QUERY: Sql = sql`${TABLES}
SELECT w.oid, w.relname::text,
  (SELECT d.description FROM pg_catalog.pg_description d
    WHERE d.objoid = w.oid AND d.classoid = 'pg_catalog.pg_class'::regclass::oid AND d.objsubid = 0),
  CASE WHEN w.relkind = 'p' THEN pg_catalog.pg_get_partkeydef(w.oid) END,
  (SELECT pg_catalog.json_build_object('schema', pn.nspname, 'table', p.relname, 'bound', pg_catalog.pg_get_expr(w.relpartbound, w.oid))
     FROM pg_catalog.pg_inherits i JOIN pg_catalog.pg_class p ON p.oid = i.inhparent
     JOIN pg_catalog.pg_namespace pn ON pn.oid = p.relnamespace WHERE w.relispartition AND i.inhrelid = w.oid),
  (SELECT x.extname::text FROM pg_catalog.pg_depend e JOIN pg_catalog.pg_extension x ON x.oid = e.refobjid
    WHERE e.classid = 'pg_catalog.pg_class'::regclass::oid AND e.objid = w.oid AND e.deptype = 'e')
FROM requested w
ORDER BY w.relname COLLATE "C"`;

const COLUMNS_QUERY: Sql = sql`${TABLES}, owned AS (
  SELECT DISTINCT ON (d.refobjid, d.refobjsubid) d.refobjid, d.refobjsubid, n.nspname::text AS schema, s.relname::text AS name
  FROM pg_catalog.pg_depend d
  JOIN pg_catalog.pg_class s ON s.oid = d.objid AND s.relkind = 'S'
  JOIN pg_catalog.pg_namespace n ON n.oid = s.relnamespace
  WHERE d.classid = 'pg_catalog.pg_class'::regclass::oid AND d.refclassid = 'pg_catalog.pg_class'::regclass::oid
    AND d.deptype IN ('a', 'i') AND d.refobjsubid > 0
  -- That of the identity, if there are more.
  ORDER BY d.refobjid, d.refobjsubid, d.deptype DESC, s.relname
)
SELECT a.attrelid, a.attnum, a.attname::text, pg_catalog.format_type(a.atttypid, a.atttypmod),
  t.typnamespace = 'pg_catalog'::regnamespace::oid, a.attnotnull,
  -- From PostgreSQL 17 on, a partition shows the identity of its partitioned table, and a table with one cannot be attached.
  CASE WHEN w.relispartition AND pg_catalog.current_setting('server_version_num')::int >= 170000 THEN '' ELSE a.attidentity::text END,
  a.attgenerated::text,
  CASE WHEN ad.oid IS NOT NULL THEN pg_catalog.pg_get_expr(ad.adbin, ad.adrelid) END,
  CASE WHEN a.attcollation <> t.typcollation THEN a.attcollation::regcollation::text END,
  -- Not joined: until the catalog is analysed, PostgreSQL would search all comments for each column.
  (SELECT d.description FROM pg_catalog.pg_description d
    WHERE d.objoid = a.attrelid AND d.classoid = 'pg_catalog.pg_class'::regclass::oid AND d.objsubid = a.attnum),
  o.schema, o.name, nn.conname::text,
  CASE WHEN nn.coninhcount > 0 THEN (SELECT p.conname::text FROM pg_catalog.pg_inherits i
    JOIN pg_catalog.pg_constraint p ON p.conrelid = i.inhparent AND p.contype = 'n'
    JOIN pg_catalog.pg_attribute pa ON pa.attrelid = i.inhparent AND pa.attname = a.attname AND p.conkey OPERATOR(pg_catalog.=) ARRAY[pa.attnum]
    WHERE i.inhrelid = a.attrelid ORDER BY p.conname <> nn.conname, i.inhseqno LIMIT 1) END,
  nullif(pg_catalog.concat_ws(' ', CASE WHEN nn.connoinherit THEN 'NO INHERIT' END, CASE WHEN NOT nn.convalidated THEN 'NOT VALID' END), '')
FROM requested w
JOIN pg_catalog.pg_attribute a ON a.attrelid = w.oid AND a.attnum > 0 AND NOT a.attisdropped
JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
LEFT JOIN pg_catalog.pg_attrdef ad ON ad.adrelid = a.attrelid AND ad.adnum = a.attnum AND a.atthasdef
-- From PostgreSQL 18 on, NOT NULL has a name.
LEFT JOIN pg_catalog.pg_constraint nn ON nn.conrelid = a.attrelid AND nn.contype = 'n' AND nn.conkey OPERATOR(pg_catalog.=) ARRAY[a.attnum]
LEFT JOIN owned o ON o.refobjid = a.attrelid AND o.refobjsubid = a.attnum
ORDER BY a.attrelid, a.attnum`;

/**
 * Selects constraints of the types p, u, f, c and x. NOT NULL (n, from PostgreSQL 18) is read with the columns.
 * Constraint triggers (t) are ignored.
 */
const CONSTRAINTS_QUERY: Sql = sql`${TABLES}
SELECT c.conrelid, c.conname::text, c.contype::text, c.conkey, pg_catalog.pg_get_constraintdef(c.oid),
  c.convalidated, c.condeferrable, c.condeferred, c.conindid,
  CASE WHEN r.relnamespace <> coalesce(${ownSchemaOid}, 0) THEN rn.nspname::text END, r.relname::text,
  (SELECT pg_catalog.json_agg(ra.attname ORDER BY k.at)
     FROM pg_catalog.unnest(c.confkey) WITH ORDINALITY AS k(attnum, at)
     JOIN pg_catalog.pg_attribute ra ON ra.attrelid = c.confrelid AND ra.attnum = k.attnum),
  c.confupdtype::text, c.confdeltype::text, c.confmatchtype::text
FROM requested w
JOIN pg_catalog.pg_constraint c ON c.conrelid = w.oid AND c.contype IN ('p', 'u', 'f', 'c', 'x')
  -- A foreign key to a partitioned table has one more row for each partition of it.
  AND NOT (c.contype = 'f' AND EXISTS (SELECT FROM pg_catalog.pg_constraint p WHERE p.oid = c.conparentid AND p.conrelid = c.conrelid))
LEFT JOIN pg_catalog.pg_class r ON r.oid = c.confrelid AND c.contype = 'f'
LEFT JOIN pg_catalog.pg_namespace rn ON rn.oid = r.relnamespace
ORDER BY c.conname COLLATE "C"`;

const INDEXES_QUERY: Sql = sql`${TABLES}
SELECT i.indrelid, i.indexrelid, c.relname::text, am.amname::text, i.indkey::int2[], i.indnkeyatts, i.indisunique,
  i.indisvalid AND i.indisready AND i.indislive,
  pg_catalog.substr(pg_catalog.pg_get_indexdef(i.indexrelid), pg_catalog.length(pg_catalog.format('CREATE %sINDEX %I ON %s%I.%I ',
    CASE WHEN i.indisunique THEN 'UNIQUE ' ELSE '' END, c.relname, CASE WHEN c.relkind = 'I' THEN 'ONLY ' ELSE '' END,
    $1::text, w.relname)) + 1) AS tail,
  (SELECT pg_catalog.format('USING btree (%I)', a.attname) FROM pg_catalog.pg_attribute a
    WHERE a.attrelid = w.oid AND a.attnum = i.indkey[0] AND i.indnkeyatts = 1)
FROM requested w
JOIN pg_catalog.pg_index i ON i.indrelid = w.oid
JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
JOIN pg_catalog.pg_am am ON am.oid = c.relam
ORDER BY c.relname COLLATE "C"`;

/* The row types of the catalog queries and their conversion. */

export type TableRow = [
  oid: number,
  name: string,
  comment: string | null,
  partitionKey: string | null,
  partitionOf: CatalogTable['partitionOf'],
  extension: string | null,
];

/** Converts a table without its columns, constraints and indexes, which are read separately. */
export function toTable([, name, comment, partitionKey, partitionOf, extension]: TableRow): CatalogTable {
  const parts = { columns: [], constraints: [], indexes: [], prepared: [] };
  return { name, schema: undefined, table: name, comment, partitionKey, partitionOf, extension, ...parts };
}

export type ColumnRow = [
  table: number,
  attnum: number,
  name: string,
  type: string,
  builtIn: boolean,
  notNull: boolean,
  identity: '' | 'a' | 'd',
  generated: '' | 's' | 'v',
  expression: string | null,
  collation: string | null,
  comment: string | null,
  sequenceSchema: string | null,
  sequence: string | null,
  notNullName: string | null,
  notNullOfParent: string | null,
  notNullMore: string | null,
];

const IDENTITIES = { '': null, a: 'always', d: 'by default' } as const;

/**
 * Returns the NOT NULL members of a column. From PostgreSQL 18 on, online changes prepare the NOT NULL constraint
 * itself. It does not count until the change is applied.
 */
function notNullOf(
  notNull: boolean,
  name: string | null,
  others: Omit<NonNullable<CatalogColumn['notNull']>, 'name'>,
): Pick<CatalogColumn, 'nullable' | 'notNull'> {
  if (name === null) return { nullable: !notNull, notNull: null };
  if (requestOf(name) !== null) return { nullable: true, notNull: null };
  return { nullable: !notNull, notNull: { name, ...others } };
}

/** A NOT NULL constraint that is being prepared online does not count yet. */
export function toColumn(row: ColumnRow): CatalogColumn {
  const [, , name, type, builtIn, notNull, identity, generated, expression] = row;
  const [, , , , , , , , , collation, comment, sequenceSchema, sequence, notNullName, parentName, more] = row;
  return {
    name,
    type,
    builtIn,
    ...notNullOf(notNull, notNullName, { parentName, more }),
    default: generated === '' ? expression : null,
    identity: IDENTITIES[identity],
    generated:
      generated === '' ? null : { expression: expression ?? '', kind: generated === 's' ? 'stored' : 'virtual' },
    collation,
    comment,
    sequence: sequenceSchema === null || sequence === null ? null : { schema: sequenceSchema, name: sequence },
  };
}

export type ConstraintRow = [
  table: number,
  name: string,
  kind: 'p' | 'u' | 'f' | 'c' | 'x',
  columns: number[] | null,
  definition: string,
  validated: boolean,
  deferrable: boolean,
  deferred: boolean,
  index: number,
  referencedSchema: string | null,
  referencedTable: string | null,
  referencedColumns: string[] | null,
  onUpdate: ActionCode,
  onDelete: ActionCode,
  match: 's' | 'f' | 'p',
];

const CONSTRAINT_KINDS = { p: 'primary key', u: 'unique', f: 'foreign key', c: 'check', x: 'exclusion' } as const;
const ACTIONS = { a: 'NO ACTION', r: 'RESTRICT', c: 'CASCADE', n: 'SET NULL', d: 'SET DEFAULT' } as const;
type ActionCode = keyof typeof ACTIONS;
const MATCHES = { s: 'simple', f: 'full', p: 'partial' } as const;

/** @param names the table's columns by attnum */
export function toConstraint(row: ConstraintRow, names: ReadonlyMap<number, string>): CatalogConstraint {
  const [, name, kind, columns, definition, validated, deferrable, initiallyDeferred] = row;
  return {
    name,
    kind: CONSTRAINT_KINDS[kind],
    columns: (columns ?? []).flatMap((attnum) => names.get(attnum) ?? []),
    definition,
    validated,
    deferrable,
    initiallyDeferred,
    references: kind === 'f' ? toReferences(row) : null,
  };
}

function toReferences(row: ConstraintRow): CatalogConstraint['references'] {
  const [, , , , , , , , , schema, table, columns, onUpdate, onDelete, match] = row;
  return {
    schema,
    table: table ?? '',
    columns: columns ?? [],
    onUpdate: ACTIONS[onUpdate] satisfies ForeignKeyAction,
    onDelete: ACTIONS[onDelete] satisfies ForeignKeyAction,
    match: MATCHES[match],
  };
}

export type IndexRow = [
  table: number,
  index: number,
  name: string,
  method: string,
  keys: number[],
  keyCount: number,
  unique: boolean,
  valid: boolean,
  tail: string,
  plainTail: string | null,
];

/** @param names the table's columns by attnum @param constraint the name of the constraint that the index serves */
export function toIndex(row: IndexRow, names: ReadonlyMap<number, string>, constraint: string | null): CatalogIndex {
  const [, , name, method, keys, keyCount, unique, valid, tail, plainTail] = row;
  return {
    name,
    // attnum 0 is an expression.
    columns: keys.slice(0, keyCount).map((attnum) => names.get(attnum) ?? null),
    method,
    unique,
    valid,
    constraint,
    tail,
    plain: tail === plainTail,
  };
}

interface Building {
  table: CatalogTable;
  names: Map<number, string>;
}

export interface Catalog {
  /** Ordered by name (code units). */
  tables: ReadonlyMap<string, CatalogTable>;
  objects: CatalogObjects;
}

/**
 * Sends all queries in one round trip for any number of tables. In a REPEATABLE READ transaction they see one snapshot;
 * otherwise a change may fall between them.
 * @param tables limits the result to these collections or unmanaged tables; all tables if absent
 * @param users the tables whose objects are read
 */
export function readCatalog(
  client: pg.ClientBase,
  managed: ManagedTables,
  tables?: readonly string[],
  users = tables,
): Promise<Catalog> {
  return readTogether(client, createCatalogReading(managed, tables, users))[0];
}

/** Returns the queries of `readCatalog` as a `Reading`, to be combined with others. */
export function createCatalogReading(
  managed: ManagedTables,
  tables?: readonly string[],
  users = tables,
): Reading<Catalog> {
  return eachSchema(
    managed,
    (schema, namesIn) => createPartReading(schema, namesIn(tables), namesIn(users)),
    (parts) => {
      const tableByName = new Map<string, CatalogTable>();
      const labels = labelsOf(managed, parts);
      for (const [schema, part] of parts)
        for (const table of part.tables.values()) {
          const named = labels.table(schema, table);
          if (tables === undefined || tables.includes(named.name)) tableByName.set(named.name, named);
        }
      const objects = mergeObjects(
        parts.map(([schema, part]) => [schema, part.objects]),
        labels,
      );
      return { tables: tableByName, objects };
    },
  );
}

/** Reads the tables of one schema. The result uses their names in PostgreSQL. */
function createPartReading(schema: string, tables?: readonly string[], users = tables): Reading<Catalog> {
  const values = [schema, tables ?? null];
  const objects = partObjects(schema, users);
  return {
    queries: [
      ...[TABLES_QUERY, COLUMNS_QUERY, CONSTRAINTS_QUERY, INDEXES_QUERY].map((text) => ({ text, values })),
      ...objects.queries,
    ],
    async make(rows) {
      const built = new Map<number, Building>();
      for (const row of await rows<TableRow>()) built.set(row[0], { table: toTable(row), names: new Map() });
      const slice = createTimeSlice();
      const each = <T>(items: readonly T[], add: (row: T) => void) => mapYielding(items, add, slice);
      await each(await rows<ColumnRow>(), columnAdder(built));
      const constraints = await rows<ConstraintRow>();
      await each(constraints, constraintAdder(built));
      await each(await rows<IndexRow>(), indexAdder(built, constraints));
      const tables = new Map(Array.from(built.values(), ({ table }) => [table.name, table]));
      return { tables, objects: await objects.make(rows) };
    },
  };
}

type TablesByOid = ReadonlyMap<number, Building>;

const columnAdder = (built: TablesByOid) => (row: ColumnRow) => {
  const building = built.get(row[0]);
  const notNull = row[13];
  if (notNull !== null) notePrepared(building?.table, 'constraint', notNull);
  building?.table.columns.push(toColumn(row));
  building?.names.set(row[1], row[2]);
};

const constraintAdder = (built: TablesByOid) => (row: ConstraintRow) => {
  const building = built.get(row[0]);
  if (notePrepared(building?.table, 'constraint', row[1])) return;
  building?.table.constraints.push(toConstraint(row, building.names));
};

/**
 * Records objects that are prepared for a change request, because they are not part of the table yet.
 * @returns true if the object is prepared for a change request
 */
function notePrepared(table: CatalogTable | undefined, kind: CatalogPrepared['kind'], name: string): boolean {
  const request = requestOf(name);
  if (request !== null) table?.prepared.push({ kind, name, request });
  return request !== null;
}

function indexAdder(built: TablesByOid, constraints: readonly ConstraintRow[]): (row: IndexRow) => void {
  // A foreign key names the index of the referenced table; it has no index of its own.
  const serving = new Map(constraints.filter(([, , kind]) => kind !== 'f').map((row) => [row[8], row[1]]));
  return (row) => {
    const building = built.get(row[0]);
    if (notePrepared(building?.table, 'index', row[2])) return;
    building?.table.indexes.push(toIndex(row, building.names, serving.get(row[1]) ?? null));
  };
}
