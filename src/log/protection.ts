/** Checks that the triggers of db/0001_service_tables.sql still reject changes of accepted events. */
import { own } from '../postgres/own-tables.js';
import type { Queryable } from '../postgres/pool.js';

/** The body of service_refuse_change(), without white space. */
const BODY =
  "BEGIN RAISE EXCEPTION '% is append-only: % is refused', TG_TABLE_NAME, TG_OP " +
  "USING ERRCODE = 'insufficient_privilege', HINT = 'Correct a mistake with a new event.'; END";

/**
 * Per operation, what prevents protection. Bits of tgtype: 1 FOR EACH ROW, 2 BEFORE, 8 DELETE, 16 UPDATE, 32 TRUNCATE.
 * tgenabled A also fires in sessions that apply replication.
 */
const TRIGGERS = `
SELECT o.operation,
       pg_catalog.count(t.oid) > 0 AS there,
       coalesce(pg_catalog.bool_or(t.tgenabled = 'A'), false) AS enabled,
       coalesce(pg_catalog.bool_or(t.tgenabled = 'A' AND pg_catalog.btrim(pg_catalog.regexp_replace(p.prosrc, '\\s+', ' ', 'g')) = $1), false) AS refuses
  FROM (VALUES ('UPDATE', 16::int2), ('DELETE', 8::int2), ('TRUNCATE', 32::int2)) AS o (operation, bit)
  LEFT JOIN pg_catalog.pg_trigger t
    ON t.tgrelid = '${own.events}'::regclass::oid AND NOT t.tgisinternal AND t.tgtype & o.bit > 0::int2 AND t.tgtype & 3::int2 = 2::int2
   AND t.tgqual IS NULL AND t.tgattr::text = ''
  LEFT JOIN pg_catalog.pg_proc p ON p.oid = t.tgfoid
 GROUP BY o.operation, o.bit ORDER BY o.bit DESC`;

interface Row {
  operation: string;
  there: boolean;
  enabled: boolean;
  refuses: boolean;
}

/** Returns a sentence for each operation that PostgreSQL would not reject. Empty if the log is append-only. */
export async function findUnprotected(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<Row>(TRIGGERS, [BODY]);
  return rows
    .filter(({ refuses }) => !refuses)
    .map(({ operation, there, enabled }) => {
      const what = !there ? 'is missing' : !enabled ? 'is disabled' : 'runs another function than it should';
      return `The trigger that refuses ${operation} of service_events ${what}.`;
    });
}
