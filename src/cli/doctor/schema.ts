/** Our place in the database: may we work in the schema, and are our tables those of this release? */
import { migrationsOf } from '../../postgres/migrate.js';
import { isRestoring } from '../../postgres/restoring.js';
import type { Check } from './check.js';
import { finding } from './finding.js';

const PRIVILEGES = `
  SELECT current_user AS "user", has_schema_privilege(n.oid, 'USAGE') AND has_schema_privilege(n.oid, 'CREATE') AS ok
    FROM pg_namespace n WHERE n.nspname = $1`;

export const privileges: Check = {
  name: 'rights on the schema',
  async run({ pool, config: { schema } }) {
    const { rows } = await pool.query<{ user: string; ok: boolean }>(PRIVILEGES, [schema]);
    const [row] = rows;
    // A schema that isn't there yet is made by the first start.
    if (row === undefined || row.ok) return [];
    return [finding('SCHEMA_NOT_WRITABLE', `The user "${row.user}" may not create tables in the schema "${schema}".`)];
  },
};

export const migrations: Check = {
  name: 'migrations',
  decisive: true,
  async run({ pool, config: { schema } }) {
    const { rowCount } = await pool.query(
      `SELECT FROM pg_tables WHERE schemaname = $1 AND tablename = 'service_migrations'`,
      [schema],
    );
    if (rowCount === 0) return [finding('SERVICE_MISSING', `The schema "${schema}" holds no service.`)];
    const { applied, known } = await migrationsOf(pool);
    if (applied < known) {
      return [finding('MIGRATIONS_PENDING', `Migration ${applied} was applied last; this release has ${known}.`)];
    }
    if (applied > known) {
      return [finding('MIGRATIONS_NEWER', `Migration ${applied} was applied; this release knows them up to ${known}.`)];
    }
    return [];
  },
};

export const restoring: Check = {
  name: 'no restore under way',
  decisive: true,
  run: async ({ pool }) =>
    (await isRestoring(pool)) ? [finding('RESTORE_UNFINISHED', 'A restore into this database has not ended.')] : [],
};

/** Changing a table takes its owner. */
const NOT_OWNED = `
  SELECT c.relname AS name, c.relowner::regrole::text AS owner, count(*) OVER ()::int AS count
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
   WHERE n.nspname = $1 AND c.relkind IN ('r', 'p') AND NOT pg_has_role(c.relowner, 'USAGE')
     AND (starts_with(c.relname, 'service_') OR EXISTS (
           SELECT FROM service_collections s WHERE s.collection = c.relname AND s.schema IS NOT NULL))
   ORDER BY c.relname COLLATE "C" LIMIT 1`;

export const ownership: Check = {
  name: 'ownership of the tables',
  async run({ pool, config: { schema } }) {
    const { rows } = await pool.query<{ name: string; owner: string; count: number }>(NOT_OWNED, [schema]);
    const [row] = rows;
    if (row === undefined) return [];
    const more = row.count > 1 ? ` and ${row.count - 1} more` : '';
    return [finding('TABLES_NOT_OWNED', `The table "${row.name}" belongs to ${row.owner}${more}.`)];
  },
};
