/*
 * Finds unsupported objects: those that depend on tables, or belong to them, and that no snapshot can contain. Adoption
 * leaves them unchanged and lists them.
 */
import { type ObjectName, kindWithLabel } from '../../schema/model/objects.js';
import { fromLocalObject } from '../../schema/model/object-ids.js';
import { type ManagedTables, eachSchema, labelsOf } from '../../projector/catalog/managed.js';
import { type Reading, TABLES } from '../../projector/catalog/queries.js';
import {
  ARE_OWN_DEFAULTS,
  DEFAULT_PRIVILEGES,
  ROUTINE_ID,
  ROUTINE_KIND,
  qualifiedIdSql,
} from '../../projector/ddl/object-sql.js';
import { OBJECT_CATALOGS, type ObjectCatalog, objectCatalogs } from '../../projector/ddl/object-catalogs.js';
import { type Sql, integer, join, literal, sql } from '../../projector/ddl/sql.js';
import type pg from 'pg';
import { idsIn, localObjects } from '../../projector/catalog/managed-objects.js';
import type { Note } from '../../projector/inspect/needs.js';
import { PREPARED_NAME } from '../../projector/online/copy.js';

/** SQL for a name in the namespace `n`. $4 is the default schema. */
const nameInSchema = (name: Sql): Sql => qualifiedIdSql(name, { schema: sql`n.nspname`, usual: sql`$4::name` });

/**
 * Returns one row per object, with its table, kind and name. Objects of extensions and of PostgreSQL itself are
 * excluded.
 */
