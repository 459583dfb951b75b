/** The plan of a batch that was decided for a proposal. */
import { runYielding } from '../../../kernel/event-loop.js';
import { planHash } from '../../../schema/change-requests/plan-hash.js';
import type { PlannedBatch } from '../../types.js';
import type { NamedCommand } from '../command.js';

export type How = Pick<NamedCommand, 'purge' | 'acknowledges'>;

/** Returns the hex hash of everything the batch would do. Equal requests for the same schema have equal hashes. */
export const planOf = (
  { before, after, events, policy }: PlannedBatch,
  { purge, acknowledges }: How,
): Promise<string> =>
  runYielding(planHash({ before: before.state, after, events, purge, policy, acknowledge: acknowledges?.findings }));
