/** Checks privileges on the schemas, and whether our tables belong to this release. */
import type { Queryable } from '../postgres/pool.js';
import { type Schemas, lostSchema, missingRight, schemaThere } from '../postgres/schemas.js';
import { holdsService, migrationsOf } from '../postgres/migrate.js';
import { isRestoring } from '../postgres/restoring.js';
import type { Check } from './check.js';
import { own } from '../postgres/own-tables.js';
import { finding } from './finding.js';

export const privileges: Check = {
  name: 'rights on the schemas',
  async run({ pool, config: { schema, serviceSchema } }) {
    const missing = [(await lost(pool, { schema, serviceSchema })) ?? (await missingRight(pool, schema))];
    missing.push(await missingRight(pool, serviceSchema));
    return missing.flatMap((message) => (message === null ? [] : [finding('SCHEMA_NOT_WRITABLE', message)]));
  },
};

/** After the first start, missing objects mean data loss. */
async function lost(db: Queryable, { schema, serviceSchema }: Schemas): Promise<string | null> {
  const { text, values } = schemaThere(schema);
  const { rows } = await db.query<{ there: boolean }>(text, values);
  return rows[0]?.there !== true && (await holdsService(db, serviceSchema)) ? lostSchema(schema) : null;
}

export const migrations: Check = {
  name: 'migrations',
  decisive: true,
  async run({ pool, config: { serviceSchema } }) {
    if (!(await holdsService(pool, serviceSchema))) {
      return [finding('SERVICE_MISSING', `The schema "${serviceSchema}" holds no service.`)];
    }
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

/** Altering a table requires its owner. */
const NOT_OWNED = `
  SELECT c.relname AS name, c.relowner::regrole::text AS owner, count(*) OVER ()::int AS count
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
   WHERE n.nspname IN ($1, $2) AND c.relkind IN ('r', 'p') AND NOT pg_catalog.pg_has_role(c.relowner, 'USAGE')
     AND (n.nspname = $2 OR EXISTS (
           SELECT FROM ${own.collections} s WHERE s.collection = c.relname AND s.schema IS NOT NULL))
   ORDER BY c.relname COLLATE "C" LIMIT 1`;

export const ownership: Check = {
  name: 'ownership of the tables',
  async run({ pool, config: { schema, serviceSchema } }) {
    const places = [schema, serviceSchema];
    const { rows } = await pool.query<{ name: string; owner: string; count: number }>(NOT_OWNED, places);
    const [row] = rows;
    if (row === undefined) return [];
    const more = row.count > 1 ? ` and ${row.count - 1} more` : '';
    return [finding('TABLES_NOT_OWNED', `The table "${row.name}" belongs to ${row.owner}${more}.`)];
  },
};

/**
 * Functions of another user in the searched schemas can shadow PostgreSQL's own if they fit the arguments better.
 * They would run with this service's privileges. The query itself avoids such calls.
 */
const SHADOWING = `
  SELECT n.nspname::pg_catalog.text AS schema, s.kind, s.name::pg_catalog.text AS name, r.rolname::pg_catalog.text AS owner
    FROM (
      SELECT 'function' AS kind, p.pronamespace AS place, p.proname AS name, p.proowner AS owner, p.oid,
             'pg_catalog.pg_proc'::pg_catalog.regclass::pg_catalog.oid AS class
        FROM pg_catalog.pg_proc p
       WHERE EXISTS (SELECT FROM pg_catalog.pg_proc b JOIN pg_catalog.pg_namespace c ON c.oid = b.pronamespace
                      WHERE b.proname = p.proname AND c.nspname = 'pg_catalog')
      UNION ALL
      SELECT 'operator', o.oprnamespace, o.oprname, o.oprowner, o.oid, 'pg_catalog.pg_operator'::pg_catalog.regclass::pg_catalog.oid
        FROM pg_catalog.pg_operator o
       WHERE EXISTS (SELECT FROM pg_catalog.pg_operator b JOIN pg_catalog.pg_namespace c ON c.oid = b.oprnamespace
                      WHERE b.oprname = o.oprname AND c.nspname = 'pg_catalog')
    ) s
    JOIN pg_catalog.pg_namespace n ON n.oid = s.place
    JOIN pg_catalog.pg_roles r ON r.oid = s.owner
   WHERE (n.nspname = $1 OR n.nspname = 'public') AND NOT r.rolsuper AND r.rolname <> current_user
     AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d
                      WHERE d.classid = s.class AND d.objid = s.oid AND d.deptype = 'e')
   ORDER BY n.nspname, s.kind, s.name, s.oid`;

export const shadowing: Check = {
  name: 'names of PostgreSQL that others use',
  async run({ pool, config: { schema } }) {
    type Row = { schema: string; kind: string; name: string; owner: string };
    const { rows } = await pool.query<Row>(SHADOWING, [schema]);
    const [row] = rows;
    if (row === undefined) return [];
    const more = rows.length > 1 ? ` So do ${rows.length - 1} more.` : '';
    const message = `The ${row.kind} "${row.name}" in "${row.schema}", of ${row.owner}, bears the name of one of PostgreSQL's own, and can be called in its place with the rights of this service.${more}`;
    return [finding('NAMES_SHADOWED', message)];
  },
};
