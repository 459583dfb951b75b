/** What people can do with a request, in the words of the routes; not who may. */
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

/** The event of each, and in which states people may; absent: wherever the event may come, or none of it does. */
const ACTIONS: Readonly<Record<ChangeAction, { event?: ChangeEvent['type']; in?: readonly ChangeState[] }>> = {
  update: { event: 'change.updated' },
  rebase: { event: 'change.updated' },
  comment: { event: 'change.commented' },
  approve: { event: 'change.approved' },
  reject: { event: 'change.rejected' },
  prepare: { event: 'change.preparing', in: WAITING },
  apply: { event: 'change.scheduled' },
  withdraw: { event: 'change.withdrawn' },
  // Of another request, which is opened.
  revert: { in: ['applied'] },
};

type Moving = Pick<ChangeRequest, 'state' | 'proposal' | 'online' | 'applicant'>;

/** What can be done with it now, in the words of the routes; not by whom. */
export const allowedIn = (request: Moving): ChangeAction[] => CHANGE_ACTIONS.filter((action) => mayDo(request, action));

/** Whether its state lets anybody do it now. What is scheduled may be applied: it is at once then. */
export function mayDo(request: Moving, action: ChangeAction): boolean {
  const { event, in: states } = ACTIONS[action];
  if ((event !== undefined && !mayFollow(request, event)) || (states !== undefined && !states.includes(request.state)))
    return false;
  if (action === 'prepare') return request.online;
  return action !== 'apply' || request.applicant === null || request.state === 'scheduled';
}
