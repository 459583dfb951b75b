/* Reads objects from the catalogs of PostgreSQL. */
import type pg from 'pg';
import { KINDS, kindInCatalog, objectKey, type ObjectName, isTableLike } from '../../schema/model/objects.js';
import type { Enabled } from '../../schema/model/object-document.js';
import {
  fromLocalObject,
  inSchema,
  type LocalObject,
  splitQualifiedId,
  toLocalObject,
  objectNameParts,
} from '../../schema/model/object-ids.js';
import { createWords, definitionInSchema, parseDefinition } from '../../schema/sql-text/object-definition.js';
import { quotedName } from '../../schema/sql-text/quoted-name.js';
import type { CatalogObject } from '../ddl/catalog-object.js';
import { OBJECT_CATALOGS, type ObjectCatalog } from '../ddl/object-catalogs.js';
import {
  IS_OWN_ROUTINE,
  ROUTINE_ID,
  ROUTINE_TAIL,
  ROUTINE_WORD as WORD,
  IS_OBJECT,
  TRIGGER_EVENTS,
  TRIGGER_ID,
  TRIGGER_TAIL,
  RULE_EVENT,
  RULE_TAIL,
  HAS_ROW_SECURITY,
  POLICY_ID,
  POLICY_TAIL,
  JOIN_USED_TYPE,
  RELATION_CATALOG,
  ROW_SECURITY_TAIL,
} from '../ddl/object-sql.js';
import { type Sql, ownSchemaOid, sql, literal } from '../ddl/sql.js';
import { HAS_TABLE_OPTIONS, TABLE_OPTIONS_TAIL } from '../ddl/table-options.js';
import { PREPARED_NAME } from '../online/copy.js';
import { readPrivileges } from './privileges.js';
import { readSequences, readTypes } from './types-and-sequences.js';
import { lockViews, readViews } from './views.js';

/* Reads functions, procedures and aggregates with everything that restores them after they were dropped. */

const ROUTINE_NAME = sql`pg_catalog.format('%I.%I(%s)', n.nspname, p.proname, pg_catalog.oidvectortypes(p.proargtypes))`;

const grantee = (role: Sql): Sql =>
  sql`CASE ${role} WHEN 0::oid THEN 'PUBLIC' ELSE pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(${role})::text) END`;

/** SQL condition: the row `d` of pg_default_acl applies to a routine that the service creates in the schema of `p`. */
const IS_DEFAULT = sql`(d.defaclobjtype = 'f' AND d.defaclnamespace IN (0::oid, p.pronamespace)
    AND d.defaclrole = (SELECT r.oid FROM pg_catalog.pg_roles r WHERE r.rolname = current_user))`;

/**
 * Selects roles that default privileges grant access to new routines. A recreated routine would get grants that the
 * dropped routine did not have.
 */
const DEFAULTS = sql`
  SELECT DISTINCT x.grantee FROM pg_catalog.pg_default_acl d, pg_catalog.aclexplode(d.defaclacl) x
   WHERE ${IS_DEFAULT} AND x.grantee <> p.proowner`;

/**
 * True if privileges must be restored. Without privileges of its own and without default privileges, a recreated
 * routine has the same privileges as before. Default privileges can also revoke EXECUTE from PUBLIC.
 */
const HAS_PRIVILEGES = sql`(p.proacl IS NOT NULL OR EXISTS (SELECT FROM pg_catalog.pg_default_acl d WHERE ${IS_DEFAULT}))`;

