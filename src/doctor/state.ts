/* Checks of the log, the projections, the preparations and the trash. */
import { OWN_SCHEMA_OID, own } from '../postgres/own-tables.js';
import { COPY } from '../projector/ddl/trash.js';
import { IS_SHARED } from '../projector/catalog/deletion-facts.js';
import { type AlteredColumn, findAltered, trashIdOf } from '../features/trash/rows.js';
import { type Check, finding, type Finding, type FindingCode } from './check.js';
import { storedSecret } from '../features/accounts/secrets.js';
import { emptyHead } from '../log/head.js';
import { findUnprotected, verifyLog } from '../log/verify-log.js';
import { foldPositions, readFold } from '../reads/stored-folds.js';
import { describeDisallowed, describeDivergence, describeDifference } from './differences.js';
import type { Difference } from '../projector/verify/index.js';
import type { ProjectionStatus } from '../features/projections/index.js';
import { findOrphans } from '../projector/online/copy.js';
import { readWebhooks } from '../features/webhooks/rows.js';
import { quoteName, visibleText } from '../kernel/text.js';

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
        findings.push(finding('STORED_FOLD_WRONG', `The stored state of position ${position}: ${fold.why}.`));
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
  gone: 'its receiver answered 410 (Gone)',
  failing: 'its receiver failed for three days',
  copied: 'this database is a copy of the one in which it was enabled',
  restored: 'it was restored from a backup',
};
