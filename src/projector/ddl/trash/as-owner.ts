/**
 * PL/pgSQL on all rows of a table: policies that are forced on its owner are lifted meanwhile, and where nothing should
 * notice, its triggers too. Both are as they were afterwards; the table is locked against everybody else.
 */
import { type Sql, block, literal, sql } from '../sql.js';

export interface AsOwner {
  /** No trigger of the table fires. */
  silently?: boolean;
}

/** A statement that runs `body`. @param table qualified; in the body `kept` is its oid, and `counted` a variable */
export function asOwner(table: Sql, body: Sql, { silently = false }: AsOwner = {}): Sql {
  const [quiet, loud] = silently ? [SILENCE, REVIVE] : [sql``, sql``];
  return sql`DO ${block(sql`DECLARE
    kept regclass := ${literal(table)}::regclass;
    forced boolean := (SELECT relforcerowsecurity FROM pg_catalog.pg_class WHERE oid = kept::oid);
    counted bigint; silence text[]; revival text[]; step text;
  BEGIN
    IF forced THEN ALTER TABLE ${table} NO FORCE ROW LEVEL SECURITY; END IF;${quiet}
    ${body}${loud}
    IF forced THEN ALTER TABLE ${table} FORCE ROW LEVEL SECURITY; END IF;
  END`)}`;
}

/** Each by its name: what was disabled before stays so, and what fires for replicas alone does so again. */
const SILENCE: Sql = sql`
    SELECT pg_catalog.array_agg(pg_catalog.format('ALTER TABLE %s DISABLE TRIGGER %I', kept, t.tgname)),
           pg_catalog.array_agg(pg_catalog.format('ALTER TABLE %s ENABLE %s TRIGGER %I', kept,
             CASE t.tgenabled WHEN 'R' THEN 'REPLICA' WHEN 'A' THEN 'ALWAYS' ELSE '' END, t.tgname))
      INTO silence, revival
      FROM pg_catalog.pg_trigger t WHERE t.tgrelid = kept::oid AND NOT t.tgisinternal AND t.tgenabled <> 'D';
    FOREACH step IN ARRAY coalesce(silence, '{}') LOOP EXECUTE step; END LOOP;`;

const REVIVE: Sql = sql`
    FOREACH step IN ARRAY coalesce(revival, '{}') LOOP EXECUTE step; END LOOP;`;