const FOUND: Sql = sql`${TABLES}
SELECT w.relname::text, 'trigger', t.tgname::text FROM requested w
  JOIN pg_catalog.pg_trigger t ON t.tgrelid = w.oid AND NOT t.tgisinternal AND t.tgparentid = 0::oid AND t.tgname !~ ${literal(PREPARED_NAME)}::text
UNION ALL
SELECT w.relname::text, CASE v.relkind WHEN 'm' THEN 'materialized view' ELSE 'view' END, ${nameInSchema(sql`v.relname`)} FROM requested w
  JOIN (SELECT DISTINCT d.refobjid, r.ev_class FROM pg_catalog.pg_depend d
          JOIN pg_catalog.pg_rewrite r ON r.oid = d.objid AND d.classid = 'pg_catalog.pg_rewrite'::regclass::oid
         WHERE d.refclassid = 'pg_catalog.pg_class'::regclass::oid) u ON u.refobjid = w.oid
  JOIN pg_catalog.pg_class v ON v.oid = u.ev_class AND v.relkind IN ('v', 'm')
  JOIN pg_catalog.pg_namespace n ON n.oid = v.relnamespace
UNION ALL
SELECT w.relname::text, 'rule', r.rulename::text FROM requested w JOIN pg_catalog.pg_rewrite r ON r.ev_class = w.oid
UNION ALL
SELECT w.relname::text, 'policy', p.polname::text FROM requested w JOIN pg_catalog.pg_policy p ON p.polrelid = w.oid
UNION ALL
SELECT w.relname::text, 'row security', CASE WHEN c.relforcerowsecurity THEN 'forced' ELSE 'enabled' END FROM requested w
  JOIN pg_catalog.pg_class c ON c.oid = w.oid AND (c.relrowsecurity OR c.relforcerowsecurity)
UNION ALL
SELECT w.relname::text, 'storage parameter', o FROM requested w
  JOIN pg_catalog.pg_class c ON c.oid = w.oid, pg_catalog.unnest(c.reloptions) o
UNION ALL
SELECT w.relname::text, 'storage parameter', 'toast.' || o FROM requested w
  JOIN pg_catalog.pg_class c ON c.oid = w.oid JOIN pg_catalog.pg_class t ON t.oid = c.reltoastrelid, pg_catalog.unnest(t.reloptions) o
UNION ALL
SELECT w.relname::text, 'unlogged', w.relname::text FROM requested w
  JOIN pg_catalog.pg_class c ON c.oid = w.oid AND c.relpersistence = 'u'
UNION ALL
SELECT w.relname::text, 'tablespace', s.spcname::text FROM requested w
  JOIN pg_catalog.pg_class c ON c.oid = w.oid JOIN pg_catalog.pg_tablespace s ON s.oid = c.reltablespace
UNION ALL
SELECT w.relname::text, 'access method', a.amname::text FROM requested w
  JOIN pg_catalog.pg_class c ON c.oid = w.oid JOIN pg_catalog.pg_am a ON a.oid = c.relam AND a.amname <> 'heap'
UNION ALL
SELECT w.relname::text, 'replica identity', CASE c.relreplident WHEN 'f' THEN 'full' WHEN 'n' THEN 'nothing' ELSE 'index' END
  FROM requested w JOIN pg_catalog.pg_class c ON c.oid = w.oid AND c.relreplident <> 'd'
UNION ALL
SELECT w.relname::text, 'inheritance', p.relname::text FROM requested w
  JOIN pg_catalog.pg_inherits i ON i.inhrelid = w.oid JOIN pg_catalog.pg_class p ON p.oid = i.inhparent WHERE NOT w.relispartition
UNION ALL
-- Those of managed schemas are tables that can be managed themselves.
SELECT w.relname::text, CASE WHEN c.relispartition THEN 'partition' ELSE 'inherited child' END, pg_catalog.format('%I.%I', n.nspname, c.relname)
  FROM requested w JOIN pg_catalog.pg_inherits i ON i.inhparent = w.oid JOIN pg_catalog.pg_class c ON c.oid = i.inhrelid
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname <> ALL ($3::text[])
UNION ALL
SELECT w.relname::text, 'type of table', c.reloftype::regtype::text FROM requested w
  JOIN pg_catalog.pg_class c ON c.oid = w.oid AND c.reloftype <> 0::oid
UNION ALL
SELECT w.relname::text, 'statistics object', ${nameInSchema(sql`s.stxname`)} FROM requested w
  JOIN pg_catalog.pg_statistic_ext s ON s.stxrelid = w.oid JOIN pg_catalog.pg_namespace n ON n.oid = s.stxnamespace
UNION ALL
SELECT w.relname::text, 'privilege', coalesce(nullif(a.grantee, 0::oid)::regrole::text, 'PUBLIC') FROM requested w
  JOIN pg_catalog.pg_class c ON c.oid = w.oid,
  (SELECT DISTINCT c2.oid, x.grantee, c2.relowner FROM pg_catalog.pg_class c2, pg_catalog.aclexplode(c2.relacl) x) a
  WHERE a.oid = c.oid AND a.grantee <> a.relowner
UNION ALL
SELECT w.relname::text, 'column setting', a.attname::text || ' ' || s.what FROM requested w
  JOIN pg_catalog.pg_attribute a ON a.attrelid = w.oid AND a.attnum > 0 AND NOT a.attisdropped
  JOIN pg_catalog.pg_type t ON t.oid = a.atttypid,
  LATERAL (VALUES (CASE WHEN coalesce(a.attstattarget, -1) >= 0 THEN 'statistics' END),
    (CASE WHEN a.attstorage <> t.typstorage THEN 'storage' END), (CASE WHEN a.attcompression <> '' THEN 'compression' END),
    (CASE WHEN a.attoptions IS NOT NULL THEN 'options' END), (CASE WHEN a.attacl IS NOT NULL THEN 'privileges' END)) s(what)
  WHERE s.what IS NOT NULL
UNION ALL
SELECT w.relname::text, 'index setting', c.relname::text || ' ' || a.attnum::text FROM requested w
  JOIN pg_catalog.pg_index i ON i.indrelid = w.oid JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
  JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND coalesce(a.attstattarget, -1) >= 0
UNION ALL
-- pg_get_constraintdef leaves these out; pg_get_indexdef has them, except for the tablespace.
SELECT w.relname::text, 'index setting', c.relname::text || ' ' || o FROM requested w
  JOIN pg_catalog.pg_constraint k ON k.conrelid = w.oid AND k.contype IN ('p', 'u')
  JOIN pg_catalog.pg_class c ON c.oid = k.conindid, pg_catalog.unnest(c.reloptions) o
UNION ALL
SELECT w.relname::text, 'index setting', c.relname::text || ' tablespace=' || s.spcname::text FROM requested w
  JOIN pg_catalog.pg_index i ON i.indrelid = w.oid JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
  JOIN pg_catalog.pg_tablespace s ON s.oid = c.reltablespace
UNION ALL
SELECT DISTINCT w.relname::text, 'disabled constraint', k.conname::text FROM requested w
  JOIN pg_catalog.pg_constraint k ON k.conrelid = w.oid
  JOIN pg_catalog.pg_trigger t ON t.tgconstraint = k.oid AND t.tgisinternal AND t.tgenabled <> 'O'
UNION ALL
SELECT w.relname::text, 'publication', p.pubname::text FROM requested w
  JOIN pg_catalog.pg_publication_rel r ON r.prrelid = w.oid JOIN pg_catalog.pg_publication p ON p.oid = r.prpubid
UNION ALL
SELECT w.relname::text, 'security label', l.provider FROM requested w
  JOIN pg_catalog.pg_seclabel l ON l.objoid = w.oid AND l.classoid = 'pg_catalog.pg_class'::regclass::oid
UNION ALL
SELECT DISTINCT w.relname::text, 'collation', c.collname::text FROM requested w
  JOIN pg_catalog.pg_attribute a ON a.attrelid = w.oid AND a.attnum > 0 AND NOT a.attisdropped
  JOIN pg_catalog.pg_collation c ON c.oid = a.attcollation AND c.oid >= 16384::oid
    AND c.collnamespace <> ALL (ARRAY(SELECT n.oid FROM pg_catalog.pg_namespace n WHERE n.nspname = ANY ($3::text[])))
UNION ALL
SELECT DISTINCT w.relname::text, 'collation', c.collname::text FROM requested w
  JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_class'::regclass::oid AND d.objid = w.oid AND d.objsubid = 0
    AND d.refobjid >= 16384::oid AND d.refclassid = 'pg_catalog.pg_collation'::regclass::oid
  JOIN pg_catalog.pg_collation c ON c.oid = d.refobjid
    AND c.collnamespace <> ALL (ARRAY(SELECT n.oid FROM pg_catalog.pg_namespace n WHERE n.nspname = ANY ($3::text[])))
  WHERE w.relkind = 'p'
UNION ALL
SELECT w.relname::text, 'comment', 'constraint ' || c.conname::text FROM requested w JOIN pg_catalog.pg_constraint c ON c.conrelid = w.oid
  JOIN pg_catalog.pg_description d ON d.objoid = c.oid AND d.classoid = 'pg_catalog.pg_constraint'::regclass::oid
UNION ALL
SELECT w.relname::text, 'comment', 'index ' || c.relname::text FROM requested w JOIN pg_catalog.pg_index i ON i.indrelid = w.oid
  JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
  JOIN pg_catalog.pg_description d ON d.objoid = c.oid AND d.classoid = 'pg_catalog.pg_class'::regclass::oid
UNION ALL
SELECT w.relname::text, 'clustering', c.relname::text FROM requested w JOIN pg_catalog.pg_index i ON i.indrelid = w.oid AND i.indisclustered
  JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
ORDER BY 1, 2, 3`;

