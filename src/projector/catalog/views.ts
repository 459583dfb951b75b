/* Reads views and materialized views with everything that restores them after they were dropped. */
import type pg from 'pg';
import { quotedName } from '../../schema/sql-text/quoted-name.js';
import { KINDS, type ObjectKind, kindInCatalog, objectKey } from '../../schema/model/objects.js';
import type { ObjectIndex } from '../../schema/model/object-document.js';
import type { CatalogObject } from '../ddl/catalog-object.js';
import { type Sql, join, ownSchemaOid, qualified, sql } from '../ddl/sql.js';
import { storageWord } from '../ddl/table-options.js';
import { ROUTINE_ID, IS_RULE, JOIN_USED_TYPE, RELATION_CATALOG, RULE_ID } from '../ddl/object-sql.js';
import { isLocked } from '../../postgres/errors.js';

const NAME = sql`pg_catalog.format('%I.%I', n.nspname, c.relname)`;

/** SQL for the keywords that follow ALTER for the kind of view. */
const ALTER = sql`CASE c.relkind WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE 'VIEW' END`;

/**
 * SQL that revokes default privileges of this account, and of the owner, who creates materialized views. They would add
 * grants that the dropped view did not have.
 */
const REVOKED = sql`
  SELECT 0 AS rank, pg_catalog.format('REVOKE ALL ON TABLE %s FROM %s', ${NAME},
           CASE g.grantee WHEN 0::oid THEN 'PUBLIC' ELSE pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(g.grantee)::text) END) AS text
    FROM (SELECT DISTINCT x.grantee FROM pg_catalog.pg_default_acl d, pg_catalog.aclexplode(d.defaclacl) x
           WHERE d.defaclobjtype = 'r' AND d.defaclrole IN (c.relowner, (SELECT r.oid FROM pg_catalog.pg_roles r WHERE r.rolname = current_user))
             AND d.defaclnamespace IN (0::oid, c.relnamespace)) g
   WHERE g.grantee <> c.relowner`;

const privileges = (columns: Sql): Sql => sql`
  SELECT 1 AS rank, pg_catalog.format('GRANT %s%s ON TABLE %s TO %s%s', x.privilege_type, ${columns}, ${NAME},
           CASE x.grantee WHEN 0::oid THEN 'PUBLIC' ELSE pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(x.grantee)::text) END,
           CASE WHEN x.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END) AS text`;

const RESTORING = sql`
  ${REVOKED}
  UNION ALL ${privileges(sql`''`)}
    FROM pg_catalog.aclexplode(c.relacl) x WHERE x.grantee <> c.relowner
  UNION ALL ${privileges(sql`pg_catalog.format(' (%I)', a.attname)`)}
    FROM pg_catalog.pg_attribute a, pg_catalog.aclexplode(a.attacl) x WHERE a.attrelid = c.oid AND a.attnum > 0
  UNION ALL SELECT 2, pg_catalog.format('COMMENT ON COLUMN %s.%I IS %L', ${NAME}, a.attname, d.description)
    FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_description d
      ON d.classoid = 'pg_catalog.pg_class'::regclass::oid AND d.objoid = c.oid AND d.objsubid = a.attnum
   WHERE a.attrelid = c.oid AND a.attnum > 0
  UNION ALL SELECT 2, pg_catalog.format('ALTER VIEW %s ALTER COLUMN %I SET DEFAULT %s', ${NAME}, a.attname, pg_catalog.pg_get_expr(e.adbin, e.adrelid))
    FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_attrdef e ON e.adrelid = a.attrelid AND e.adnum = a.attnum
   WHERE a.attrelid = c.oid
  UNION ALL SELECT 2, pg_catalog.format('ALTER MATERIALIZED VIEW %s ALTER COLUMN %I SET %s', ${NAME}, a.attname, o.text)
    FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = a.atttypid, LATERAL (VALUES
           (CASE WHEN a.attstattarget >= 0 THEN pg_catalog.format('STATISTICS %s', a.attstattarget) END),
           (CASE WHEN a.attstorage <> t.typstorage THEN pg_catalog.format('STORAGE %s', ${storageWord(sql`a.attstorage`)}) END),
           (CASE a.attcompression WHEN 'p' THEN 'COMPRESSION pglz' WHEN 'l' THEN 'COMPRESSION lz4' END),
           (pg_catalog.format('(%s)', nullif(pg_catalog.array_to_string(a.attoptions, ', '), '')))) o (text)
   WHERE c.relkind = 'm' AND a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND o.text <> '()'
  UNION ALL SELECT 3, pg_catalog.pg_get_ruledef(r.oid) FROM pg_catalog.pg_rewrite r
   WHERE r.ev_class = c.oid AND r.rulename <> '_RETURN'
  UNION ALL SELECT 3, pg_catalog.pg_get_triggerdef(t.oid) FROM pg_catalog.pg_trigger t
   WHERE t.tgrelid = c.oid AND NOT t.tgisinternal
  UNION ALL SELECT 4, pg_catalog.format('ALTER %s %s OWNER TO %I', ${ALTER}, ${NAME}, pg_catalog.pg_get_userbyid(c.relowner))
   WHERE pg_catalog.pg_get_userbyid(c.relowner) <> current_user`;

