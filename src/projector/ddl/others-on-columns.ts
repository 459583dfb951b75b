/** What hangs on columns and isn't the service's must not go with them: PostgreSQL drops it without a word. */
import type { CollectionNode } from '../../schema/state.js';
import type { Statement } from '../statement.js';
import { type Change, isNew, statement } from './change.js';
import { ownNames } from './owned-names.js';
import { tableOf } from './parts.js';
import { type Sql, join, literal, sql } from './sql.js';

/**
 * Statistics, column privileges, and the constraints, indexes and sequences that were made by hand. (Views, triggers and
 * rules on a column are in the way of dropping it: PostgreSQL refuses by itself.)
 */
export function refuseWithOthers(change: Change, node: CollectionNode, columns: ReadonlySet<string>): Statement[] {
  const { collection } = change.event;
  if (columns.size === 0 || isNew(change, collection)) return [];
  const found = othersOn(tableOf(change), [...columns], [...ownNames(node)]);
  const body = sql`DECLARE found text; BEGIN
    ${found}
    IF found IS NOT NULL THEN RAISE EXCEPTION 'other things hang on its columns'
      USING ERRCODE = 'dependent_objects_still_exist', DETAIL = found; END IF; END`;
  const names = [...columns].join(', ');
  const summary = `make sure that nothing of others goes with ${names} of ${collection}`;
  return [statement(change, sql`DO ${literal(body)}`, summary, { lock: 'none', lock_entries: 1 })];
}

/** A dropped column's own NOT NULL (`n`) comes and goes with it. */
function othersOn(table: Sql, columns: readonly string[], own: readonly string[]): Sql {
  const ours = list(own);
  const theirs = sql`attrelid = pg_catalog.to_regclass(${literal(table)}) AND attname::text = ANY (${list(columns)})`;
  return sql`SELECT string_agg(what || ' depends on column ' || attname, chr(10) ORDER BY attname, what) INTO found FROM (
      SELECT pg_catalog.pg_describe_object(d.classid, d.objid, 0) AS what, attname
        FROM pg_catalog.pg_attribute JOIN pg_catalog.pg_depend d ON d.refobjid = attrelid AND d.refobjsubid = attnum
        LEFT JOIN pg_catalog.pg_constraint o ON o.oid = d.objid AND d.classid = 'pg_catalog.pg_constraint'::regclass
        LEFT JOIN pg_catalog.pg_class c ON c.oid = d.objid AND d.classid = 'pg_catalog.pg_class'::regclass
       WHERE ${theirs} AND d.refclassid = 'pg_catalog.pg_class'::regclass AND d.deptype = 'a'
         AND (d.classid = 'pg_catalog.pg_statistic_ext'::regclass OR c.relname::text <> ALL (${ours})
              OR o.contype <> 'n' AND o.conname::text <> ALL (${ours}))
      UNION SELECT 'privilege ' || p.privilege_type || ' of '
                   || CASE p.grantee WHEN 0 THEN 'PUBLIC' ELSE 'role ' || pg_catalog.pg_get_userbyid(p.grantee) END, attname
        FROM pg_catalog.pg_attribute, pg_catalog.aclexplode(attacl) p WHERE ${theirs}) AS others;`;
}

const list = (names: readonly string[]): Sql => sql`ARRAY[${join(names.map(literal), sql`, `)}]::text[]`;
