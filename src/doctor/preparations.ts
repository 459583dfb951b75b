/** Finds objects of change requests that nobody works on any more. */
import { findOrphans } from '../projector/online/orphans.js';
import type { Check } from './check.js';
import { finding } from './finding.js';

const SHOWN = 5;

export const preparations: Check = {
  name: 'preparations of change requests',
  async run({ pool, config: { schema } }) {
    const orphans = await findOrphans(pool, schema);
    if (orphans.length === 0) return [];
    const more = orphans.length > SHOWN ? [`  and ${orphans.length - SHOWN} more`] : [];
    const lines = orphans.slice(0, SHOWN).map(({ kind, name, repair }) => `  ${kind} ${name}: ${repair}`);
    const message = `Nobody works on the change request of what is here for it:\n${[...lines, ...more].join('\n')}`;
    return [finding('PREPARATION_LEFT', message)];
  },
};