const RESTORING_ROUTINE = sql`
  SELECT 0 AS rank, pg_catalog.format('REVOKE ALL ON %s %s FROM %s', ${WORD}, ${ROUTINE_NAME}, ${grantee(sql`g.grantee`)}) AS text
    FROM (SELECT 0::oid AS grantee UNION ${DEFAULTS}) g WHERE ${HAS_PRIVILEGES}
  UNION ALL SELECT 1, pg_catalog.format('GRANT %s ON %s %s TO %s%s', x.privilege_type, ${WORD}, ${ROUTINE_NAME}, ${grantee(sql`x.grantee`)},
           CASE WHEN x.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END)
    FROM pg_catalog.aclexplode(coalesce(p.proacl, pg_catalog.acldefault('f'::"char", p.proowner))) x
   WHERE x.grantee <> p.proowner AND ${HAS_PRIVILEGES}
  UNION ALL SELECT 4, pg_catalog.format('ALTER %s %s OWNER TO %I', ${WORD}, ${ROUTINE_NAME}, pg_catalog.pg_get_userbyid(p.proowner))
   WHERE pg_catalog.pg_get_userbyid(p.proowner) <> current_user`;

/**
 * Selects what a routine uses: columns in bodies that PostgreSQL has parsed (BEGIN ATOMIC), row types, and called
 * routines. PostgreSQL records no dependency on the transition type of an aggregate.
 */
const USES = sql`
  SELECT ${RELATION_CATALOG} AS catalog, un.oid AS place, un.nspname, uc.relname::text AS name, ua.attname AS "column", false AS "isRowType"
    FROM pg_catalog.pg_depend d
    JOIN pg_catalog.pg_class uc ON uc.oid = d.refobjid JOIN pg_catalog.pg_namespace un ON un.oid = uc.relnamespace
    LEFT JOIN pg_catalog.pg_attribute ua ON ua.attrelid = d.refobjid AND ua.attnum = d.refobjsubid AND d.refobjsubid > 0
   WHERE d.classid = 'pg_catalog.pg_proc'::regclass::oid AND d.objid = p.oid AND d.refclassid = 'pg_catalog.pg_class'::regclass::oid
  UNION SELECT 'pg_class', un.oid, un.nspname, uc.relname::text, NULL, true
    FROM (SELECT d.refobjid FROM pg_catalog.pg_depend d
           WHERE d.classid = 'pg_catalog.pg_proc'::regclass::oid AND d.objid = p.oid AND d.refclassid = 'pg_catalog.pg_type'::regclass::oid
          UNION SELECT s.type FROM pg_catalog.pg_aggregate g, LATERAL (VALUES (g.aggtranstype), (g.aggmtranstype)) AS s (type)
           WHERE g.aggfnoid = p.oid) d
    JOIN pg_catalog.pg_type t ON t.oid = d.refobjid
    LEFT JOIN pg_catalog.pg_type e ON e.oid = t.typelem AND e.typarray = t.oid
    JOIN pg_catalog.pg_class uc ON uc.oid = coalesce(nullif(t.typrelid, 0::oid), e.typrelid) AND uc.relkind <> 'c'
    JOIN pg_catalog.pg_namespace un ON un.oid = uc.relnamespace
  UNION SELECT 'pg_proc', un.oid, un.nspname, u.id, NULL, false
    FROM pg_catalog.pg_depend d
    JOIN LATERAL (SELECT p.pronamespace, ${ROUTINE_ID} AS id FROM pg_catalog.pg_proc p WHERE p.oid = d.refobjid) u ON true
    JOIN pg_catalog.pg_namespace un ON un.oid = u.pronamespace
   WHERE d.classid = 'pg_catalog.pg_proc'::regclass::oid AND d.objid = p.oid AND d.refclassid = 'pg_catalog.pg_proc'::regclass::oid
  UNION SELECT 'pg_type', un.oid, un.nspname, ut.typname::text, NULL, false
    FROM (SELECT d.refclassid, d.refobjid FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_catalog.pg_proc'::regclass::oid AND d.objid = p.oid
          UNION SELECT 'pg_catalog.pg_type'::regclass::oid, s.type FROM pg_catalog.pg_aggregate g, LATERAL (VALUES (g.aggtranstype), (g.aggmtranstype)) AS s (type)
           WHERE g.aggfnoid = p.oid) d ${JOIN_USED_TYPE}`;

/**
 * Selects functions, procedures and aggregates. $1 is the managed schema, $2 the ids or null for all. The functions of
 * range types are left out.
 */
