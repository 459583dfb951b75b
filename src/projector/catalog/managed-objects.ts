/* Reads objects of all kinds from the catalogs. */
import type pg from 'pg';
import {
  KINDS,
  type ObjectKind,
  type ObjectName,
  isRelation,
  isRoutine,
  objectNameParts,
} from '../../schema/model/objects.js';
import type { CatalogObject } from '../ddl/catalog-object.js';
import { type Sql, sql } from '../ddl/sql.js';
import { ROUTINE_ID } from '../ddl/routine-sql.js';
import { readRoutines } from './routines.js';
import { IS_OBJECT, TRIGGER_ID } from '../ddl/trigger-sql.js';
import { POLICY_ID } from '../ddl/policy-sql.js';
import { readPolicies, readRowSecurity } from './policies.js';
import { readTriggers } from './triggers.js';
import { lockViews, readViews } from './views.js';

type Client = Pick<pg.ClientBase, 'query'>;
type Catalog = (typeof KINDS)[keyof typeof KINDS]['catalog'];

const READERS: Readonly<
  Record<Catalog, (client: Client, schema: string, ids?: readonly string[]) => Promise<[string, CatalogObject][]>>
> = {
  pg_class: readViews,
  pg_proc: readRoutines,
  pg_trigger: readTriggers,
  pg_policy: readPolicies,
  row_security: readRowSecurity,
};

/** Returns the objects, keyed by `objectKey`. @param names limits the result; all objects of the schema if absent */
export async function readObjects(
  client: Client,
  schema: string,
  names?: readonly ObjectName[],
): Promise<ReadonlyMap<string, CatalogObject>> {
  const objects = new Map<string, CatalogObject>();
  for (const [catalog, read] of Object.entries(READERS)) {
    const ids = names?.flatMap(({ kind, id }) => (KINDS[kind].catalog === catalog ? [id] : []));
    if (ids?.length === 0) continue;
    for (const [key, object] of await read(client, schema, ids)) objects.set(key, object);
  }
  return objects;
}

/**
 * Prevents other sessions from changing or dropping the views, and from dropping the triggers and policies, until the
 * transaction ends. PostgreSQL has no lock that would do the same for functions.
 */
export const lockObjects = (client: Client, schema: string, names: readonly ObjectName[]): Promise<void> =>
  lockViews(client, schema, [
    ...new Set(names.flatMap((name) => (isRelation(name) ? [name.id] : (objectNameParts(name).table ?? [])))),
  ]);

/** Returns functions, types and other objects except relations that views, functions, triggers and policies use. */
const NEEDED: Sql = sql`
SELECT DISTINCT u.user AS object, i.type AS kind, i.identity, i.schema, i.name, u.routine
  FROM (
    SELECT c.relname::text AS user, d.refclassid, d.refobjid,
      (SELECT ${ROUTINE_ID} FROM pg_catalog.pg_proc p WHERE d.refclassid = 'pg_catalog.pg_proc'::regclass::oid AND p.oid = d.refobjid) AS routine
      FROM pg_catalog.pg_class c
      JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND n.nspname = $1
      JOIN pg_catalog.pg_rewrite r ON r.ev_class = c.oid AND r.rulename = '_RETURN'
      JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_rewrite'::regclass::oid AND d.objid = r.oid
     WHERE c.relname = ANY ($2::text[])
    UNION ALL
    SELECT p.id, d.refclassid, d.refobjid,
      (SELECT ${ROUTINE_ID} FROM pg_catalog.pg_proc p WHERE d.refclassid = 'pg_catalog.pg_proc'::regclass::oid AND p.oid = d.refobjid)
      FROM (SELECT p.oid, ${ROUTINE_ID} AS id FROM pg_catalog.pg_proc p
              JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace AND n.nspname = $1) p
      JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_proc'::regclass::oid AND d.objid = p.oid
     WHERE p.id = ANY ($3::text[])
    UNION ALL
    SELECT ${TRIGGER_ID}, d.refclassid, d.refobjid,
      (SELECT ${ROUTINE_ID} FROM pg_catalog.pg_proc p WHERE d.refclassid = 'pg_catalog.pg_proc'::regclass::oid AND p.oid = d.refobjid)
      FROM pg_catalog.pg_trigger t
      JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid
      JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND n.nspname = $1
      JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_trigger'::regclass::oid AND d.objid = t.oid
     WHERE ${IS_OBJECT} AND ${TRIGGER_ID} = ANY ($4::text[])
    UNION ALL
    SELECT ${POLICY_ID}, d.refclassid, d.refobjid,
      (SELECT ${ROUTINE_ID} FROM pg_catalog.pg_proc p WHERE d.refclassid = 'pg_catalog.pg_proc'::regclass::oid AND p.oid = d.refobjid)
      FROM pg_catalog.pg_policy policy
      JOIN pg_catalog.pg_class c ON c.oid = policy.polrelid
      JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND n.nspname = $1
      JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_policy'::regclass::oid AND d.objid = policy.oid
     WHERE ${POLICY_ID} = ANY ($5::text[])) u
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
  const isOfKind = (kind: ObjectKind) => (name: ObjectName) => name.kind === kind;
  const groups = [isRelation, isRoutine, isOfKind('trigger'), isOfKind('policy')];
  const ids = groups.map((isIncluded) => names.filter(isIncluded).map(({ id }) => id));
  return (await client.query<NeededObject>(NEEDED, [schema, ...ids])).rows;
}
