/*
 * Reads properties that no event describes. A change must not alter them, even if it creates their object again. The
 * setting OBJECTS_OWNER determines the owner.
 */
import type pg from 'pg';
import { createTimeSlice } from '../../kernel/event-loop.js';
import { objectsOwnerOf } from '../../postgres/client.js';
import { KINDS, OBJECT_KINDS, type ObjectKind, type ObjectName, PUBLIC } from '../../schema/model/objects.js';
import { fromLocalObject, toLocalObject } from '../../schema/model/object-ids.js';
import { objectsInOrder } from '../../schema/model/order.js';
import {
  type State,
  type TableLocation,
  isFolder,
  locateTable,
  locationKey,
  schemasOf,
} from '../../schema/model/state.js';
import { IS_OWN_TYPE, idOnRelation, idOnRoutine, idOnSchema, idOnType } from '../ddl/object-sql.js';
import { OBJECT_CATALOGS, type ObjectCatalog, objectCatalogs } from '../ddl/object-catalogs.js';
import { type Sql, join, literal, sql } from '../ddl/sql.js';
import { storageWord } from '../ddl/table-options.js';
import type { Difference } from './difference.js';

/** A property that a change altered. */
export interface ChangedProperty {
  /** The type and the name of the object as PostgreSQL prints them: `function public.total(integer)`. */
  object: string;
  property: string;
  /** Null if the object did not have it. */
  before: string | null;
  /** Null if the object no longer has it. */
  after: string | null;
}

const ROLE: Sql = sql`(CASE x.grantee WHEN 0::oid THEN ${literal(PUBLIC)} ELSE pg_catalog.pg_get_userbyid(x.grantee)::text END)`;

/**
 * SQL condition: the privilege `x` belongs to an object of the log, which `verify` compares, and which a change may alter.
 * $2 are the schemas of these objects, $3 their ids.
 */
const isLogged = ({ id, owner, namespace }: Record<'id' | 'owner' | 'namespace', Sql>): Sql => sql`(x.grantor = ${owner}
  AND (${namespace}, ${id}) IN (SELECT n.oid, l.id FROM ROWS FROM (pg_catalog.unnest($2::name[]), pg_catalog.unnest($3::text[])) AS l (schema, id)
    JOIN pg_catalog.pg_namespace n ON n.nspname = l.schema))`;

const IS_LOGGED_ON_RELATION: Sql = isLogged({
  id: idOnRelation(ROLE),
  owner: sql`c.relowner`,
  namespace: sql`c.relnamespace`,
});
const IS_LOGGED_ON_ROUTINE: Sql = isLogged({
  id: idOnRoutine(ROLE),
  owner: sql`p.proowner`,
  namespace: sql`p.pronamespace`,
});
const IS_LOGGED_ON_TYPE: Sql = isLogged({ id: idOnType(ROLE), owner: sql`t.typowner`, namespace: sql`t.typnamespace` });
const IS_LOGGED_ON_SCHEMA: Sql = isLogged({ id: idOnSchema(ROLE), owner: sql`s.nspowner`, namespace: sql`s.oid` });

/** SQL condition: the options of the table `r` are an object of the log. $4 are the schemas of these tables, $5 their names. */
const HAS_LOGGED_OPTIONS: Sql = sql`((r.relnamespace, r.relname) IN (SELECT n.oid, l.name
  FROM ROWS FROM (pg_catalog.unnest($4::name[]), pg_catalog.unnest($5::name[])) AS l (schema, name) JOIN pg_catalog.pg_namespace n ON n.nspname = l.schema))`;

/**
 * `existence` marks objects without another property. $1 are the managed schemas, $2 and $3 the privileges in the log, and
 * $4 and $5 the tables with options in the log.
 */