const ROUTINES: Sql = sql`
SELECT r.* FROM (
SELECT ${ROUTINE_ID} AS id, p.proname::text AS name, p.prokind::text AS letter, ${ROUTINE_TAIL} AS query,
  (SELECT d.description FROM pg_catalog.pg_description d
    WHERE d.objoid = p.oid AND d.classoid = 'pg_catalog.pg_proc'::regclass::oid AND d.objsubid = 0) AS comment,
  (SELECT coalesce(pg_catalog.array_agg(r.text ORDER BY r.rank, r.text), '{}') FROM (${RESTORING_ROUTINE}) AS r (rank, text)) AS restoring,
  (SELECT coalesce(pg_catalog.json_agg(pg_catalog.json_build_object('catalog', u.catalog,
      'schema', CASE WHEN u.place = ${ownSchemaOid} THEN '' ELSE u.nspname::text END, 'name', u.name, 'column', u."column", 'isRowType', u."isRowType")), '[]')
     FROM (${USES}) u) AS uses,
  (SELECT x.extname::text FROM pg_catalog.pg_depend e JOIN pg_catalog.pg_extension x ON x.oid = e.refobjid
    WHERE e.classid = 'pg_catalog.pg_proc'::regclass::oid AND e.objid = p.oid AND e.deptype = 'e') AS extension
FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace AND n.nspname = $1
WHERE ($2::text[] IS NULL OR ${ROUTINE_ID} = ANY ($2::text[]))
  AND ${IS_OWN_ROUTINE}) r
ORDER BY r.id COLLATE "C"`;

type RoutineRow = Pick<CatalogObject, 'id' | 'query' | 'comment' | 'restoring' | 'uses' | 'extension'> & {
  name: string;
  letter: string;
};

/** Returns the routines, keyed by `objectKey`. @param ids limits the result; all routines of the schema if absent */
async function readRoutines(
  client: Pick<pg.ClientBase, 'query'>,
  schema: string,
  ids?: readonly string[],
): Promise<[string, CatalogObject][]> {
  const { rows } = await client.query<RoutineRow>(ROUTINES, [schema, ids ?? null]);
  return rows.map(({ name, letter, ...row }) => {
    const kind = kindInCatalog('pg_proc', letter);
    const definition = `CREATE ${KINDS[kind].sqlWords} ${quotedName(name)}${row.query}`;
    return [
      objectKey({ kind, id: row.id }),
      { ...row, kind, definition, indexes: null, enabled: null, populated: true },
    ];
  });
}

/* Reads triggers of tables and views. Also has SQL for other objects of tables. */

/**
 * SQL for what an object of the table `c` uses: the table, the columns and functions in its definition, and other
 * relations.
 * @param table the oid of the table
 */
const usesOnTable = (catalog: CommentedCatalog, oid: Sql, table: Sql): Sql => sql`
  (SELECT pg_catalog.json_agg(pg_catalog.json_build_object('catalog', u.catalog,
      'schema', CASE WHEN u.place = ${ownSchemaOid} THEN '' ELSE u.nspname::text END, 'name', u.name, 'column', u."column", 'isRowType', u."isRowType"))
     FROM (
  SELECT 'pg_class' AS catalog, n.oid AS place, n.nspname, c.relname::text AS name, NULL::name AS "column", true AS "isRowType"
  UNION SELECT ${RELATION_CATALOG}, un.oid, un.nspname, uc.relname::text, ua.attname, false
    FROM pg_catalog.pg_depend d
    JOIN pg_catalog.pg_class uc ON uc.oid = d.refobjid JOIN pg_catalog.pg_namespace un ON un.oid = uc.relnamespace
    LEFT JOIN pg_catalog.pg_attribute ua ON ua.attrelid = d.refobjid AND ua.attnum = d.refobjsubid AND d.refobjsubid > 0
   WHERE d.classid = ${regclass(catalog)} AND d.objid = ${oid} AND d.refclassid = 'pg_catalog.pg_class'::regclass::oid
     AND (d.refobjsubid > 0 OR d.refobjid <> ${table})
  UNION SELECT 'pg_proc', un.oid, un.nspname, u.id, NULL, false
    FROM (SELECT p.pronamespace, ${ROUTINE_ID} AS id FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_proc p ON p.oid = d.refobjid
           WHERE d.classid = ${regclass(catalog)} AND d.objid = ${oid} AND d.refclassid = 'pg_catalog.pg_proc'::regclass::oid) u
    JOIN pg_catalog.pg_namespace un ON un.oid = u.pronamespace
  UNION SELECT 'pg_type', un.oid, un.nspname, ut.typname::text, NULL, false
    FROM pg_catalog.pg_depend d ${JOIN_USED_TYPE} WHERE d.classid = ${regclass(catalog)} AND d.objid = ${oid}) u)`;

