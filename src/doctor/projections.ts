/** Checks the fold, the rows, the tables, and the progress of each projection. */
import type { Difference } from '../projector/verify/index.js';
import type { ProjectionStatus } from '../projector/projections/index.js';
import { describeDifference } from './differences.js';
import type { Check } from './check.js';
import { own } from '../postgres/own-tables.js';
import { type Finding, type FindingCode, finding } from './finding.js';

const SHOWN = 5;

export const comparison: Check = {
  name: 'fold = metadata rows = catalog',
  async run({ tools }) {
    const { differences } = await tools.projections.verify();
    return Object.entries(KINDS).flatMap(([where, { code, what }]) =>
      differing(
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
  trash: { code: 'TRASH_DIFFERS', what: 'things in the trash' },
  changes: { code: 'CHANGES_DIFFER', what: 'rows of change requests' },
  accounts: { code: 'ACCOUNTS_DIFFER', what: 'users and API tokens' },
};

function differing(code: FindingCode, what: string, differences: readonly Difference[]): Finding[] {
  if (differences.length === 0) return [];
  const more = differences.length > SHOWN ? [`  and ${differences.length - SHOWN} more: "dps verify" shows all`] : [];
  const lines = [...differences.slice(0, SHOWN).map(describeDifference), ...more];
  return [finding(code, `The ${what} are not what the log says:\n${lines.join('\n')}`)];
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
