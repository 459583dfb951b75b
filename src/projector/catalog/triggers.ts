/* Reads triggers of tables and views. Also has SQL for other objects of tables. */
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
 * SQL for what an object of the table `c` uses: the table, the columns and functions in its definition, and other
 * relations.
 * @param table the oid of the table
 */
export const usesOnTable = (catalog: CommentedCatalog, oid: Sql, table: Sql): Sql => sql`
  (SELECT pg_catalog.json_agg(pg_catalog.json_build_object('catalog', u.catalog,
      'schema', CASE WHEN u.place = ${ownSchemaOid} THEN '' ELSE u.nspname::text END, 'name', u.name, 'column', u."column", 'isRowType', u."isRowType"))
     FROM (
  SELECT 'pg_class' AS catalog, n.oid AS place, n.nspname, c.relname::text AS name, NULL::name AS "column", true AS "isRowType"
  UNION SELECT 'pg_class', un.oid, un.nspname, uc.relname::text, ua.attname, false
    FROM pg_catalog.pg_depend d
    JOIN pg_catalog.pg_class uc ON uc.oid = d.refobjid JOIN pg_catalog.pg_namespace un ON un.oid = uc.relnamespace
    LEFT JOIN pg_catalog.pg_attribute ua ON ua.attrelid = d.refobjid AND ua.attnum = d.refobjsubid AND d.refobjsubid > 0
   WHERE d.classid = ${regclass(catalog)} AND d.objid = ${oid} AND d.refclassid = 'pg_catalog.pg_class'::regclass::oid
     AND (d.refobjsubid > 0 OR d.refobjid <> ${table})
  UNION SELECT 'pg_proc', un.oid, un.nspname, u.id, NULL, false
    FROM (SELECT p.pronamespace, ${ROUTINE_ID} AS id FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_proc p ON p.oid = d.refobjid
           WHERE d.classid = ${regclass(catalog)} AND d.objid = ${oid} AND d.refclassid = 'pg_catalog.pg_proc'::regclass::oid) u
    JOIN pg_catalog.pg_namespace un ON un.oid = u.pronamespace) u)`;

const regclass = (catalog: CommentedCatalog): Sql => sql`${literal(`pg_catalog.${catalog}`)}::regclass::oid`;

type CommentedCatalog = 'pg_trigger' | 'pg_policy' | 'pg_class' | 'pg_statistic_ext' | 'pg_rewrite';

/** SQL for the comment on an object. Null if it has none. */
export const commentIn = (catalog: CommentedCatalog, oid: Sql): Sql => sql`
  (SELECT d.description FROM pg_catalog.pg_description d
    WHERE d.objoid = ${oid} AND d.classoid = ${regclass(catalog)} AND d.objsubid = 0)`;

/** SQL for the extension that owns the object or its table `c`. Null if none does. */
export const extensionOfTable = (catalog: CommentedCatalog, oid: Sql): Sql => sql`
  (SELECT x.extname::text FROM pg_catalog.pg_depend e JOIN pg_catalog.pg_extension x ON x.oid = e.refobjid
    WHERE e.deptype = 'e' AND ((e.classid = ${regclass(catalog)} AND e.objid = ${oid})
      OR (e.classid = ${regclass('pg_class')} AND e.objid = c.oid)) LIMIT 1)`;

/** SQL for the enabled state of a trigger or a rule. @param letter `tgenabled` or `ev_enabled` */
export const enabledOf = (letter: Sql): Sql =>
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
