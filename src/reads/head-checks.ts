/** Compares every head check with the events that this process has folded. */
import { ProblemError } from '../kernel/problem.js';
import type { HeadCheck } from '../log/divergence.js';
import type { LogHead } from '../log/head.js';
import type { LogWatch } from '../log/watch.js';
import { unavailable } from '../postgres/errors.js';
import type { ServerRole } from '../postgres/server-role.js';
import type { FreshnessOptions } from './freshness.js';
import type { Store } from './state-store.js';

export interface HeadChecksOptions {
  store: Pick<Store, 'point' | 'reload'>;
  watch: Pick<LogWatch, 'examine' | 'admit'>;
  role: Pick<ServerRole, 'current'>;
  /**
   * Milliseconds after which a standby that has replayed everything, but not the events seen before, counts as
   * diverged.
   */
  patience?: number;
}

const PATIENCE = 10_000;

/** If folded events are missing from the log, everything is folded again before a request is answered. */
export function createHeadChecks({
  store,
  watch,
  role,
  patience = PATIENCE,
}: HeadChecksOptions): NonNullable<FreshnessOptions['watch']> {
  let short: number | undefined;

  /**
   * A log that ends before the events already shown has lost its tail. A standby may only be behind after a restart or
   * replacement. Until that is clear, older states are not shown.
   */
  const refuseBehind = (check: HeadCheck, seen: LogHead): void => {
    const { standby, lag } = role.current();
    const isShort = standby && check.head.position < seen.position;
    const now = performance.now();
    if (!isShort || lag > 0) short = undefined;
    if (isShort) short ??= now;
    if (short === undefined || now - short >= patience) return;
    throw new ProblemError(
      unavailable(
        `The standby is behind what this process has shown: position ${seen.position}, and its log ends at ` +
          `${check.head.position}. Try again later.`,
      ),
    );
  };

  return {
    seen: () => store.point().head,
    admit: (check) => watch.admit(check),
    async examine(check, seen) {
      const from = store.point();
      refuseBehind(check, seen);
      if ((await watch.examine(check, seen)) && from.head === seen) await store.reload(from);
    },
  };
}