/** Default privileges that apply in all schemas. */
const GLOBAL_DEFAULTS = 'global default privileges';

/**
 * Finds standalone objects: functions, views, types and sequences of the schema, default privileges and extensions. $1 is
 * the schema, and $2 is true to leave out default privileges that can be adopted.
 */
const BESIDE: Sql = sql`
WITH place AS (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = $1),
belongs AS (SELECT classid, objid FROM pg_catalog.pg_depend WHERE deptype = 'e')
SELECT NULL, ${ROUTINE_KIND},
  ${ROUTINE_ID}
  FROM pg_catalog.pg_proc p JOIN place ON place.oid = p.pronamespace
  WHERE ('pg_catalog.pg_proc'::regclass::oid, p.oid) NOT IN (SELECT classid, objid FROM belongs)
    -- Those that PostgreSQL makes for a range type go with it.
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_catalog.pg_proc'::regclass::oid AND d.objid = p.oid
      AND d.deptype = 'i')
UNION ALL
SELECT NULL, CASE c.relkind WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' ELSE 'foreign table' END, c.relname
  FROM pg_catalog.pg_class c JOIN place ON place.oid = c.relnamespace
  WHERE c.relkind IN ('v', 'm', 'f')
    AND ('pg_catalog.pg_class'::regclass::oid, c.oid) NOT IN (SELECT classid, objid FROM belongs)
UNION ALL
SELECT NULL, CASE WHEN d.defaclnamespace = 0::oid THEN ${literal(GLOBAL_DEFAULTS)} ELSE 'default privileges' END, ${DEFAULT_PRIVILEGES}
  FROM pg_catalog.pg_default_acl d WHERE (d.defaclnamespace = 0::oid OR d.defaclnamespace IN (SELECT oid FROM place))
    AND NOT ($2::boolean AND ${ARE_OWN_DEFAULTS})
UNION ALL
SELECT NULL, 'extension', extname FROM pg_catalog.pg_extension WHERE extname <> 'plpgsql'
UNION ALL
SELECT NULL, 'type', t.typname FROM pg_catalog.pg_type t JOIN place ON place.oid = t.typnamespace
  WHERE t.typtype IN ('e', 'd', 'r', 'c')
    AND (t.typrelid = 0::oid OR EXISTS (SELECT FROM pg_catalog.pg_class c WHERE c.oid = t.typrelid AND c.relkind = 'c'))
    AND ('pg_catalog.pg_type'::regclass::oid, t.oid) NOT IN (SELECT classid, objid FROM belongs)
UNION ALL
SELECT NULL, 'collation', c.collname FROM pg_catalog.pg_collation c JOIN place ON place.oid = c.collnamespace
  WHERE ('pg_catalog.pg_collation'::regclass::oid, c.oid) NOT IN (SELECT classid, objid FROM belongs)
UNION ALL
-- One that is a column's is its table's matter.
SELECT NULL, 'sequence', c.relname FROM pg_catalog.pg_class c JOIN place ON place.oid = c.relnamespace
  WHERE c.relkind = 'S'
    AND ('pg_catalog.pg_class'::regclass::oid, c.oid) NOT IN (SELECT classid, objid FROM belongs)
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_catalog.pg_class'::regclass::oid AND d.objid = c.oid
      AND d.refclassid = 'pg_catalog.pg_class'::regclass::oid AND d.deptype IN ('a', 'i'))
UNION ALL
SELECT NULL, 'comment', CASE WHEN c.oid IS NULL THEN 'type ' || t.typname::text ELSE 'sequence ' || c.relname::text END
  FROM pg_catalog.pg_description d
  LEFT JOIN pg_catalog.pg_class c ON d.classoid = 'pg_catalog.pg_class'::regclass::oid AND c.oid = d.objoid AND c.relkind = 'S'
    AND c.relnamespace IN (SELECT oid FROM place)
  LEFT JOIN pg_catalog.pg_type t ON d.classoid = 'pg_catalog.pg_type'::regclass::oid AND t.oid = d.objoid
    AND t.typnamespace IN (SELECT oid FROM place)
    AND ('pg_catalog.pg_type'::regclass::oid, t.oid) NOT IN (SELECT classid, objid FROM belongs)
  WHERE c.oid IS NOT NULL OR t.oid IS NOT NULL
ORDER BY 2, 3`;

