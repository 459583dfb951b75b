/* Checks of the log, the projections, the preparations, the trash, and the service's own tables. */
import type pg from 'pg';
import { storedSecret } from '../features/accounts/secrets.js';
import type { ProjectionStatus } from '../features/projections/index.js';
import { type AlteredColumn, findAltered, trashIdOf } from '../features/trash/rows.js';
import { readWebhooks } from '../features/webhooks/rows.js';
import { quoteName, visibleText } from '../kernel/text.js';
import { findUnprotected, verifyLog } from '../log/verification.js';
import { emptyHead } from '../log/head.js';
import { rawPublicKey } from '../log/signed-checkpoints/checkpoint.js';
import { storedKey } from '../log/signed-checkpoints/keys.js';
import { createOwnTables } from '../postgres/migrate.js';
import { OWN_SCHEMA_OID, own, SETTING_KEYS } from '../postgres/own-tables.js';
import { type Queryable, withClient } from '../postgres/pool.js';
import { IS_SHARED } from '../projector/catalog/deletion-facts.js';
import { COPY } from '../projector/ddl/trash.js';
import { findOrphans } from '../projector/online/copy.js';
import { PROJECTION_NAMES } from '../projector/replay.js';
import type { Difference } from '../projector/verify/index.js';
import { foldPositions, readFold } from '../reads/stored-folds.js';
import { type Check, finding, type Finding, type FindingCode } from './check.js';
import { describeDisallowed, describeDivergence, describeDifference } from './differences.js';

export const protection: Check = {
  name: 'log is append-only',
  async run({ pool }) {
    const unprotected = await findUnprotected(pool);
    return unprotected.length === 0 ? [] : [finding('LOG_UNPROTECTED', unprotected.join(' '))];
  },
};

export const chain: Check = {
  name: 'hash chain',
  async run({ pool, tools, onVerified }) {
    const { head } = await tools.projections.list();
    const { broken, disallowed, divergences } = await verifyLog(pool, emptyHead(), {
      onProgress: (done) => onVerified?.(done, Math.max(head, done)),
    });
    const divergence =
      broken === undefined ? [] : [finding('CHAIN_BROKEN', `Position ${broken.position}: ${broken.reason}.`)];
    const pending = divergences.filter(({ acknowledged }) => acknowledged === null);
    const notAllowed = disallowed.map((each) => finding('CHANGE_NOT_ALLOWED', describeDisallowed(each)));
    return [...divergence, ...notAllowed, ...pending.map((each) => finding('LOG_DIVERGED', describeDivergence(each)))];
  },
};

export const readable: Check = {
  name: 'log can be folded',
  decisive: true,
  async run({ tools }) {
    try {
      await tools.load();
      return [];
    } catch (error) {
      return [finding('LOG_UNREADABLE', `The log cannot be folded: ${(error as Error).message}.`)];
    }
  },
};

export const storedFolds: Check = {
  name: 'stored states',
  async run({ pool, config }) {
    const findings: Finding[] = [];
    const secret = config.tokenSecret ?? (await storedSecret(pool));
    // This check never creates the secret. Without a secret there are no stored folds.
    if (secret === null) return findings;
    for (const position of await foldPositions(pool)) {
      const fold = await readFold(pool, position, secret);
      if (fold !== null && 'why' in fold) {
        findings.push(
          finding('STORED_FOLD_WRONG', `The stored state at position ${position} cannot be used: ${fold.why}.`),
        );
      }
    }
    return findings;
  },
};

/* Checks the fold, the rows, the tables, and the progress of each projection. */

const SHOWN = 5;

export const comparison: Check = {
  name: 'fold = metadata rows = catalog',
  async run({ tools }) {
    const { differences } = await tools.projections.verify();
    return Object.entries(KINDS).flatMap(([where, { code, what }]) =>
      describeDiffering(
        code,
        what,
        differences.filter((each) => each.where === where),
      ),
    );
  },
};