const PROPERTIES: Sql = sql`
WITH relation AS (
  SELECT c.* FROM pg_catalog.pg_class c
   WHERE c.relnamespace = ANY (SELECT n.oid FROM pg_catalog.pg_namespace n WHERE n.nspname = ANY ($1::name[]))
     AND c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S', 'i', 'I')
), routine AS (
  SELECT p.* FROM pg_catalog.pg_proc p
   WHERE p.pronamespace = ANY (SELECT n.oid FROM pg_catalog.pg_namespace n WHERE n.nspname = ANY ($1::name[]))
), type AS (
  SELECT t.* FROM pg_catalog.pg_type t
   WHERE t.typnamespace = ANY (SELECT n.oid FROM pg_catalog.pg_namespace n WHERE n.nspname = ANY ($1::name[]))
     AND ${IS_OWN_TYPE}
), attribute AS (
  SELECT a.*, r.relkind FROM pg_catalog.pg_attribute a JOIN relation r ON r.oid = a.attrelid
   WHERE a.attnum > 0 AND NOT a.attisdropped AND r.relkind IN ('r', 'p', 'v', 'm', 'f')
), acl AS (
  SELECT 'pg_catalog.pg_class'::regclass::oid AS class, c.oid, 0 AS sub, c.relowner AS owner, x.*
    FROM relation c, pg_catalog.aclexplode(coalesce(c.relacl, pg_catalog.acldefault(
           CASE WHEN c.relkind = 'S' THEN 's'::"char" ELSE 'r'::"char" END, c.relowner))) x
   WHERE c.relkind NOT IN ('i', 'I') AND x.grantee <> c.relowner AND NOT ${IS_LOGGED_ON_RELATION}
  UNION ALL
  SELECT 'pg_catalog.pg_class'::regclass::oid, a.attrelid, a.attnum, c.relowner, x.*
    FROM attribute a JOIN relation c ON c.oid = a.attrelid, LATERAL pg_catalog.aclexplode(a.attacl) x
   WHERE NOT ${IS_LOGGED_ON_RELATION}
  UNION ALL
  SELECT 'pg_catalog.pg_proc'::regclass::oid, p.oid, 0, p.proowner, x.*
    FROM routine p, pg_catalog.aclexplode(coalesce(p.proacl, pg_catalog.acldefault('f'::"char", p.proowner))) x
   WHERE x.grantee <> p.proowner AND NOT ${IS_LOGGED_ON_ROUTINE}
  UNION ALL
  SELECT 'pg_catalog.pg_type'::regclass::oid, t.oid, 0, t.typowner, x.*
    FROM type t, pg_catalog.aclexplode(coalesce(t.typacl, pg_catalog.acldefault('T'::"char", t.typowner))) x
   WHERE x.grantee <> t.typowner AND NOT ${IS_LOGGED_ON_TYPE}
  UNION ALL
  SELECT 'pg_catalog.pg_namespace'::regclass::oid, s.oid, 0, s.nspowner, x.*
    FROM pg_catalog.pg_namespace s, pg_catalog.aclexplode(coalesce(s.nspacl, pg_catalog.acldefault('n'::"char", s.nspowner))) x
   WHERE s.nspname = ANY ($1::name[]) AND x.grantee <> s.nspowner AND NOT ${IS_LOGGED_ON_SCHEMA}
), part AS (
  SELECT 'pg_catalog.pg_constraint'::regclass::oid AS class, c.oid FROM pg_catalog.pg_constraint c JOIN relation r ON r.oid = c.conrelid
  UNION ALL
  SELECT 'pg_catalog.pg_class'::regclass::oid, r.oid FROM relation r WHERE r.relkind IN ('i', 'I')
), property AS (
  SELECT 'pg_catalog.pg_class'::regclass::oid AS class, a.attrelid AS oid, a.attnum AS sub, 'existence' AS property, '' AS value
    FROM attribute a
  UNION ALL
  SELECT p.class, p.oid, 0, 'existence', '' FROM part p
  UNION ALL
  SELECT 'pg_catalog.pg_class'::regclass::oid, r.oid, 0, 'owner', r.relowner::regrole::text
    FROM relation r WHERE r.relkind NOT IN ('i', 'I')
  UNION ALL
  SELECT 'pg_catalog.pg_proc'::regclass::oid, p.oid, 0, 'owner', p.proowner::regrole::text FROM routine p
  UNION ALL
  SELECT 'pg_catalog.pg_type'::regclass::oid, t.oid, 0, 'owner', t.typowner::regrole::text FROM type t
  UNION ALL
  SELECT 'pg_catalog.pg_statistic_ext'::regclass::oid, s.oid, 0, 'owner', s.stxowner::regrole::text
    FROM pg_catalog.pg_statistic_ext s JOIN relation r ON r.oid = s.stxrelid
  UNION ALL
  SELECT a.class, a.oid, a.sub,
         pg_catalog.format('%s for %s%s', a.privilege_type, CASE WHEN a.grantee = 0::oid THEN 'PUBLIC' ELSE a.grantee::regrole::text END,
           CASE WHEN a.grantor <> a.owner THEN pg_catalog.format(' by %s', a.grantor::regrole) END),
         CASE WHEN a.is_grantable THEN 'granted with grant option' ELSE 'granted' END
    FROM acl a
  UNION ALL
  SELECT p.class, p.oid, 0, 'comment', d.description
    FROM part p JOIN pg_catalog.pg_description d ON d.classoid = p.class AND d.objoid = p.oid AND d.objsubid = 0
  UNION ALL
  SELECT 'pg_catalog.pg_class'::regclass::oid, a.attrelid, a.attnum, 'comment', d.description
    FROM attribute a JOIN pg_catalog.pg_description d
      ON d.classoid = 'pg_catalog.pg_class'::regclass::oid AND d.objoid = a.attrelid AND d.objsubid = a.attnum
   WHERE a.relkind IN ('v', 'm')
  UNION ALL
  SELECT 'pg_catalog.pg_class'::regclass::oid, a.attrelid, a.attnum, 'default', pg_catalog.pg_get_expr(d.adbin, d.adrelid)
    FROM attribute a JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
   WHERE a.relkind = 'v'
  UNION ALL
  SELECT 'pg_catalog.pg_class'::regclass::oid, a.attrelid, a.attnum, o.property, o.value
    FROM attribute a JOIN pg_catalog.pg_type t ON t.oid = a.atttypid, LATERAL (VALUES
           ('statistics target', CASE WHEN a.attstattarget >= 0 THEN a.attstattarget::text END),
           ('storage', CASE WHEN a.attstorage <> t.typstorage THEN ${storageWord(sql`a.attstorage`)} END),
           ('compression', CASE a.attcompression WHEN 'p' THEN 'pglz' WHEN 'l' THEN 'lz4' END),
           ('options', pg_catalog.array_to_string(a.attoptions, ', '))) o (property, value)
   WHERE o.value IS NOT NULL AND NOT EXISTS (SELECT FROM relation r WHERE r.oid = a.attrelid AND r.relkind IN ('r', 'p') AND ${HAS_LOGGED_OPTIONS})
  UNION ALL
  SELECT 'pg_catalog.pg_class'::regclass::oid, r.oid, 0, o.property, o.value
    FROM relation r, LATERAL (VALUES
           ('tablespace', (SELECT t.spcname::text FROM pg_catalog.pg_tablespace t WHERE t.oid = r.reltablespace))) o (property, value)
   WHERE r.relkind IN ('r', 'p') AND o.value IS NOT NULL
  UNION ALL
  SELECT 'pg_catalog.pg_class'::regclass::oid, r.oid, 0, o.property, o.value
    FROM relation r, LATERAL (VALUES
           ('options', pg_catalog.array_to_string(r.reloptions, ', ')),
           ('persistence', CASE r.relpersistence WHEN 'u' THEN 'UNLOGGED' ELSE 'LOGGED' END),
           ('replica identity', CASE r.relreplident WHEN 'd' THEN 'DEFAULT' WHEN 'n' THEN 'NOTHING' WHEN 'f' THEN 'FULL'
             ELSE 'USING INDEX' END)) o (property, value)
   WHERE r.relkind IN ('r', 'p') AND o.value IS NOT NULL AND NOT ${HAS_LOGGED_OPTIONS}
  UNION ALL
  SELECT 'pg_catalog.pg_class'::regclass::oid, i.indexrelid, 0, 'replica identity', 'true'
    FROM pg_catalog.pg_index i JOIN relation r ON r.oid = i.indexrelid WHERE i.indisreplident
  UNION ALL
  SELECT 'pg_catalog.pg_statistic_ext'::regclass::oid, s.oid, 0, 'statistics target', s.stxstattarget::text
    FROM pg_catalog.pg_statistic_ext s JOIN relation r ON r.oid = s.stxrelid WHERE coalesce(s.stxstattarget, -1) >= 0
  UNION ALL
  SELECT 'pg_catalog.pg_class'::regclass::oid, r.oid, 0, 'rows', 'populated' FROM relation r WHERE r.relkind = 'm' AND r.relispopulated
  UNION ALL
  SELECT 'pg_catalog.pg_class'::regclass::oid, i.indexrelid, 0, 'clustered', 'true'
    FROM pg_catalog.pg_index i JOIN relation r ON r.oid = i.indexrelid WHERE i.indisclustered
  UNION ALL
  SELECT 'pg_catalog.pg_class'::regclass::oid, r.oid, 0, pg_catalog.format('publication %I', p.pubname), 'member'
    FROM relation r JOIN pg_catalog.pg_publication_rel m ON m.prrelid = r.oid
    JOIN pg_catalog.pg_publication p ON p.oid = m.prpubid
  UNION ALL
  SELECT l.classoid, l.objoid, l.objsubid, pg_catalog.format('security label of %s', l.provider), l.label
    FROM pg_catalog.pg_seclabel l
   WHERE EXISTS (SELECT FROM relation r WHERE l.classoid = 'pg_catalog.pg_class'::regclass::oid AND r.oid = l.objoid)
      OR EXISTS (SELECT FROM routine p WHERE l.classoid = 'pg_catalog.pg_proc'::regclass::oid AND p.oid = l.objoid)
)
SELECT pg_catalog.concat_ws('/', p.class, p.oid, p.sub) AS key, o.type || ' ' || o.identity AS object, p.properties
  FROM (SELECT q.class, q.oid, q.sub, pg_catalog.json_object_agg(q.property, q.value) AS properties
          FROM property q GROUP BY q.class, q.oid, q.sub) p, pg_catalog.pg_identify_object(p.class, p.oid, p.sub) o
 WHERE o.identity IS NOT NULL`;