type Row = [table: string | null, kind: string, name: string];

/**
 * Finds objects that depend on tables.
 * @param tables the tables to search. If absent, all tables.
 */
export function readUnsupportedObjects(managed: ManagedTables, tables?: readonly string[]): Reading<Note[]> {
  const { schemas } = managed;
  const { label } = labelsOf(managed);
  const ofSchema = (schema: string, names: readonly string[] | undefined): Reading<Row[]> => ({
    queries: [{ text: FOUND, values: [schema, names ?? null, schemas, managed.schema] }],
    make: (rows) => rows<Row>(),
  });
  return eachSchema(
    managed,
    (schema, namesIn) => ofSchema(schema, namesIn(tables)),
    (parts) =>
      parts.flatMap(([schema, rows]) =>
        rows.map(([table, kind, name]) => toNote([table === null ? null : label(schema, table), kind, name])),
      ),
  );
}

/** Finds standalone objects. Names outside the default schema include the schema. Extensions and global defaults belong to no schema. */
export function readUnlistedObjects(managed: ManagedTables, hasObjects: boolean): Reading<Note[]> {
  const ofSchema = (schema: string): Reading<Row[]> => ({
    queries: [{ text: BESIDE, values: [schema, hasObjects] }],
    make: (rows) => rows<Row>(),
  });
  return eachSchema(managed, ofSchema, (parts) =>
    parts.flatMap(([schema, rows]) =>
      schema === managed.schema
        ? rows.map(toNote)
        : rows.flatMap(([table, kind, name]) => {
            if (kind === 'extension' || kind === GLOBAL_DEFAULTS) return [];
            return [toNote([table, kind, kind === 'default privileges' ? name : nameWithSchema(schema, kind, name)])];
          }),
    ),
  );
}

