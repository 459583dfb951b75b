/** The log: protected, unbroken, readable; and the states that are kept along it. */
import { emptyHead } from '../../log/head.js';
import { verifyLog } from '../../log/verify-log.js';
import { foldPositions, readFold } from '../../reads/stored-folds/table.js';
import { createProgress } from '../progress.js';
import type { Check } from './check.js';
import { type Finding, finding } from './finding.js';

const TRIGGER = `
  SELECT t.tgenabled = 'A' AND t.tgtype & 58 = 58 AS ok FROM pg_trigger t
   WHERE t.tgrelid = 'service_events'::regclass AND t.tgname = 'service_events_append_only'`;

export const protection: Check = {
  name: 'log is append-only',
  async run({ pool }) {
    const { rows } = await pool.query<{ ok: boolean }>(TRIGGER);
    const [trigger] = rows;
    if (trigger?.ok === true) return [];
    const what = trigger === undefined ? 'is missing' : 'is disabled';
    return [finding('LOG_UNPROTECTED', `The trigger that refuses changes of service_events ${what}.`)];
  },
};

export const chain: Check = {
  name: 'hash chain',
  async run({ pool, bench, terminal }) {
    const { head } = await bench.projections.list();
    const progress = createProgress(terminal, 'hash chain');
    const { ok, broken } = await verifyLog(pool, emptyHead(), {
      onProgress: (done) => progress.at(done, Math.max(head, done)),
    });
    progress.end();
    return ok ? [] : [finding('CHAIN_BROKEN', `Position ${broken?.position}: ${broken?.reason}.`)];
  },
};

export const readable: Check = {
  name: 'log can be folded',
  decisive: true,
  async run({ bench }) {
    try {
      await bench.load();
      return [];
    } catch (error) {
      return [finding('LOG_UNREADABLE', `The log can't be folded: ${(error as Error).message}.`)];
    }
  },
};

export const storedFolds: Check = {
  name: 'stored folds',
  async run({ pool }) {
    const found: Finding[] = [];
    for (const position of await foldPositions(pool)) {
      const fold = await readFold(pool, position);
      if (fold !== null && 'why' in fold) {
        found.push(finding('STORED_FOLD_WRONG', `The stored fold of position ${position}: ${fold.why}.`));
      }
    }
    return found;
  },
};