interface ObjectProperties extends Pick<ChangedProperty, 'object'> {
  properties: Readonly<Record<string, string>>;
}

/** The key identifies the object as long as it exists: catalog, object, column. */
type CatalogProperties = ReadonlyMap<string, ObjectProperties>;

interface PropertiesQuery {
  /** The default schema. */
  schema: string;
  /** The managed schemas. */
  schemas: readonly string[];
  /** The ids of the privileges in the log. */
  privileges: readonly string[];
  /** The tables with options in the log. */
  tableOptions: readonly string[];
}

export async function readProperties(
  client: Pick<pg.ClientBase, 'query'>,
  { schema, schemas, privileges, tableOptions }: PropertiesQuery,
): Promise<CatalogProperties> {
  const objects = [
    privileges.map((id) => ({ kind: 'privileges', id }) as const),
    tableOptions.map((id) => ({ kind: 'table_options', id }) as const),
  ];
  const values = objects.flatMap((names) => {
    const local = names.map(toLocalObject);
    return [local.map((each) => each.schema ?? schema), local.map(({ id }) => id)];
  });
  const { rows } = await client.query<ObjectProperties & { key: string }>(PROPERTIES, [schemas, ...values]);
  return new Map(rows.map((row) => [row.key, row]));
}

/** Compares objects that exist before and after a change. One that was created again is found by its name. */
export async function findChangedProperties(
  before: CatalogProperties,
  after: CatalogProperties,
): Promise<ChangedProperty[]> {
  const created = new Map([...after].flatMap(([key, each]) => (before.has(key) ? [] : [[each.object, each] as const])));
  const changed: ChangedProperty[] = [];
  const slice = createTimeSlice();
  for (const [key, old] of before) {
    if (slice.isOver()) await slice.yield();
    const now = after.get(key) ?? created.get(old.object);
    if (now !== undefined) changed.push(...compareProperties(old, now));
  }
  return changed;
}