function nameWithSchema(schema: string, label: string, name: string): string {
  const [, commented = '', rest] = label === 'comment' ? (/^(sequence|type) (.*)$/s.exec(name) ?? []) : [];
  if (rest !== undefined) return `${commented} ${nameWithSchema(schema, commented, rest)}`;
  const kind = kindWithLabel(label);
  return kind === undefined ? `${schema}.${name}` : fromLocalObject({ kind, id: name, schema }).id;
}

function toNote([table, kind, name]: Row): Note {
  const what = `${kind} ${JSON.stringify(name)}`;
  // A replay of the log in another database creates the collation with the table.
  if (table !== null && kind === 'collation') {
    const message = `${what}: create it before you apply a snapshot with this table elsewhere`;
    return { table, kind, name, code: 'COLLATION_NEEDED', message };
  }
  const code = `${kind.replaceAll(' ', '_').toUpperCase()}_NOT_REPRESENTED`;
  return { table, kind, name, code, message: `${what} stays unchanged and is not included in snapshots` };
}

/* Finds what objects use, apart from relations. Another database needs it before it accepts these objects. */

const catalogsWithUses = objectCatalogs.filter((catalog) => OBJECT_CATALOGS[catalog].depender !== null);

/** Selects what the objects of a catalog use. @param index the number of the parameter with their ids */
function usesIn(catalog: ObjectCatalog, index: number): Sql {
  const { from, id, where, depender } = OBJECT_CATALOGS[catalog];
  if (depender === null) throw new Error(`${catalog} has no dependencies`);
  return sql`
    SELECT (${id})::text AS user, d.refclassid, d.refobjid,
      (SELECT ${ROUTINE_ID} FROM pg_catalog.pg_proc p WHERE d.refclassid = 'pg_catalog.pg_proc'::regclass::oid AND p.oid = d.refobjid) AS routine
      FROM ${from}
      JOIN pg_catalog.pg_depend d ON d.classid = ${literal(`pg_catalog.${depender.catalog}`)}::regclass::oid AND d.objid = ${depender.oid}
     WHERE n.nspname = $1 AND ${where} AND ${id} = ANY ($${integer(String(index))}::text[])`;
}

/** Returns functions, types and other objects except relations that objects use. */
const NEEDED: Sql = sql`
SELECT DISTINCT u.user AS object, i.type AS kind, i.identity, i.schema, i.name, u.routine,
  coalesce(e.typname, (SELECT r.typname FROM pg_catalog.pg_range m JOIN pg_catalog.pg_type r ON r.oid = m.rngtypid WHERE m.rngmultitypid = t.oid), t.typname)::text AS type
  FROM (${join(
    catalogsWithUses.map((catalog, index) => usesIn(catalog, index + 2)),
    sql` UNION ALL`,
  )}) u
  CROSS JOIN LATERAL pg_catalog.pg_identify_object(u.refclassid, u.refobjid, 0) i
  LEFT JOIN pg_catalog.pg_type t ON u.refclassid = 'pg_catalog.pg_type'::regclass::oid AND t.oid = u.refobjid
  LEFT JOIN pg_catalog.pg_type e ON e.oid = t.typelem AND e.typarray = t.oid
 WHERE u.refclassid <> 'pg_catalog.pg_class'::regclass::oid
   AND NOT EXISTS (SELECT FROM pg_catalog.pg_class c WHERE c.oid = coalesce(nullif(t.typrelid, 0::oid), e.typrelid) AND c.relkind <> 'c')
   AND i.schema IS NOT NULL AND i.schema <> ALL (ARRAY['pg_catalog', 'information_schema'])
 ORDER BY 1, 2, 3`;

interface NeededObject {
  /** The id of the object that uses this one. */
  object: string;
  /** PostgreSQL's name of the kind: `function`, `type`, `operator`. */
  kind: string;
  identity: string;
  schema: string;
  name: string | null;
  /** The id of this object if it is a function or procedure. */
  routine: string | null;
  /** The name of this object if it is a type. An array has the name of its element type. */
  type: string | null;
}

export async function readNeededObjects(
  client: Pick<pg.ClientBase, 'query'>,
  schema: string,
  names: readonly ObjectName[],
): Promise<NeededObject[]> {
  const needed: NeededObject[] = [];
  for (const [place, objects] of localObjects(names, schema)) {
    const ids = catalogsWithUses.map((catalog) => idsIn(catalog, objects));
    needed.push(...(await client.query<NeededObject>(NEEDED, [place, ...ids])).rows);
  }
  return needed;
}
