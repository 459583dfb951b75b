/* Reads triggers of tables and views. */
import type pg from 'pg';
import type { Enabled } from '../../schema/model/objects.js';
import { objectKey } from '../../schema/model/objects.js';
import { createWords } from '../../schema/sql-text/object-definition.js';
import { quotedName } from '../../schema/sql-text/quoted-name.js';
import type { CatalogObject } from '../ddl/catalog-object.js';
import { ROUTINE_ID } from '../ddl/routine-sql.js';
import { type Sql, literal, ownSchemaOid, sql } from '../ddl/sql.js';
import { IS_OBJECT, TRIGGER_EVENTS, TRIGGER_ID, TRIGGER_TAIL } from '../ddl/trigger-sql.js';
import { PREPARED_NAME } from '../online/copy.js';

/**
 * Selects what a trigger uses: its table, the table of FROM, its function, the columns of UPDATE OF, and the columns and
 * functions of WHEN.
 */
const USES = sql`
  SELECT 'pg_class' AS catalog, n.oid AS place, n.nspname, c.relname::text AS name, NULL::name AS "column", true AS "isRowType"
  UNION SELECT 'pg_class', un.oid, un.nspname, uc.relname::text, ua.attname, false
    FROM pg_catalog.pg_depend d
    JOIN pg_catalog.pg_class uc ON uc.oid = d.refobjid JOIN pg_catalog.pg_namespace un ON un.oid = uc.relnamespace
    LEFT JOIN pg_catalog.pg_attribute ua ON ua.attrelid = d.refobjid AND ua.attnum = d.refobjsubid AND d.refobjsubid > 0
   WHERE d.classid = 'pg_catalog.pg_trigger'::regclass::oid AND d.objid = t.oid AND d.refclassid = 'pg_catalog.pg_class'::regclass::oid
     AND (d.refobjsubid > 0 OR d.refobjid <> t.tgrelid)
  UNION SELECT 'pg_proc', un.oid, un.nspname, u.id, NULL, false
    FROM (SELECT p.pronamespace, ${ROUTINE_ID} AS id FROM pg_catalog.pg_proc p WHERE p.oid = t.tgfoid OR p.oid IN (
            SELECT d.refobjid FROM pg_catalog.pg_depend d
             WHERE d.classid = 'pg_catalog.pg_trigger'::regclass::oid AND d.objid = t.oid AND d.refclassid = 'pg_catalog.pg_proc'::regclass::oid)) u
    JOIN pg_catalog.pg_namespace un ON un.oid = u.pronamespace`;

/**
 * Selects triggers. $1 is the managed schema, $2 the ids or null for all. Triggers that the service creates while it
 * copies values are left out.
 */
const TRIGGERS: Sql = sql`
SELECT r.* FROM (
SELECT ${TRIGGER_ID} AS id, t.tgname::text AS name, c.relname::text AS "table", t.tgconstraint <> 0::oid AS "isConstraint",
  ${TRIGGER_EVENTS} AS events, ${TRIGGER_TAIL} AS tail,
  CASE t.tgenabled WHEN 'D' THEN 'disabled' WHEN 'R' THEN 'replica' WHEN 'A' THEN 'always' ELSE 'origin' END AS enabled,
  (SELECT d.description FROM pg_catalog.pg_description d
    WHERE d.objoid = t.oid AND d.classoid = 'pg_catalog.pg_trigger'::regclass::oid AND d.objsubid = 0) AS comment,
  (SELECT pg_catalog.json_agg(pg_catalog.json_build_object('catalog', u.catalog,
      'schema', CASE WHEN u.place = ${ownSchemaOid} THEN '' ELSE u.nspname::text END, 'name', u.name, 'column', u."column", 'isRowType', u."isRowType"))
     FROM (${USES}) u) AS uses,
  (SELECT x.extname::text FROM pg_catalog.pg_depend e JOIN pg_catalog.pg_extension x ON x.oid = e.refobjid
    WHERE e.deptype = 'e' AND ((e.classid = 'pg_catalog.pg_trigger'::regclass::oid AND e.objid = t.oid)
      OR (e.classid = 'pg_catalog.pg_class'::regclass::oid AND e.objid = c.oid)) LIMIT 1) AS extension
FROM pg_catalog.pg_trigger t
JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND n.nspname = $1
WHERE ${IS_OBJECT} AND t.tgname !~ ${literal(PREPARED_NAME)}::text
  AND ($2::text[] IS NULL OR ${TRIGGER_ID} = ANY ($2::text[]))) r
ORDER BY r.id COLLATE "C"`;

interface Row extends Pick<CatalogObject, 'id' | 'comment' | 'uses' | 'extension'> {
  name: string;
  table: string;
  isConstraint: boolean;
  events: string;
  tail: string;
  enabled: Enabled;
}

/** Returns the triggers, keyed by `objectKey`. @param ids limits the result; all triggers of the schema if absent */
export async function readTriggers(
  client: Pick<pg.ClientBase, 'query'>,
  schema: string,
  ids?: readonly string[],
): Promise<[string, CatalogObject][]> {
  const { rows } = await client.query<Row>(TRIGGERS, [schema, ids ?? null]);
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
