/** Creates the problems of actions on proposals. */
import type { Problem } from '../../kernel/problem.js';
import type { ChangeRequest } from '../../schema/change-requests/model.js';
import { actorName } from '../../schema/model/events.js';

/** PLAN_CHANGED. Another user replaced the requested change in the meantime. */
export const concurrentUpdateProblem = (id: string): Problem => ({
  code: 'PLAN_CHANGED',
  message: `Change request ${id} was updated at the same time. Read it again.`,
});

/** @param plan the hash of the current plan */
export const stalePlan = ({ id, operation, proposal }: ChangeRequest, plan: string): Problem => ({
  code: 'PLAN_CHANGED',
  message:
    operation === 'update-policy'
      ? `Change request ${id} is stale: the policy has changed since it was proposed. Update the request with the intended policy.`
      : `Change request ${id} is stale: an object that it deletes or changes has changed since it was proposed. Create the change again from the current schema.`,
  details: { plan: proposal?.plan, plan_now: plan },
});

/** @param plan the hash in the request */
export const otherPlan = ({ id, proposal }: ChangeRequest, plan: string): Problem => ({
  code: 'PLAN_CHANGED',
  message: `The plan of change request ${id} is not the one that you reviewed. Read it again.`,
  path: 'plan',
  details: { plan: proposal?.plan, looked_at: plan },
});

/**
 * @param read the hash that was sent
 * @param now the hash of the current view, if the plan fits the schema
 */
export const otherView = (id: string, read: string, now: string | undefined): Problem => ({
  code: 'PLAN_CHANGED',
  message: `The findings of change request ${id} are not those that you read. Read it again.`,
  path: 'view',
  details: { view: now, looked_at: read },
});

/** @param most the maximum number of open requests per user */
export const tooManyOpen = (most: number): Problem => ({
  code: 'TOO_MANY_REQUESTS',
  message: `You have ${most} change requests that have not ended, the maximum for one user (CHANGES_PER_USER). Withdraw some, or wait until they are applied.`,
});

/** INVALID_PAYLOAD, for a body without changes. */
export const changesNothing = (operation: string): Problem =>
  operation === 'update-policy'
    ? { code: 'INVALID_PAYLOAD', message: 'This changes nothing: it is the current policy.', path: 'policy' }
    : { code: 'INVALID_PAYLOAD', message: 'This changes nothing: the schema already has this state.', path: 'diff' };

/** INVALID_PAYLOAD. An update cannot turn a request for a policy into a request for a schema change, or vice versa. */
export const otherSubject = ({ id, operation }: ChangeRequest): Problem =>
  operation === 'update-policy'
    ? { code: 'INVALID_PAYLOAD', message: `Change request ${id} changes the policy. Send a policy.`, path: 'diff' }
    : {
        code: 'INVALID_PAYLOAD',
        message: `Change request ${id} changes the schema. Send a diff or a snapshot.`,
        path: 'policy',
      };

/** INVALID_PAYLOAD. A request for a policy does not have options for deletions. */
export const deletesNothing = (id: string): Problem => ({
  code: 'INVALID_PAYLOAD',
  message: `Change request ${id} changes the policy and deletes nothing, so it has no option purge.`,
  path: 'purge',
});

/** FORBIDDEN. The policy does not allow authors, or issuers of their credentials, to approve their own requests. */
export const ownApproval = ({ id }: ChangeRequest): Problem => ({
  code: 'FORBIDDEN',
  message: `The policy does not allow an author of change request ${id} to approve it. Users who issued the credential of an author are authors too. Ask another admin.`,
});

/** INVALID_STATE. The schema already has the state that the revert would restore. */
export const nothingToRevertProblem = (): Problem => ({
  code: 'INVALID_STATE',
  message: 'Nothing remains to revert: the schema already has this state.',
});

/**
 * INVALID_STATE.
 * @param other the request that already reverts this one
 */
export const alreadyRevertedProblem = (id: string, other: string): Problem => ({
  code: 'INVALID_STATE',
  message: `Change request ${other} already reverts ${id}. Apply or withdraw it first.`,
  details: { change: other },
});

/**
 * @param at the time in the request
 * @param why follows `at` in the message: "has passed"
 */
export const badTime = (at: string, why: string): Problem => ({
  code: 'INVALID_PAYLOAD',
  message: `at ${why} by the clock of the database: ${at}.`,
  path: 'at',
});

/** INVALID_STATE. The clock of the database was set back, so the request is not due. */
export const notYetDue = ({ id, schedule }: ChangeRequest): Problem => ({
  code: 'INVALID_STATE',
  message: `Change request ${id} is scheduled for ${schedule?.at}.`,
});

/** FORBIDDEN, at the scheduled time. The user who scheduled the request may no longer apply it. */
export const schedulerLost = ({ id, applicant }: ChangeRequest): Problem => ({
  code: 'FORBIDDEN',
  message: `Change request ${id} was scheduled by ${applicant === null ? 'nobody' : actorName(applicant)}, who is no longer an active admin.`,
});

/** INVALID_STATE: there is nothing to prepare. */
export const nothingToPrepare = ({ id }: ChangeRequest): Problem => ({
  code: 'INVALID_STATE',
  message: `Change request ${id} has no slow steps to prepare. Apply it directly.`,
});
