/* Reads objects of all kinds from the catalogs. */
import type pg from 'pg';
import { KINDS, type ObjectName, isRelation, objectNameParts } from '../../schema/model/objects.js';
import type { CatalogObject } from '../ddl/catalog-object.js';
import { OBJECT_CATALOGS, type ObjectCatalog, objectCatalogs } from '../ddl/object-catalogs.js';
import { ROUTINE_ID } from '../ddl/routine-sql.js';
import { type Sql, integer, join, literal, sql } from '../ddl/sql.js';
import { readRoutines } from './routines.js';
import { readPolicies, readRowSecurity, readTableOptions } from './policies.js';
import { readPrivileges } from './privileges.js';
import { readRules } from './rules.js';
import { readStatistics } from './statistics.js';
import { readTriggers } from './triggers.js';
import { lockViews, readViews } from './views.js';

type Client = Pick<pg.ClientBase, 'query'>;

const READERS: Readonly<
  Record<ObjectCatalog, (client: Client, schema: string, ids?: readonly string[]) => Promise<[string, CatalogObject][]>>
> = {
  pg_class: readViews,
  pg_proc: readRoutines,
  pg_trigger: readTriggers,
  pg_policy: readPolicies,
  row_security: readRowSecurity,
  pg_statistic_ext: readStatistics,
  pg_rewrite: readRules,
  privileges: readPrivileges,
  table_options: readTableOptions,
};

const idsIn = (catalog: string, names: readonly ObjectName[]): string[] =>
  names.flatMap(({ kind, id }) => (KINDS[kind].catalog === catalog ? [id] : []));

/** Returns the objects, keyed by `objectKey`. @param names limits the result; all objects of the schema if absent */
export async function readObjects(
  client: Client,
  schema: string,
  names?: readonly ObjectName[],
): Promise<ReadonlyMap<string, CatalogObject>> {
  const objects = new Map<string, CatalogObject>();
  for (const [catalog, read] of Object.entries(READERS)) {
    const ids = names && idsIn(catalog, names);
    if (ids?.length === 0) continue;
    for (const [key, object] of await read(client, schema, ids)) objects.set(key, object);
  }
  return objects;
}

/**
 * Prevents other sessions from changing or dropping the views, and from dropping the triggers, policies and rules, until
 * the transaction ends. PostgreSQL has no lock that would do the same for functions and statistics objects.
 */
export const lockObjects = (client: Client, schema: string, names: readonly ObjectName[]): Promise<void> =>
  lockViews(client, schema, [
    ...new Set(names.flatMap((name) => (isRelation(name) ? [name.id] : (objectNameParts(name).table ?? [])))),
  ]);

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
SELECT DISTINCT u.user AS object, i.type AS kind, i.identity, i.schema, i.name, u.routine
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

export interface NeededObject {
  /** The id of the object that uses this one. */
  object: string;
  /** PostgreSQL's name of the kind: `function`, `type`, `operator`. */
  kind: string;
  identity: string;
  schema: string;
  name: string | null;
  /** The id of this object if it is a function or procedure. */
  routine: string | null;
}

export async function readNeededObjects(
  client: Client,
  schema: string,
  names: readonly ObjectName[],
): Promise<NeededObject[]> {
  if (names.length === 0) return [];
  const ids = catalogsWithUses.map((catalog) => idsIn(catalog, names));
  return (await client.query<NeededObject>(NEEDED, [schema, ...ids])).rows;
}