const regclass = (catalog: CommentedCatalog): Sql => sql`${literal(`pg_catalog.${catalog}`)}::regclass::oid`;

type CommentedCatalog = 'pg_trigger' | 'pg_policy' | 'pg_class' | 'pg_statistic_ext' | 'pg_rewrite';

/** SQL for the comment on an object. Null if it has none. */
const commentIn = (catalog: CommentedCatalog, oid: Sql): Sql => sql`
  (SELECT d.description FROM pg_catalog.pg_description d
    WHERE d.objoid = ${oid} AND d.classoid = ${regclass(catalog)} AND d.objsubid = 0)`;

/** SQL for the extension that owns the object or its table `c`. Null if none does. */
const extensionOfTable = (catalog: CommentedCatalog, oid: Sql): Sql => sql`
  (SELECT x.extname::text FROM pg_catalog.pg_depend e JOIN pg_catalog.pg_extension x ON x.oid = e.refobjid
    WHERE e.deptype = 'e' AND ((e.classid = ${regclass(catalog)} AND e.objid = ${oid})
      OR (e.classid = ${regclass('pg_class')} AND e.objid = c.oid)) LIMIT 1)`;

/** SQL for the enabled state of a trigger or a rule. @param letter `tgenabled` or `ev_enabled` */
const enabledOf = (letter: Sql): Sql =>
  sql`CASE ${letter} WHEN 'D' THEN 'disabled' WHEN 'R' THEN 'replica' WHEN 'A' THEN 'always' ELSE 'origin' END`;

/**
 * Selects triggers. $1 is the managed schema, $2 the ids or null for all. Triggers that the service creates while it
 * copies values are left out.
 */
const TRIGGERS: Sql = sql`
SELECT r.* FROM (
SELECT ${TRIGGER_ID} AS id, t.tgname::text AS name, c.relname::text AS "table", t.tgconstraint <> 0::oid AS "isConstraint",
  ${TRIGGER_EVENTS} AS events, ${TRIGGER_TAIL} AS tail,
  ${enabledOf(sql`t.tgenabled`)} AS enabled,
  ${commentIn('pg_trigger', sql`t.oid`)} AS comment, ${usesOnTable('pg_trigger', sql`t.oid`, sql`t.tgrelid`)} AS uses,
  ${extensionOfTable('pg_trigger', sql`t.oid`)} AS extension
FROM pg_catalog.pg_trigger t
JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND n.nspname = $1
WHERE ${IS_OBJECT} AND t.tgname !~ ${literal(PREPARED_NAME)}::text
  AND ($2::text[] IS NULL OR ${TRIGGER_ID} = ANY ($2::text[]))) r
ORDER BY r.id COLLATE "C"`;

interface TriggerRow extends Pick<CatalogObject, 'id' | 'comment' | 'uses' | 'extension'> {
  name: string;
  table: string;
  isConstraint: boolean;
  events: string;
  tail: string;
  enabled: Enabled;
}