const RESTORING_INDEX = sql`
  SELECT pg_catalog.format('COMMENT ON INDEX %I.%I IS %L', n.nspname, ic.relname, d.description)
    FROM pg_catalog.pg_description d
   WHERE d.classoid = 'pg_catalog.pg_class'::regclass::oid AND d.objoid = ic.oid AND d.objsubid = 0
  UNION ALL SELECT pg_catalog.format('ALTER MATERIALIZED VIEW %s CLUSTER ON %I', ${NAME}, ic.relname) WHERE i.indisclustered`;

/** SQL for the id of the rule. Null for the query of the view. */
const RULE = sql`CASE WHEN ${IS_RULE} THEN ${RULE_ID} END`;

/** Selects views. $1 is the managed schema, $2 the names or null for all. */
const VIEWS: Sql = sql`
SELECT c.relname::text AS id, c.relkind::text AS kind,
  pg_catalog.rtrim(pg_catalog.pg_get_viewdef(c.oid), ';') AS query,
  pg_catalog.array_to_string(c.reloptions, ', ') AS options,
  CASE WHEN c.relkind = 'm' THEN nullif(am.amname::text, 'heap') END AS method,
  (SELECT t.spcname::text FROM pg_catalog.pg_tablespace t WHERE t.oid = c.reltablespace) AS tablespace,
  (SELECT d.description FROM pg_catalog.pg_description d
    WHERE d.objoid = c.oid AND d.classoid = 'pg_catalog.pg_class'::regclass::oid AND d.objsubid = 0) AS comment,
  c.relispopulated AS populated,
  CASE WHEN c.relkind = 'm' THEN coalesce((SELECT pg_catalog.json_agg(pg_catalog.json_build_object('name', ic.relname, 'unique', i.indisunique,
      'definition', pg_catalog.substr(pg_catalog.pg_get_indexdef(i.indexrelid), pg_catalog.strpos(pg_catalog.pg_get_indexdef(i.indexrelid), ' USING ') + 1),
      'restoring', (SELECT coalesce(pg_catalog.array_agg(r.text ORDER BY r.text), '{}') FROM (${RESTORING_INDEX}) AS r (text)))
      ORDER BY ic.relname COLLATE "C")
    FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class ic ON ic.oid = i.indexrelid WHERE i.indrelid = c.oid), '[]') END AS indexes,
  (SELECT coalesce(pg_catalog.array_agg(r.text ORDER BY r.rank, r.text), '{}') FROM (${RESTORING}) AS r (rank, text)) AS restoring,
  (SELECT coalesce(pg_catalog.json_agg(pg_catalog.json_build_object('catalog', u.catalog, 'schema', u.schema, 'name', u.name, 'column', u.attname, 'rule', u.rule)), '[]')
     FROM (SELECT ${RELATION_CATALOG} AS catalog, CASE WHEN un.oid = ${ownSchemaOid} THEN '' ELSE un.nspname::text END AS schema, uc.relname::text AS name, ua.attname, ${RULE} AS rule
             FROM pg_catalog.pg_rewrite r
             JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_rewrite'::regclass::oid AND d.objid = r.oid
              AND d.refclassid = 'pg_catalog.pg_class'::regclass::oid AND d.refobjid <> c.oid
             JOIN pg_catalog.pg_class uc ON uc.oid = d.refobjid
             JOIN pg_catalog.pg_namespace un ON un.oid = uc.relnamespace
             LEFT JOIN pg_catalog.pg_attribute ua ON ua.attrelid = d.refobjid AND ua.attnum = d.refobjsubid AND d.refobjsubid > 0
            WHERE r.ev_class = c.oid
            UNION SELECT 'pg_proc', un.nspname::text, u.id, NULL, ${RULE}
             FROM pg_catalog.pg_rewrite r
             JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_rewrite'::regclass::oid AND d.objid = r.oid
              AND d.refclassid = 'pg_catalog.pg_proc'::regclass::oid
             JOIN LATERAL (SELECT p.pronamespace, ${ROUTINE_ID} AS id FROM pg_catalog.pg_proc p WHERE p.oid = d.refobjid) u ON true
             JOIN pg_catalog.pg_namespace un ON un.oid = u.pronamespace
            WHERE r.ev_class = c.oid
            UNION SELECT 'pg_type', un.nspname::text, ut.typname::text, NULL, ${RULE}
             FROM pg_catalog.pg_rewrite r
             JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_rewrite'::regclass::oid AND d.objid = r.oid ${JOIN_USED_TYPE}
            WHERE r.ev_class = c.oid
            UNION SELECT 'pg_type', un.nspname::text, ut.typname::text, NULL, NULL
             FROM pg_catalog.pg_depend d ${JOIN_USED_TYPE}
            WHERE d.classid = 'pg_catalog.pg_class'::regclass::oid AND d.objid = c.oid) u) AS uses,
  (SELECT x.extname::text FROM pg_catalog.pg_depend e JOIN pg_catalog.pg_extension x ON x.oid = e.refobjid
    WHERE e.classid = 'pg_catalog.pg_class'::regclass::oid AND e.objid = c.oid AND e.deptype = 'e') AS extension
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND n.nspname = $1
LEFT JOIN pg_catalog.pg_am am ON am.oid = c.relam
WHERE c.relkind IN ('v', 'm') AND ($2::text[] IS NULL OR c.relname = ANY ($2::text[]))
ORDER BY c.relname COLLATE "C"`;