function compareProperties({ object, properties: old }: ObjectProperties, now: ObjectProperties): ChangedProperty[] {
  return Object.keys({ ...old, ...now.properties }).flatMap((property) => {
    const [before, after] = [old[property] ?? null, now.properties[property] ?? null];
    return before === after ? [] : [{ object, property, before, after }];
  });
}

/*
 * Finds changed definitions after a rename. PostgreSQL then prints other texts, but stores the same trees, which contain
 * numbers of columns and oids instead of names.
 */

/** Removes what a rename, a grant or a different owner changes in a row of the catalog. */
const without = (row: Sql, ...columns: string[]): Sql =>
  sql`pg_catalog.to_jsonb(${row}) - ARRAY[${join(columns.map(literal), sql`, `)}]::text[]`;

/** SQL for what a row contains besides names, by catalog. The others contain nothing else, or properties. */
const CONTENTS: Partial<Record<ObjectCatalog, Sql>> = {
  pg_class: sql`pg_catalog.jsonb_build_array(${without(sql`r`, 'rulename')}, c.reloptions)`,
  pg_proc: without(sql`p`, 'proname', 'pronamespace', 'proowner', 'proacl'),
  pg_trigger: without(sql`t`, 'tgname'),
  pg_policy: without(sql`policy`, 'polname'),
  pg_statistic_ext: without(sql`s`, 'stxname', 'stxnamespace', 'stxowner', 'stxstattarget'),
  pg_rewrite: without(sql`r`, 'rulename'),
  pg_sequence: sql`pg_catalog.to_jsonb(q)`,
  pg_type: sql`pg_catalog.jsonb_build_array(${without(sql`t`, 'typname', 'typnamespace', 'typowner', 'typacl', 'typdefault')},
    (SELECT pg_catalog.jsonb_agg(l.enumlabel ORDER BY l.enumsortorder) FROM pg_catalog.pg_enum l WHERE l.enumtypid = t.oid),
    (SELECT pg_catalog.jsonb_agg(k.conbin::text ORDER BY k.oid) FROM pg_catalog.pg_constraint k WHERE k.contypid = t.oid),
    (SELECT pg_catalog.jsonb_agg(pg_catalog.jsonb_build_array(a.atttypid, a.atttypmod, a.attcollation) ORDER BY a.attnum)
       FROM pg_catalog.pg_attribute a WHERE a.attrelid = t.typrelid AND a.attnum > 0))`,
};