/** Returns the triggers, keyed by `objectKey`. @param ids limits the result; all triggers of the schema if absent */
async function readTriggers(
  client: Pick<pg.ClientBase, 'query'>,
  schema: string,
  ids?: readonly string[],
): Promise<[string, CatalogObject][]> {
  const { rows } = await client.query<TriggerRow>(TRIGGERS, [schema, ids ?? null]);
  return rows.map(({ name, table, isConstraint, events, tail, ...row }) => {
    const kind = 'trigger' as const;
    const words = createWords(kind, { isConstraint });
    const definition = `CREATE ${words} ${quotedName(name)} ${events} ON ${quotedName(table)} ${tail}`;
    const query = `${events} ON ${tail}`;
    return [
      objectKey({ kind, id: row.id }),
      { ...row, kind, query, definition, indexes: null, populated: true, restoring: [] },
    ];
  });
}

/* Reads rules of tables and views, except those that are the queries of views. */

const rules = OBJECT_CATALOGS.pg_rewrite;

/** Selects rules. $1 is the managed schema, $2 the ids or null for all. */
const RULES: Sql = sql`
SELECT f.* FROM (
SELECT ${rules.id} AS id, r.rulename::text AS name, c.relname::text AS "table", ${RULE_EVENT} AS event, ${RULE_TAIL} AS tail,
  ${enabledOf(sql`r.ev_enabled`)} AS enabled, ${commentIn('pg_rewrite', sql`r.oid`)} AS comment,
  ${usesOnTable('pg_rewrite', sql`r.oid`, sql`r.ev_class`)} AS uses, ${extensionOfTable('pg_rewrite', sql`r.oid`)} AS extension
FROM ${rules.from}
WHERE n.nspname = $1 AND ${rules.where} AND ($2::text[] IS NULL OR ${rules.id} = ANY ($2::text[]))) f
ORDER BY f.id COLLATE "C"`;

interface RuleRow extends Pick<CatalogObject, 'id' | 'comment' | 'uses' | 'extension'> {
  name: string;
  table: string;
  event: string;
  tail: string;
  enabled: Enabled;
}

/** Returns the rules, keyed by `objectKey`. @param ids limits the result; all rules of the schema if absent */
async function readRules(
  client: Pick<pg.ClientBase, 'query'>,
  schema: string,
  ids?: readonly string[],
): Promise<[string, CatalogObject][]> {
  const { rows } = await client.query<RuleRow>(RULES, [schema, ids ?? null]);
  return rows.map(({ name, table, event, tail, ...row }) => {
    const kind = 'rule' as const;
    const definition = `CREATE RULE ${quotedName(name)} AS ON ${event} TO ${quotedName(table)}${tail}`;
    const query = `ON ${event}${tail}`;
    return [
      objectKey({ kind, id: row.id }),
      { ...row, kind, query, definition, indexes: null, populated: true, restoring: [] },
    ];
  });
}

/* Reads policies, row security and options of tables. */

/** Selects policies. $1 is the managed schema, $2 the ids or null for all. */
const POLICIES: Sql = sql`
SELECT r.* FROM (
SELECT ${POLICY_ID} AS id, policy.polname::text AS name, c.relname::text AS "table", ${POLICY_TAIL} AS tail,
  ${commentIn('pg_policy', sql`policy.oid`)} AS comment, ${usesOnTable('pg_policy', sql`policy.oid`, sql`policy.polrelid`)} AS uses,
  ${extensionOfTable('pg_policy', sql`policy.oid`)} AS extension
FROM pg_catalog.pg_policy policy
JOIN pg_catalog.pg_class c ON c.oid = policy.polrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND n.nspname = $1
WHERE $2::text[] IS NULL OR ${POLICY_ID} = ANY ($2::text[])) r
ORDER BY r.id COLLATE "C"`;

/** Selects tables with a property. $1 is the managed schema, $2 the names or null for all. */
const tablesWith = (condition: Sql, tail: Sql): Sql => sql`
SELECT c.relname::text AS id, ${tail} AS tail,
  pg_catalog.json_build_array(pg_catalog.json_build_object('catalog', 'pg_class', 'schema', n.nspname::text, 'name', c.relname::text, 'column', NULL, 'isRowType', true)) AS uses,
  ${extensionOfTable('pg_class', sql`c.oid`)} AS extension
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND n.nspname = $1
WHERE ${condition} AND ($2::text[] IS NULL OR c.relname = ANY ($2::text[]))
ORDER BY c.relname COLLATE "C"`;

