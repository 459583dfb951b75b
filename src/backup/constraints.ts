/**
 * Handles foreign keys and unvalidated constraints, which rows restored table by table may violate. They are dropped
 * first and recreated unchanged.
 */
import pg from 'pg';
import { type Sql, sql } from '../projector/ddl/sql.js';

interface Released {
  table: string;
  name: string;
  definition: string;
  comment: string | null;
}

/** PostgreSQL drops and creates the constraints of partitions with their parent's. */
const RELEASED: Sql = sql`
SELECT c.conrelid::regclass::text AS table, c.conname::text AS name, pg_catalog.pg_get_constraintdef(c.oid) AS definition,
       pg_catalog.obj_description(c.oid, 'pg_constraint') AS comment
FROM pg_catalog.pg_constraint c
JOIN pg_catalog.pg_class r ON r.oid = c.conrelid
JOIN pg_catalog.pg_namespace n ON n.oid = r.relnamespace
WHERE n.nspname = $1 AND c.conparentid = 0::oid AND c.coninhcount = 0
  AND (c.contype = 'f' OR NOT c.convalidated)
ORDER BY r.relname COLLATE "C", c.conname COLLATE "C"`;

/**
 * Drops them.
 * @returns the statements that recreate them; PostgreSQL then reads the rows once per foreign key
 */
export async function releaseConstraints(client: pg.ClientBase, schema: string): Promise<{ restore(): Promise<void> }> {
  const { rows } = await client.query<Released>(RELEASED, [schema]);
  for (const { table, name } of rows) {
    await client.query(`ALTER TABLE ${table} DROP CONSTRAINT ${pg.escapeIdentifier(name)}`);
  }
  return {
    restore: async () => {
      for (const each of rows) await restore(client, each);
    },
  };
}

async function restore(client: pg.ClientBase, { table, name, definition, comment }: Released): Promise<void> {
  const constraint = pg.escapeIdentifier(name);
  await client.query(`ALTER TABLE ${table} ADD CONSTRAINT ${constraint} ${definition}`);
  if (comment === null) return;
  await client.query(`COMMENT ON CONSTRAINT ${constraint} ON ${table} IS ${pg.escapeLiteral(comment)}`);
}