type Row = Pick<CatalogObject, 'id' | 'comment' | 'populated' | 'restoring' | 'uses' | 'extension'> & {
  kind: string;
  query: string;
  options: string | null;
  method: string | null;
  tablespace: string | null;
  indexes: { name: string; unique: boolean; definition: string; restoring: string[] }[] | null;
};

/** Returns the views, keyed by `objectKey`. @param names limits the result; all views of the schema if absent */
export async function readViews(
  client: Pick<pg.ClientBase, 'query'>,
  schema: string,
  names?: readonly string[],
): Promise<[string, CatalogObject][]> {
  const { rows } = await client.query<Row>(VIEWS, [schema, names ?? null]);
  return rows.map((row) => {
    const { id, comment, populated, restoring, uses, extension, indexes } = row;
    const kind = kindInCatalog('pg_class', row.kind);
    const withUnique = indexes?.map(({ name, unique, definition }): ObjectIndex =>
      unique ? { name, unique, definition } : { name, definition },
    );
    const restoringIndexes = new Map(indexes?.map((each) => [each.name, each.restoring]));
    const more = { restoringIndexes, indexes: withUnique ?? null, enabled: null, restoring, uses, extension };
    const view = { kind, id, query: row.query, definition: definitionOf(row, kind), comment, populated, ...more };
    return [objectKey(view), view];
  });
}

/**
 * Prevents other sessions from changing or dropping the views until the transaction ends. LOCK TABLE is not used,
 * because it rejects materialized views and also locks all tables that a view reads.
 */
export async function lockViews(
  client: Pick<pg.ClientBase, 'query'>,
  schema: string,
  names: readonly string[],
): Promise<void> {
  if (names.length === 0 || (await isHeld(client, schema, names)) || names.length === 1) return;
  // Locks each view separately. Otherwise one view that this account may not read would leave all others unlocked.
  for (const name of names) await isHeld(client, schema, [name]);
}

async function isHeld(client: Pick<pg.ClientBase, 'query'>, schema: string, names: readonly string[]) {
  const reads = names.map((name) => sql`EXPLAIN SELECT FROM ${qualified(schema, name)}`);
  await client.query('SAVEPOINT dps_hold');
  try {
    await client.query(sql`${join(reads, sql`; `)}; RELEASE SAVEPOINT dps_hold`);
    return true;
  } catch (error) {
    if (isLocked(error)) throw error;
    await client.query('ROLLBACK TO SAVEPOINT dps_hold; RELEASE SAVEPOINT dps_hold');
    return false;
  }
}

function definitionOf({ id, query, options, method, tablespace }: Row, kind: ObjectKind): string {
  const parts = [
    `CREATE ${KINDS[kind].sqlWords} ${quotedName(id)}`,
    ...(method === null ? [] : [`USING ${quotedName(method)}`]),
    ...(options === null ? [] : [`WITH (${options})`]),
    ...(tablespace === null ? [] : [`TABLESPACE ${quotedName(tablespace)}`]),
  ];
  return `${parts.join(' ')} AS\n${query.trimEnd()}`;
}