type PolicyRow = Pick<CatalogObject, 'id' | 'uses' | 'extension'> & { tail: string };

/** The members that these objects do not have. */
const NOTHING = { indexes: null, enabled: null, populated: true, restoring: [] };

/** Returns the policies, keyed by `objectKey`. @param ids limits the result; all policies of the schema if absent */
async function readPolicies(
  client: Pick<pg.ClientBase, 'query'>,
  schema: string,
  ids?: readonly string[],
): Promise<[string, CatalogObject][]> {
  const { rows } = await client.query<PolicyRow & { name: string; table: string; comment: string | null }>(POLICIES, [
    schema,
    ids ?? null,
  ]);
  return rows.map(({ name, table, tail, ...row }) => {
    const kind = 'policy' as const;
    const definition = `CREATE POLICY ${quotedName(name)} ON ${quotedName(table)} ${tail}`.trimEnd();
    return [objectKey({ kind, id: row.id }), { ...NOTHING, ...row, kind, query: tail, definition }];
  });
}

/**
 * Returns a function that reads objects of which a table has at most one, keyed by `objectKey`. Its last argument limits the
 * result to tables with these names.
 */
const readerOfTables =
  (kind: 'row_security' | 'table_options', query: Sql) =>
  async (
    client: Pick<pg.ClientBase, 'query'>,
    schema: string,
    tables?: readonly string[],
  ): Promise<[string, CatalogObject][]> => {
    const { rows } = await client.query<PolicyRow>(query, [schema, tables ?? null]);
    return rows.map(({ tail, ...row }) => {
      const definition = `ALTER TABLE ${quotedName(row.id)} ${tail}`;
      return [objectKey({ kind, id: row.id }), { ...NOTHING, ...row, comment: null, kind, query: tail, definition }];
    });
  };

const readRowSecurity = readerOfTables('row_security', tablesWith(HAS_ROW_SECURITY, ROW_SECURITY_TAIL));
const readTableOptions = readerOfTables('table_options', tablesWith(HAS_TABLE_OPTIONS, TABLE_OPTIONS_TAIL));

/* Reads statistics objects of tables. */

const statistics = OBJECT_CATALOGS.pg_statistic_ext;

const NAME = sql`pg_catalog.format('%I.%I', n.nspname, s.stxname)`;

/** SQL for the statements that no snapshot contains. Before PostgreSQL 17, -1 stands for the default target. */
const RESTORING = sql`
  SELECT pg_catalog.format('ALTER STATISTICS %s SET STATISTICS %s', ${NAME}, s.stxstattarget) WHERE s.stxstattarget >= 0
  UNION ALL SELECT pg_catalog.format('ALTER STATISTICS %s OWNER TO %I', ${NAME}, pg_catalog.pg_get_userbyid(s.stxowner))
   WHERE pg_catalog.pg_get_userbyid(s.stxowner) <> current_user`;

/** Selects statistics objects. $1 is the managed schema, $2 the names or null for all. */
const STATISTICS: Sql = sql`
SELECT ${statistics.id}::text AS id, ${statistics.printed} AS query, ${commentIn('pg_statistic_ext', sql`s.oid`)} AS comment,
  (SELECT coalesce(pg_catalog.array_agg(r.text), '{}') FROM (${RESTORING}) r (text)) AS restoring,
  ${usesOnTable('pg_statistic_ext', sql`s.oid`, sql`s.stxrelid`)} AS uses, ${extensionOfTable('pg_statistic_ext', sql`s.oid`)} AS extension
FROM ${statistics.from}
WHERE n.nspname = $1 AND ${statistics.where} AND ($2::text[] IS NULL OR ${statistics.id} = ANY ($2::text[]))
ORDER BY s.stxname COLLATE "C"`;

type StatisticsRow = Pick<CatalogObject, 'id' | 'query' | 'comment' | 'restoring' | 'uses' | 'extension'>;