/** $1 are the managed schemas. */
const DEFINITIONS: Sql = join(
  objectCatalogs.flatMap((catalog): Sql[] => {
    const content = CONTENTS[catalog];
    const { from, where, id, printed, depender } = OBJECT_CATALOGS[catalog];
    if (content === undefined) return [];
    return [
      sql`SELECT ${literal(catalog)} AS catalog, n.nspname::text AS schema, (${id})::text AS id, ${depender?.oid ?? sql`c.oid`}::text AS oid, (${content})::text AS content, (${printed})::text AS printed
      FROM ${from} WHERE n.nspname = ANY ($1::name[]) AND ${where}`,
    ];
  }),
  sql`
    UNION ALL `,
);

export interface StoredDefinition {
  catalog: ObjectCatalog;
  /** The id in the log, whose form is the same for all kinds in a catalog. */
  id: string;
  content: string;
  printed: string;
}

/** Returns the definitions of all objects in the managed schemas, by catalog and oid. */
export async function readStoredDefinitions(
  client: Pick<pg.ClientBase, 'query'>,
  { schema, schemas }: Pick<PropertiesQuery, 'schema' | 'schemas'>,
): Promise<ReadonlyMap<string, StoredDefinition>> {
  const { rows } = await client.query<StoredDefinition & { schema: string; oid: string }>(DEFINITIONS, [schemas]);
  return new Map(
    rows.map((row) => {
      const kind = OBJECT_KINDS.find((each) => KINDS[each].catalog === row.catalog) as ObjectKind;
      const local = { kind, id: row.id, schema: row.schema === schema ? undefined : row.schema };
      return [`${row.catalog} ${row.oid}`, { ...row, id: fromLocalObject(local).id }];
    }),
  );
}

