/** Every head check is held against what this process has folded. */
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
  /** Milliseconds that a standby must have had everything, and not what this process has shown, to be of another history. */
  patience?: number;
}

const PATIENCE = 10_000;

/** What is gone is folded again before anything is answered. */
export function createHeadChecks({
  store,
  watch,
  role,
  patience = PATIENCE,
}: HeadChecksOptions): NonNullable<FreshnessOptions['watch']> {
  let short: number | undefined;

  /**
   * A log that ends before what was shown has lost its tail; but that of a standby may only be behind: it was started
   * again, or another one is in its place. Until that is known nothing older is shown.
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
