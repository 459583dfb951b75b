/** Finds objects of change requests that no longer exist, after a restore or manual changes. */
import type { Queryable } from '../../postgres/pool.js';
import { ownTable } from '../../postgres/own-tables.js';
import { type Sql, ident, literal, qualified, sql } from '../ddl/sql.js';
import { ROOM } from './copy.js';
import { PREPARED_NAME, requestOf } from './names.js';

/** Requests that may still have objects in the database. Their steps are kept until those are gone. */
export async function requestsInPreparation(db: Queryable): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ request: string }>(
    `SELECT DISTINCT request::text AS request FROM ${ownTable('service_preparations')}`,
  );
  return new Set(rows.map(({ request }) => request));
}

export interface Orphan {
  /** The UUID of its change request. */
  request: string;
  kind: 'constraint' | 'index' | 'trigger' | 'table' | 'function';
  name: string;
  /** The statement that drops it. */
  repair: Sql;
}

interface Found extends Pick<Orphan, 'kind' | 'name'> {
  /** Its table, or null. */
  table: string | null;
}

/** In an order in which they can be dropped. */
const FOUND = sql`
SELECT 'trigger' AS kind, t.tgname::text AS name, c.relname::text AS table
  FROM pg_catalog.pg_trigger t JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = $1 AND NOT t.tgisinternal AND t.tgname ~ $2::text
UNION ALL
SELECT 'constraint', k.conname::text, c.relname::text
  FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_class c ON c.oid = k.conrelid
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = $1 AND k.coninhcount = 0 AND k.contype <> 't' AND k.conname ~ $2::text
UNION ALL
SELECT 'index', c.relname::text, NULL
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = $1 AND c.relkind IN ('i', 'I') AND c.relname ~ $2::text
UNION ALL
SELECT 'function', proname::text, NULL FROM pg_catalog.pg_proc
 WHERE pronamespace = pg_catalog.to_regnamespace(${literal(ROOM)})::oid AND proname ~ $2::text
UNION ALL
SELECT 'table', relname::text, NULL FROM pg_catalog.pg_class
 WHERE relnamespace = pg_catalog.to_regnamespace(${literal(ROOM)})::oid AND relkind = 'r' AND relname ~ $2::text`;

/**
 * In an order in which they can be dropped.
 * @param schema the managed schema
 */
export async function findOrphans(db: Queryable, schema: string): Promise<Orphan[]> {
  const living = await requestsInPreparation(db);
  const { rows } = await db.query<Found>(FOUND, [schema, PREPARED_NAME]);
  return rows.flatMap(({ kind, name, table }) => {
    const request = requestOf(name);
    if (request === null || living.has(request)) return [];
    return [{ request, kind, name, repair: dropping({ kind, name, table }, schema) }];
  });
}

function dropping({ kind, name, table }: Found, schema: string): Sql {
  switch (kind) {
    case 'constraint':
      return sql`ALTER TABLE ${qualified(schema, table ?? '')} DROP CONSTRAINT ${ident(name)}`;
    case 'trigger':
      return sql`DROP TRIGGER ${ident(name)} ON ${qualified(schema, table ?? '')}`;
    case 'index':
      return sql`DROP INDEX CONCURRENTLY ${qualified(schema, name)}`;
    case 'table':
      return sql`DROP TABLE ${ROOM}.${ident(name)}`;
    default:
      return sql`DROP FUNCTION ${ROOM}.${ident(name)}()`;
  }
}