/** Returns the pairs of definitions whose stored trees or options differ. An object that was created again is in none. */
export function findChangedDefinitions(
  before: ReadonlyMap<string, StoredDefinition>,
  after: ReadonlyMap<string, StoredDefinition>,
): [before: StoredDefinition, after: StoredDefinition][] {
  return [...before].flatMap(([key, old]): [StoredDefinition, StoredDefinition][] => {
    const now = after.get(key);
    return now === undefined || now.content === old.content ? [] : [[old, now]];
  });
}

/* Finds tables and objects that belong to another role than that of OBJECTS_OWNER. */

/** $1 is the expected owner, $2 are the managed schemas. Tables have the catalog ''. */
const OTHER_OWNERS: Sql = join(
  [
    sql`SELECT '' AS catalog, n.nspname::text AS schema, c.relname::text AS id, pg_catalog.pg_get_userbyid(c.relowner)::text AS owner
      FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = ANY ($2::name[]) AND c.relkind IN ('r', 'p') AND pg_catalog.pg_get_userbyid(c.relowner) <> $1::name`,
    ...objectCatalogs.flatMap((catalog): Sql[] => {
      const { from, where, id, owner } = OBJECT_CATALOGS[catalog];
      if (owner === null) return [];
      return [
        sql`SELECT ${literal(catalog)}, n.nspname::text, (${id})::text, pg_catalog.pg_get_userbyid(${owner})::text
      FROM ${from} WHERE n.nspname = ANY ($2::name[]) AND ${where} AND pg_catalog.pg_get_userbyid(${owner}) <> $1::name`,
      ];
    }),
  ],
  sql`
    UNION ALL `,
);

/**
 * Returns a difference for each managed table and object that belongs to another role. Empty without OBJECTS_OWNER.
 * @param objects false on an instance that does not manage objects other than tables
 */
export async function findOtherOwners(
  client: Pick<pg.ClientBase, 'query'>,
  state: State,
  { schema, objects }: { schema: string; objects: boolean },
): Promise<Difference[]> {
  const expected = objectsOwnerOf(client);
  if (expected === undefined) return [];
  const { rows } = await client.query<Record<'catalog' | 'schema' | 'id' | 'owner', string>>(OTHER_OWNERS, [
    expected,
    schemasOf(state, schema),
  ]);
  if (rows.length === 0) return [];
  const owners = new Map(
    rows.map(({ catalog, owner, ...at }) => [`${catalog}\0${locationKey(at.schema, at.id)}`, owner]),
  );
  const found = (catalog: string, { schema: place, name }: TableLocation): string | undefined =>
    owners.get(`${catalog}\0${locationKey(place, name)}`);
  const others = objects ? objectsInOrder(state).flatMap((object) => ownedObject(object, schema, found)) : [];
  const tables: Difference[] = [];
  const slice = createTimeSlice();
  for (const [collection, node] of state.collections) {
    if (slice.isOver()) await slice.yield();
    const owner = isFolder(node) ? undefined : found('', locateTable(state, collection, schema));
    if (owner !== undefined) tables.push({ ...OTHER_OWNER, expected, collection, found: owner });
  }
  return [...tables, ...others.map((each) => ({ ...OTHER_OWNER, expected, ...each }))];
}

function ownedObject(
  object: ObjectName,
  usual: string,
  findOwner: (catalog: string, at: TableLocation) => string | undefined,
): Pick<Difference, 'collection' | 'object' | 'found'>[] {
  const { kind, id } = object;
  const { schema = usual, id: name } = toLocalObject(object);
  const found = findOwner(KINDS[kind].catalog, { schema, name });
  return found === undefined ? [] : [{ collection: id, object: { kind, id }, found }];
}

/** The member of a difference about an owner. */
export const OWNER = 'owner';

const OTHER_OWNER = { where: 'catalog', member: OWNER } as const;