/** A finding for each source of differences. The type requires an entry for new ones. */
const KINDS: Readonly<Record<Difference['where'], { code: FindingCode; what: string }>> = {
  metadata: { code: 'ROWS_DIFFER', what: 'metadata rows' },
  catalog: { code: 'TABLES_DIFFER', what: 'tables' },
  trash: { code: 'TRASH_DIFFERS', what: 'objects in the trash' },
  changes: { code: 'CHANGES_DIFFER', what: 'rows of change requests' },
  accounts: { code: 'ACCOUNTS_DIFFER', what: 'users and API tokens' },
};

function describeDiffering(code: FindingCode, what: string, differences: readonly Difference[]): Finding[] {
  if (differences.length === 0) return [];
  const more = differences.length > SHOWN ? [`  and ${differences.length - SHOWN} more: "dps verify" shows all`] : [];
  const lines = [...differences.slice(0, SHOWN).map(describeDifference), ...more];
  return [finding(code, `The ${what} differ from the log:\n${lines.join('\n')}`)];
}

/** Milliseconds that a projection may lag. */
const PATIENCE = 60_000;

export const lag: Check = {
  name: 'projections',
  async run({ tools, pool, now }) {
    const { rows } = await pool.query<{ last: Date | null }>(
      `SELECT pg_catalog.max(occurred_at) AS last FROM ${own.events}`,
    );
    const quiet = now() - (rows[0]?.last?.getTime() ?? 0);
    const { projections } = await tools.projections.list();
    return projections.flatMap((projection) => projectionFindings(projection, quiet));
  },
};

/** @param quiet milliseconds since the newest event */
function projectionFindings(
  { name, kind, status, lag: behind, last_error: error }: ProjectionStatus,
  quiet: number,
): Finding[] {
  if (status === 'failed') {
    const reason = error === null ? '' : ` at event ${error.position}: ${error.message}`;
    return [finding('PROJECTION_FAILED', `The projection "${name}" has stopped${reason}.`)];
  }
  if (behind === 0 || (kind === 'after-commit' && quiet < PATIENCE)) return [];
  return [finding('PROJECTION_BEHIND', `The projection "${name}" is ${behind} events behind.`)];
}

/** Finds prepared objects that change requests no longer use. */

const PREPARATIONS_SHOWN = 5;

export const preparations: Check = {
  name: 'preparations of change requests',
  async run({ pool }) {
    const orphans = await findOrphans(pool);
    if (orphans.length === 0) return [];
    const more = orphans.length > PREPARATIONS_SHOWN ? [`  and ${orphans.length - PREPARATIONS_SHOWN} more`] : [];
    const lines = orphans.slice(0, PREPARATIONS_SHOWN).map(({ kind, name, repair }) => `  ${kind} ${name}: ${repair}`);
    const message = `No change request uses these prepared objects:\n${[...lines, ...more].join('\n')}`;
    return [finding('PREPARATION_LEFT', message)];
  },
};

/* Finds objects in the trash that do not belong to the service. */

/**
 * Selects the schemas of the trash, and which of them belong to the service. The schema of position 0 is left out,
 * because it contains copies in preparation (src/projector/online). Shared schemas may be empty. Kept tables contain
 * their row types, indexes, sequences and TOAST tables.
 */
const PLACES = `
  WITH prefix AS (SELECT n.nspname::text || '_trash_' AS text FROM pg_catalog.pg_namespace n WHERE n.oid = ${OWN_SCHEMA_OID}),
  kept AS (SELECT prefix.text || ${trashIdOf('t')} AS place, CASE t.kind WHEN 'field' THEN '${COPY}' ELSE t.collection END AS name
             FROM ${own.trash} t CROSS JOIN prefix),
  places AS (SELECT n.oid, n.nspname::text AS name,
                    (${IS_SHARED}) OR EXISTS (SELECT FROM kept k WHERE k.place = n.nspname::text) AS is_ours FROM prefix
               JOIN pg_catalog.pg_namespace n ON pg_catalog.starts_with(n.nspname, prefix.text)
                AND n.nspname <> prefix.text || '0')`;

