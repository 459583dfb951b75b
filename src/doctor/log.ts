import { storedSecret } from '../auth/token-secret.js';
import { emptyHead } from '../log/head.js';
import { findUnprotected, verifyLog } from '../log/verify-log.js';
import { foldPositions, readFold } from '../reads/stored-folds/table.js';
import { describeDivergence } from './differences.js';
import type { Check } from './check.js';
import { type Finding, finding } from './finding.js';

export const protection: Check = {
  name: 'log is append-only',
  async run({ pool }) {
    const found = await findUnprotected(pool);
    return found.length === 0 ? [] : [finding('LOG_UNPROTECTED', found.join(' '))];
  },
};

export const chain: Check = {
  name: 'hash chain',
  async run({ pool, tools, onVerified }) {
    const { head } = await tools.projections.list();
    const { broken, divergences } = await verifyLog(pool, emptyHead(), {
      onProgress: (done) => onVerified?.(done, Math.max(head, done)),
    });
    const found =
      broken === undefined ? [] : [finding('CHAIN_BROKEN', `Position ${broken.position}: ${broken.reason}.`)];
    const pending = divergences.filter(({ acknowledged }) => acknowledged === null);
    return [...found, ...pending.map((each) => finding('LOG_DIVERGED', describeDivergence(each)))];
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
      return [finding('LOG_UNREADABLE', `The log can't be folded: ${(error as Error).message}.`)];
    }
  },
};

export const storedFolds: Check = {
  name: 'stored folds',
  async run({ pool, config }) {
    const found: Finding[] = [];
    const secret = config.tokenSecret ?? (await storedSecret(pool));
    // Creates nothing: without a secret there are no stored folds.
    if (secret === null) return found;
    for (const position of await foldPositions(pool)) {
      const fold = await readFold(pool, position, secret);
      if (fold !== null && 'why' in fold) {
        found.push(finding('STORED_FOLD_WRONG', `The stored fold of position ${position}: ${fold.why}.`));
      }
    }
    return found;
  },
};
