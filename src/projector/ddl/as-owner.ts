/**
 * PL/pgSQL that runs on all rows of a table. It lifts forced row security, optionally disables triggers and rules,
 * and restores all of them afterwards. The table is locked against all other sessions.
 */
import { type Sql, block, literal, sql } from './sql.js';

export interface AsOwner {
  /** Disables the triggers and rules of the table. */
  silently?: boolean;
}

/**
 * Returns a statement that runs `body`.
 * @param table qualified; in the body `kept` is its oid, and `counted` is a variable
 */
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

/** Handles each trigger and rule by name, so that its previous state (disabled, replica only) is restored. */
const SILENCE: Sql = sql`
    SELECT pg_catalog.array_agg(pg_catalog.format('ALTER TABLE %s DISABLE %s %I', kept, t.kind, t.name)),
           pg_catalog.array_agg(pg_catalog.format('ALTER TABLE %s ENABLE %s %s %I', kept,
             CASE t.enabled WHEN 'R' THEN 'REPLICA' WHEN 'A' THEN 'ALWAYS' ELSE '' END, t.kind, t.name))
      INTO silence, revival
      FROM (SELECT 'TRIGGER' AS kind, tgname AS name, tgenabled AS enabled
              FROM pg_catalog.pg_trigger WHERE tgrelid = kept::oid AND NOT tgisinternal
            UNION ALL SELECT 'RULE', rulename, ev_enabled FROM pg_catalog.pg_rewrite WHERE ev_class = kept::oid) t
     WHERE t.enabled <> 'D';
    FOREACH step IN ARRAY coalesce(silence, '{}') LOOP EXECUTE step; END LOOP;`;

const REVIVE: Sql = sql`
    FOREACH step IN ARRAY coalesce(revival, '{}') LOOP EXECUTE step; END LOOP;`;