const STRANGERS = `${PLACES}
  SELECT p.name FROM places p WHERE NOT p.is_ours
  UNION ALL
  SELECT pg_catalog.format('%s.%s', p.name, c.relname) FROM places p JOIN pg_catalog.pg_class c ON c.relnamespace = p.oid
   WHERE p.is_ours AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
     AND NOT EXISTS (SELECT FROM kept k WHERE k.place = p.name AND k.name = c.relname::text)
  UNION ALL
  SELECT pg_catalog.format('%s.%s', p.name, f.proname) FROM places p JOIN pg_catalog.pg_proc f ON f.pronamespace = p.oid
  ORDER BY 1 LIMIT 6`;

/** The service grants nobody privileges on its schemas. Kept tables may have privileges from before their deletion. */
const GRANTED = `${PLACES}
  SELECT p.name FROM places p JOIN pg_catalog.pg_namespace n ON n.oid = p.oid
   WHERE p.is_ours AND EXISTS (SELECT FROM pg_catalog.aclexplode(n.nspacl) a WHERE a.grantee <> n.nspowner)
  ORDER BY 1 LIMIT 6`;

const TRASH_SHOWN = 5;

export const trash: Check = {
  name: 'no other objects in the trash',
  async run({ pool }) {
    const findingIf = async (query: string, sentence: string): Promise<Finding[]> => {
      const { rows } = await pool.query<{ name: string }>(query);
      if (rows.length === 0) return [];
      const names = rows.slice(0, TRASH_SHOWN).map(({ name }) => JSON.stringify(name));
      const more = rows.length > TRASH_SHOWN ? ' and more' : '';
      return [finding('TRASH_STRANGE', `${sentence}: ${names.join(', ')}${more}.`)];
    };
    const altered = await findAltered(pool);
    return [
      ...(altered.length === 0 ? [] : [finding('TRASH_DIFFERS', describeAltered(altered))]),
      ...(await findingIf(STRANGERS, 'The trash contains objects that the service did not create')),
      ...(await findingIf(GRANTED, 'Other roles have privileges on schemas with deleted tables')),
    ];
  },
};

function describeAltered(altered: readonly AlteredColumn[]): string {
  const lines = altered.slice(0, TRASH_SHOWN).map(({ position, collection, field, name, type, found }) => {
    const object =
      field === null ? `table ${quoteName(collection)}` : `values of ${quoteName(`${collection}.${field}`)}`;
    const column = found === null ? 'does not exist' : `has the type ${found} instead of ${type}`;
    return visibleText(`  ${object} (position ${position}): column ${quoteName(name)} ${column}`);
  });
  const more = altered.length > TRASH_SHOWN ? [`  and ${altered.length - TRASH_SHOWN} more`] : [];
  return `Someone changed deleted objects in the trash:\n${[...lines, ...more].join('\n')}`;
}

/** A webhook that an admin disabled is not a finding. */
export const webhooks: Check = {
  name: 'webhooks',
  async run({ pool }) {
    const rows = await readWebhooks(pool);
    return rows.flatMap(({ name, state, disabled_because: because, failing_since: since, last_error: error }) => {
      if (state === 'failing')
        return [
          finding('WEBHOOK_FAILING', `The webhook ${quoteName(name)} has failed since ${since}. ${error ?? ''}`.trim()),
        ];
      if (state === 'enabled' || because === 'requested') return [];
      return [
        finding('WEBHOOK_DISABLED', `The webhook ${quoteName(name)} is disabled: ${WHY[because ?? ''] ?? because}.`),
      ];
    });
  },
};

const WHY: Readonly<Record<string, string>> = {
  gone: 'its receiver responded with 410 (Gone)',
  failing: 'its receiver failed for three days',
  copied: 'this database is a copy of the one in which it was enabled',
  restored: 'it was restored from a backup',
};

/* Compares the service's own tables with those that the migrations of this release create on the same server. */

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
const SHOWN_OBJECTS = 10;

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
    const more = different.length > SHOWN_OBJECTS ? [`  and ${different.length - SHOWN_OBJECTS} more`] : [];
    const message = [
      'The tables of the service differ from its migrations:',
      ...different.slice(0, SHOWN_OBJECTS),
      ...more,
    ];
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
    [Object.values(SETTING_KEYS), PROJECTION_NAMES, SHOWN_OBJECTS + 1],
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
