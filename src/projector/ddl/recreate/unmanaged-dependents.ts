/** Rejects dropping columns with unmanaged dependents, because PostgreSQL drops those silently. */
import type { CollectionNode } from '../../../schema/model/state.js';
import { type Change, isNew } from '../change.js';
import { type Step, step } from '../step.js';
import { objectNames } from '../object-names.js';
import { tableOf } from '../parts.js';
import { type Sql, join, literal, sql } from '../sql.js';

export function refuseUnmanagedDependents(change: Change, node: CollectionNode, columns: ReadonlySet<string>): Step[] {
  const { collection } = change.event;
  if (columns.size === 0 || isNew(change, collection)) return [];
  const found = othersOn(tableOf(change), [...columns], [...objectNames(node)]);
  const body = sql`DECLARE found text; BEGIN
    ${found}
    IF found IS NOT NULL THEN RAISE EXCEPTION 'other objects depend on its columns'
      USING ERRCODE = 'dependent_objects_still_exist', DETAIL = found; END IF; END`;
  const names = [...columns].join(', ');
  const summary = `make sure that nothing of others goes with ${names} of ${collection}`;
  return [step(sql`DO ${literal(body)}`, summary, { lock: 'none', lock_entries: 1 })];
}

/**
 * Lists the dependents, one per line, in the words of PostgreSQL's own errors. Constraints and indexes of the log are
 * recreated, but not their comments and settings. A column's own NOT NULL (`n`) is recreated with it.
 */
function othersOn(table: Sql, columns: readonly string[], own: readonly string[]): Sql {
  const theirs = sql`a.attrelid = pg_catalog.to_regclass(${literal(table)})::oid AND a.attname::text = ANY (${list(columns)})`;
  return sql`WITH columns AS (
      SELECT a.*, t.typstorage FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = a.atttypid WHERE ${theirs}
    ), going AS (
      SELECT attname, d.classid, d.objid, pg_catalog.pg_describe_object(d.classid, d.objid, 0) AS what,
             coalesce(o.conname, i.relname)::text AS name, coalesce(nullif(o.conindid, 0::oid), i.oid) AS index
        FROM columns JOIN pg_catalog.pg_depend d
          ON d.refclassid = 'pg_catalog.pg_class'::regclass::oid AND d.refobjid = attrelid AND d.refobjsubid = attnum
        LEFT JOIN pg_catalog.pg_constraint o ON o.oid = d.objid AND d.classid = 'pg_catalog.pg_constraint'::regclass::oid
        LEFT JOIN pg_catalog.pg_class i ON i.oid = d.objid AND d.classid = 'pg_catalog.pg_class'::regclass::oid
       WHERE d.deptype = 'a' AND d.classid <> 'pg_catalog.pg_attrdef'::regclass::oid AND o.contype IS DISTINCT FROM 'n'
    ), others AS (
      SELECT attname, what FROM going WHERE name IS NULL OR name <> ALL (${list(own)})
      UNION SELECT attname, 'comment on ' || pg_catalog.pg_describe_object(c.classoid, c.objoid, 0)
        FROM going JOIN pg_catalog.pg_description c ON c.objsubid = 0 AND (c.classoid = classid AND c.objoid = objid
             OR c.classoid = 'pg_catalog.pg_class'::regclass::oid AND c.objoid = index)
      UNION SELECT attname, 'replica identity, clustering or tablespace of ' || what FROM going
        JOIN pg_catalog.pg_index x ON x.indexrelid = index JOIN pg_catalog.pg_class c ON c.oid = index
       WHERE x.indisreplident OR x.indisclustered OR c.reltablespace <> 0::oid
      UNION SELECT attname, 'privilege ' || p.privilege_type || ' of '
                            || CASE p.grantee WHEN 0::oid THEN 'PUBLIC' ELSE 'role ' || pg_catalog.pg_get_userbyid(p.grantee)::text END
        FROM columns, pg_catalog.aclexplode(attacl) p
      UNION SELECT attname, 'setting of the column' FROM columns
       WHERE attoptions IS NOT NULL OR coalesce(attstattarget, -1) <> -1 OR attcompression <> '' OR attstorage <> typstorage
      UNION SELECT attname, 'security label' FROM columns JOIN pg_catalog.pg_seclabel l
         ON l.classoid = 'pg_catalog.pg_class'::regclass::oid AND l.objoid = attrelid AND l.objsubid = attnum
    )
    SELECT pg_catalog.string_agg(what || ' depends on column ' || attname::text, pg_catalog.chr(10) ORDER BY attname, what) INTO found FROM others;`;
}

const list = (names: readonly string[]): Sql => sql`ARRAY[${join(names.map(literal), sql`, `)}]::text[]`;
