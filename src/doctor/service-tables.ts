/** Compares the service's own tables with those that the migrations of this release create on the same server. */
import type pg from 'pg';
import { rawPublicKey } from '../log/signed-checkpoints/checkpoint.js';
import { storedKey } from '../log/signed-checkpoints/keys.js';
import { createOwnTables } from '../postgres/migrate.js';
import { SETTING_KEYS, own } from '../postgres/own-tables.js';
import { type Queryable, withClient } from '../postgres/pool.js';
import { PROJECTION_NAMES } from '../projector/replay.js';
import { type Check, type Finding, finding } from './check.js';

/**
 * Selects the definitions of all objects in schema `$1` that affect its tables, by kind and name. The texts name
 * objects of the schema without the schema. Other roles may have the privilege SELECT, for example for reports.
 */
const DEFINITIONS = `
WITH relation AS (
  SELECT c.* FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1
), owner AS (
  SELECT relowner AS oid FROM relation WHERE relname = 'service_migrations' AND relkind = 'r'
)
SELECT kind, name, pg_catalog.regexp_replace(definition::text, 'pg_temp(_[0-9]+)?\\.', '', 'g') AS definition FROM (
  SELECT CASE c.relkind WHEN 'v' THEN 'view' WHEN 'S' THEN 'sequence' WHEN 'r' THEN 'table' ELSE 'relation' END AS kind,
         c.relname::text AS name,
         pg_catalog.jsonb_build_object('kind', c.relkind, 'row security', c.relrowsecurity, 'forced', c.relforcerowsecurity,
           'unlogged', c.relpersistence = 'u', 'options', c.reloptions, 'other owner', c.relowner <> (SELECT oid FROM owner)) AS definition
    FROM relation c WHERE c.relkind NOT IN ('i', 'I')
  UNION ALL
  SELECT 'column', pg_catalog.format('%s.%s', c.relname, a.attname),
         pg_catalog.jsonb_build_object('type', pg_catalog.format_type(a.atttypid, a.atttypmod), 'not null', a.attnotnull,
           'identity', a.attidentity, 'generated', a.attgenerated, 'storage', a.attstorage,
           'collation', a.attcollation::pg_catalog.regcollation::text, 'default', pg_catalog.pg_get_expr(d.adbin, d.adrelid, true))
    FROM relation c JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
   WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f', 'c')
  UNION ALL
  SELECT 'index', c.relname::text, pg_catalog.jsonb_build_object('definition', pg_catalog.pg_get_indexdef(c.oid, 0, true),
           'valid', i.indisvalid AND i.indisready AND i.indislive)
    FROM relation c JOIN pg_catalog.pg_index i ON i.indexrelid = c.oid
  UNION ALL
  SELECT 'constraint', pg_catalog.format('%s on %s', o.conname, c.relname),
         pg_catalog.jsonb_build_object('definition', pg_catalog.pg_get_constraintdef(o.oid, true), 'valid', o.convalidated,
           'triggers', (SELECT pg_catalog.jsonb_agg(pg_catalog.jsonb_build_array(t.tgtype, t.tgenabled) ORDER BY t.tgtype, t.tgenabled)
                          FROM pg_catalog.pg_trigger t WHERE t.tgconstraint = o.oid))
    FROM relation c JOIN pg_catalog.pg_constraint o ON o.conrelid = c.oid WHERE o.contype NOT IN ('n', 't')
  UNION ALL
  SELECT 'trigger', pg_catalog.format('%s on %s', t.tgname, c.relname),
         pg_catalog.jsonb_build_object('definition', pg_catalog.pg_get_triggerdef(t.oid, true), 'enabled', t.tgenabled)
    FROM relation c JOIN pg_catalog.pg_trigger t ON t.tgrelid = c.oid WHERE NOT t.tgisinternal
  UNION ALL
  SELECT 'rule', pg_catalog.format('%s on %s', r.rulename, c.relname),
         pg_catalog.jsonb_build_object('definition', pg_catalog.pg_get_ruledef(r.oid, true), 'enabled', r.ev_enabled)
    FROM relation c JOIN pg_catalog.pg_rewrite r ON r.ev_class = c.oid
  UNION ALL
  SELECT 'policy', pg_catalog.format('%s on %s', p.polname, c.relname),
         pg_catalog.jsonb_build_object('command', p.polcmd, 'permissive', p.polpermissive,
           'using', pg_catalog.pg_get_expr(p.polqual, p.polrelid), 'check', pg_catalog.pg_get_expr(p.polwithcheck, p.polrelid))
    FROM relation c JOIN pg_catalog.pg_policy p ON p.polrelid = c.oid
  UNION ALL
  SELECT 'privilege', pg_catalog.format('%s on %s of %s', a.privilege_type, c.relname, coalesce(r.rolname, 'PUBLIC')), pg_catalog.to_jsonb(true)
    FROM relation c
    CROSS JOIN LATERAL (
      SELECT x.grantee, x.privilege_type FROM pg_catalog.aclexplode(c.relacl) x
      UNION
      SELECT x.grantee, x.privilege_type FROM pg_catalog.pg_attribute t CROSS JOIN LATERAL pg_catalog.aclexplode(t.attacl) x
       WHERE t.attrelid = c.oid
    ) a
    LEFT JOIN pg_catalog.pg_roles r ON r.oid = a.grantee
   WHERE a.privilege_type <> 'SELECT' AND a.grantee <> c.relowner AND r.rolname IS DISTINCT FROM current_user
  UNION ALL
  SELECT 'inheritance', pg_catalog.format('%s of %s', k.relname, c.relname), pg_catalog.to_jsonb(true)
    FROM relation c JOIN pg_catalog.pg_inherits i ON i.inhparent = c.oid JOIN pg_catalog.pg_class k ON k.oid = i.inhrelid
   WHERE c.relkind = 'r'
  UNION ALL
  SELECT 'parent', pg_catalog.format('%s of %s', k.relname, c.relname), pg_catalog.to_jsonb(true)
    FROM relation c JOIN pg_catalog.pg_inherits i ON i.inhrelid = c.oid JOIN pg_catalog.pg_class k ON k.oid = i.inhparent
   WHERE c.relkind = 'r'
  UNION ALL
  SELECT 'function', pg_catalog.format('%s(%s)', p.proname, pg_catalog.pg_get_function_identity_arguments(p.oid)),
         pg_catalog.jsonb_build_object('body', p.prosrc, 'language', l.lanname, 'returns', pg_catalog.format_type(p.prorettype, NULL),
           'security definer', p.prosecdef, 'settings', p.proconfig, 'volatile', p.provolatile, 'strict', p.proisstrict,
           'other owner', p.proowner <> (SELECT oid FROM owner))
    FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace JOIN pg_catalog.pg_language l ON l.oid = p.prolang
   WHERE n.nspname = $1
  UNION ALL
  SELECT 'type', t.typname::text, pg_catalog.jsonb_build_object('kind', t.typtype, 'base', pg_catalog.format_type(t.typbasetype, t.typtypmod))
    FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
   WHERE n.nspname = $1 AND t.typtype IN ('d', 'e', 'r')
) AS found`;

