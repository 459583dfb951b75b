/** Actions on a change request in its state, named like the routes. Permissions are checked elsewhere. */
import { mayFollow } from './fold.js';
import type { ChangeEvent, ChangeRequest, ChangeState } from './model.js';

const WAITING = ['open', 'approved', 'failed'] as const;

export const CHANGE_ACTIONS = [
  'update',
  'rebase',
  'comment',
  'approve',
  'reject',
  'prepare',
  'apply',
  'withdraw',
  'revert',
] as const;
export type ChangeAction = (typeof CHANGE_ACTIONS)[number];

/**
 * The event of each action and the states that allow it. Without states, any state that allows the event. Some actions
 * append no event.
 */
const ACTIONS: Readonly<Record<ChangeAction, { event?: ChangeEvent['type']; in?: readonly ChangeState[] }>> = {
  update: { event: 'change.updated' },
  rebase: { event: 'change.updated' },
  comment: { event: 'change.commented' },
  approve: { event: 'change.approved' },
  reject: { event: 'change.rejected' },
  prepare: { event: 'change.preparing', in: WAITING },
  apply: { event: 'change.scheduled' },
  withdraw: { event: 'change.withdrawn' },
  // This opens another request.
  revert: { in: ['applied'] },
};

/** There is nothing to merge, and taking a policy back is another policy. */
const NOT_OF_POLICY: ReadonlySet<ChangeAction> = new Set(['rebase', 'revert']);

type Moving = Pick<ChangeRequest, 'operation' | 'state' | 'proposal' | 'online' | 'applicant'>;

/** Returns the actions that the state allows, named like the routes. Permissions are checked elsewhere. */
export const allowedIn = (request: Moving): ChangeAction[] => CHANGE_ACTIONS.filter((action) => mayDo(request, action));

/** True if the state allows the action. A scheduled request may be applied, which happens at once. */
export function mayDo(request: Moving, action: ChangeAction): boolean {
  const { event, in: states } = ACTIONS[action];
  if (request.operation === 'update-policy' && NOT_OF_POLICY.has(action)) return false;
  if ((event !== undefined && !mayFollow(request, event)) || (states !== undefined && !states.includes(request.state)))
    return false;
  if (action === 'prepare') return request.online;
  return action !== 'apply' || request.applicant === null || request.state === 'scheduled';
}
