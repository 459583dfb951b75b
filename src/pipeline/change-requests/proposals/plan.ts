/** The plan of a batch that was decided for a proposal. */
import { runYielding } from '../../../kernel/event-loop.js';
import { planHash } from '../../../schema/change-requests/plan-hash.js';
import type { PlannedBatch } from '../../types.js';
import type { NamedCommand } from '../command.js';

export type How = Pick<NamedCommand, 'purge' | 'acknowledges'>;

/**
 * The hash of all that the batch would do, hex; the same for the same change of the same schema, asked for in the same
 * way.
 */
export const planOf = ({ before, after, events }: PlannedBatch, { purge, acknowledges }: How): Promise<string> =>
  runYielding(planHash({ before: before.state, after, events, purge, acknowledge: acknowledges?.findings }));