interface Definition {
  kind: string;
  name: string;
  definition: string;
}

type Definitions = ReadonlyMap<string, string>;

async function readDefinitions(client: pg.ClientBase, schema: string): Promise<Definitions> {
  const { rows } = await client.query<Definition>(DEFINITIONS, [schema]);
  return new Map(rows.map(({ kind, name, definition }) => [`${kind} ${name}`, definition]));
}

/** Returns the definitions in the database, and those that the migrations create in a temporary schema. */
async function readBothDefinitions(
  pool: pg.Pool,
  serviceSchema: string,
): Promise<{ found: Definitions; expected: Definitions }> {
  return withClient(pool, async (client) => {
    await client.query('BEGIN');
    try {
      // Makes definitions name its objects without the schema.
      await client.query(`SET LOCAL search_path = ${client.escapeIdentifier(serviceSchema)}`);
      const actual = await readDefinitions(client, serviceSchema);
      await createOwnTables(client, 'pg_temp');
      const { rows } = await client.query<{ name: string }>(
        'SELECT nspname::text AS name FROM pg_catalog.pg_namespace WHERE oid = pg_catalog.pg_my_temp_schema()',
      );
      return { found: actual, expected: await readDefinitions(client, rows[0]?.name ?? '') };
    } finally {
      await client.query('ROLLBACK');
    }
  });
}

/** Maximum lines of a finding. */
const SHOWN = 10;

export const serviceTableDefinitions: Check = {
  name: 'own tables = migrations',
  needsPrimary: true,
  async run({ pool, config: { serviceSchema } }) {
    const { found, expected } = await readBothDefinitions(pool, serviceSchema);
    const names = [...new Set([...expected.keys(), ...found.keys()])].toSorted();
    const different = names.flatMap((name) => {
      const [one, other] = [expected.get(name), found.get(name)];
      if (one === other) return [];
      return `  ${name} ${other === undefined ? 'is missing' : one === undefined ? 'was added' : `was changed: expected ${one}, found ${other}`}`;
    });
    different.push(...(await listUnknownRows(pool)));
    const more = different.length > SHOWN ? [`  and ${different.length - SHOWN} more`] : [];
    const message = ['The tables of the service differ from its migrations:', ...different.slice(0, SHOWN), ...more];
    return [
      ...(different.length === 0 ? [] : [finding('OWN_TABLES_DIFFER', message.join('\n'))]),
      ...(await findAlteredKey(pool)),
    ];
  },
};

/**
 * Finds rows with a name that this release does not use. The values of these tables may be secrets, so only names are
 * shown.
 */
async function listUnknownRows(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ kind: string; name: string }>(
    `SELECT 'setting' AS kind, key AS name FROM ${own.settings} WHERE key <> ALL ($1)
     UNION ALL SELECT 'projection', name FROM ${own.projections} WHERE name <> ALL ($2) ORDER BY 1, 2 LIMIT $3`,
    [Object.values(SETTING_KEYS), PROJECTION_NAMES, SHOWN + 1],
  );
  return rows.map(({ kind, name }) => `  row ${JSON.stringify(name)} of service_${kind}s was added`);
}

/** Compares the signing keys stored in the database. The public key must belong to the private key. */
async function findAlteredKey(db: Queryable): Promise<Finding[]> {
  const { rows } = await db.query<{ id: number; public_key: Buffer; private_key: Buffer }>(
    `SELECT id, public_key, private_key FROM ${own.keys} WHERE private_key IS NOT NULL`,
  );
  return rows
    .filter(({ public_key, private_key }) => {
      const key = storedKey(private_key);
      return key === null || !rawPublicKey(key).equals(public_key);
    })
    .map(({ id }) =>
      finding('KEY_ALTERED', `The public key ${id} in service_keys does not belong to its private key.`),
    );
}
