/** Problems of actions on proposals. */
import type { Problem } from '../../../kernel/problem.js';
import type { ChangeRequest } from '../../../schema/change-requests/model.js';

/** PLAN_CHANGED: the requested change was replaced meanwhile. */
export const updatedMeanwhile = (id: string): Problem => ({
  code: 'PLAN_CHANGED',
  message: `The change request ${id} was updated at this moment: look at it again.`,
});

/** @param plan the hash of its current plan */
export const stale = ({ id, operation, proposal }: ChangeRequest, plan: string): Problem => ({
  code: 'PLAN_CHANGED',
  message:
    operation === 'update-policy'
      ? `The change request ${id} is stale: the policy was changed after it was proposed. Update the request with the policy to set.`
      : `The change request ${id} is stale: what it removes or changes is not what it was when it was proposed. Propose it again from the schema as it is now.`,
  details: { plan: proposal?.plan, plan_now: plan },
});

/** @param plan the hash that was sent */
export const otherPlan = ({ id, proposal }: ChangeRequest, plan: string): Problem => ({
  code: 'PLAN_CHANGED',
  message: `The plan of the change request ${id} is not the one that was looked at: look at it again.`,
  path: 'plan',
  details: { plan: proposal?.plan, looked_at: plan },
});

/** @param most open requests per user */
export const tooManyOpen = (most: number): Problem => ({
  code: 'TOO_MANY_REQUESTS',
  message: `You have ${most} change requests that have not ended, the most for one user (CHANGES_PER_USER): withdraw some, or wait until they are applied.`,
});

/** INVALID_PAYLOAD, about the body of a request. */
export const changesNothing = (operation: string): Problem =>
  operation === 'update-policy'
    ? { code: 'INVALID_PAYLOAD', message: 'This changes nothing: it is the policy in force.', path: 'policy' }
    : { code: 'INVALID_PAYLOAD', message: 'This changes nothing: the schema is so already.', path: 'diff' };

/** INVALID_PAYLOAD: a request for a policy stays one, and so does a request for a change of the schema. */
export const otherSubject = ({ id, operation }: ChangeRequest): Problem =>
  operation === 'update-policy'
    ? { code: 'INVALID_PAYLOAD', message: `The change request ${id} changes the policy: send a policy.`, path: 'diff' }
    : {
        code: 'INVALID_PAYLOAD',
        message: `The change request ${id} changes the schema: send a diff or a snapshot.`,
        path: 'policy',
      };

/** FORBIDDEN, if the policy excludes approvals by authors. */
export const ownApproval = ({ id }: ChangeRequest): Problem => ({
  code: 'FORBIDDEN',
  message: `The policy asks for approval by somebody else than the author of the change request ${id}.`,
});

/** INVALID_STATE: the schema already contains the change. */
export const nothingLeft = (): Problem => ({
  code: 'INVALID_STATE',
  message: 'Nothing is left to do: the schema is so already.',
});

/** INVALID_STATE. @param other the request that reverts it */
export const beingReverted = (id: string, other: string): Problem => ({
  code: 'INVALID_STATE',
  message: `The change request ${other} reverts ${id} already: apply that one, or withdraw it first.`,
  details: { change: other },
});

/** @param at as sent @param why follows "at": "has passed" */
export const badTime = (at: string, why: string): Problem => ({
  code: 'INVALID_PAYLOAD',
  message: `at ${why} by the clock of the database: ${at}.`,
  path: 'at',
});

/** The clock of the database was set back. */
export const notYetDue = ({ id, schedule }: ChangeRequest): Problem => ({
  code: 'INVALID_STATE',
  message: `The change request ${id} is scheduled for ${schedule?.at}.`,
});

/** FORBIDDEN at the scheduled time: the user who scheduled it may no longer apply it. */
export const schedulerLost = ({ id, applicant }: ChangeRequest): Problem => ({
  code: 'FORBIDDEN',
  message: `The change request ${id} was scheduled by ${applicant?.name}, who is no active admin any more.`,
});

/** INVALID_STATE: there is nothing to prepare. */
export const nothingToPrepare = ({ id }: ChangeRequest): Problem => ({
  code: 'INVALID_STATE',
  message: `Nothing of the change request ${id} takes long: it is applied without being prepared.`,
});