/** Returns the statistics objects, keyed by `objectKey`. @param names limits the result; all of the schema if absent */
async function readStatistics(
  client: Pick<pg.ClientBase, 'query'>,
  schema: string,
  names?: readonly string[],
): Promise<[string, CatalogObject][]> {
  const { rows } = await client.query<StatisticsRow>(STATISTICS, [schema, names ?? null]);
  return rows.map((row) => {
    const object = { kind: 'statistics' as const, indexes: null, enabled: null, populated: true, ...row };
    return [objectKey(object), { ...object, definition: `CREATE STATISTICS ${quotedName(row.id)} ${row.query}` }];
  });
}

/* Reads objects of all kinds. */

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
  pg_sequence: readSequences,
  pg_type: readTypes,
};

export const idsIn = (catalog: string, names: readonly ObjectName[]): string[] =>
  names.flatMap(({ kind, id }) => (KINDS[kind].catalog === catalog ? [id] : []));

/** The default schema, and all managed schemas. If absent, only the default schema is managed. */
export interface ManagedSchemas {
  schema: string;
  schemas?: readonly string[] | undefined;
}

/** Groups objects by schema, with the ids that the queries use. @param usual the default schema */
export function localObjects(names: readonly ObjectName[], usual: string): ReadonlyMap<string, LocalObject[]> {
  const groups = new Map<string, LocalObject[]>();
  for (const name of names) {
    const object = toLocalObject(name);
    const place = object.schema ?? usual;
    groups.set(place, [...(groups.get(place) ?? []), object]);
  }
  return groups;
}

/** Returns the objects, keyed by `objectKey`. @param names limits the result; all objects of the schemas if absent */
export async function readObjects(
  client: Client,
  { schema: usual, schemas = [usual] }: ManagedSchemas,
  names?: readonly ObjectName[],
): Promise<ReadonlyMap<string, CatalogObject>> {
  const objects = new Map<string, CatalogObject>();
  const groups = names && localObjects(names, usual);
  for (const place of groups?.keys() ?? schemas)
    for (const local of await readInSchema(client, place, groups?.get(place))) {
      const object = fromCatalog(local, place === usual ? undefined : place);
      objects.set(objectKey(object), object);
    }
  return objects;
}

/** @param names limits the result; all objects of the schema if absent */
async function readInSchema(client: Client, schema: string, names?: readonly ObjectName[]): Promise<CatalogObject[]> {
  const objects: CatalogObject[] = [];
  for (const [catalog, read] of Object.entries(READERS)) {
    const ids = names && idsIn(catalog, names);
    if (ids?.length !== 0) objects.push(...(await read(client, schema, ids)).map(([, object]) => object));
  }
  return objects;
}

/** Returns the object with the id and the definition that it has in a schema other than the default one. */
function fromCatalog(local: CatalogObject, schema: string | undefined): CatalogObject {
  const { id } = fromLocalObject({ ...local, schema });
  if (schema === undefined) return { ...local, id };
  const parsed = parseDefinition(local.definition);
  const uses = local.uses.map((use) =>
    use.rule == null ? use : { ...use, rule: inSchema({ kind: 'rule', id: use.rule }, schema).id },
  );
  // Adoption rejects a definition that cannot be parsed.
  return typeof parsed === 'string'
    ? { ...local, id, uses }
    : { ...local, id, uses, definition: definitionInSchema(parsed, schema) };
}

/**
 * Prevents other sessions from changing or dropping the views, and from dropping the triggers, policies, rules and
 * sequences, until the transaction ends. PostgreSQL has no lock that would do the same for functions, types and statistics objects.
 * @param schema the default schema
 */
export async function lockObjects(client: Client, schema: string, names: readonly ObjectName[]): Promise<void> {
  for (const [place, objects] of localObjects(names, schema)) {
    const relations = objects.flatMap((object) =>
      isTableLike(object) ? [object.id] : (splitTable(objectNameParts(object).table) ?? []),
    );
    await lockViews(client, place, [...new Set(relations)]);
  }
}

const splitTable = (table: string | null): string | undefined =>
  table === null ? undefined : splitQualifiedId(table).name;
