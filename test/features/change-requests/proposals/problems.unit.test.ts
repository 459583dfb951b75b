import { expect } from 'chai';
import type { Problem } from '../../../../src/kernel/problem.js';
import { wrongState } from '../../../../src/features/change-requests/planning.js';
import * as problems from '../../../../src/features/change-requests/problems.js';
import type { ChangeRequest } from '../../../../src/schema/change-requests/model.js';

const REQUEST = {
  id: 'r1',
  state: 'open',
  online: false,
  applicant: { id: 'a', name: 'Ada' },
  proposal: { plan: 'then' },
  schedule: { at: '2026-01-01T03:00:00.000Z' },
} as ChangeRequest;

const SAID: Readonly<Record<string, [Problem, Problem]>> = {
  concurrentUpdateProblem: [
    problems.concurrentUpdateProblem('r1'),
    { code: 'PLAN_CHANGED', message: 'Change request r1 was updated at the same time. Read it again.' },
  ],
  stalePlan: [
    problems.stalePlan(REQUEST, 'now'),
    {
      code: 'PLAN_CHANGED',
      message:
        'Change request r1 is stale: an object that it deletes or changes has changed since it was proposed. Create the change again from the current schema.',
      details: { plan: 'then', plan_now: 'now' },
    },
  ],
  otherPlan: [
    problems.otherPlan(REQUEST, 'mine'),
    {
      code: 'PLAN_CHANGED',
      message: 'The plan of change request r1 is not the one that you reviewed. Read it again.',
      path: 'plan',
      details: { plan: 'then', looked_at: 'mine' },
    },
  ],
  otherView: [
    problems.otherView('r1', 'mine', 'now'),
    {
      code: 'PLAN_CHANGED',
      message: 'The findings of change request r1 are not those that you read. Read it again.',
      path: 'view',
      details: { view: 'now', looked_at: 'mine' },
    },
  ],
  tooManyOpen: [
    problems.tooManyOpen(3),
    {
      code: 'TOO_MANY_REQUESTS',
      message:
        'You have 3 change requests that have not ended, the maximum for one user (CHANGES_PER_USER). Withdraw some, or wait until they are applied.',
    },
  ],
  changesNothing: [
    problems.changesNothing('apply-diff'),
    { code: 'INVALID_PAYLOAD', message: 'This changes nothing: the schema already has this state.', path: 'diff' },
  ],
  otherSubject: [
    problems.otherSubject({ ...REQUEST, operation: 'update-policy' }),
    { code: 'INVALID_PAYLOAD', message: 'Change request r1 changes the policy. Send a policy.', path: 'diff' },
  ],
  ownApproval: [
    problems.ownApproval(REQUEST),
    {
      code: 'FORBIDDEN',
      message:
        'The policy does not allow an author of change request r1 to approve it. Users who issued the credential of an author are authors too. Ask another admin.',
    },
  ],
  nothingToRevertProblem: [
    problems.nothingToRevertProblem(),
    { code: 'INVALID_STATE', message: 'Nothing remains to revert: the schema already has this state.' },
  ],
  alreadyRevertedProblem: [
    problems.alreadyRevertedProblem('r1', 'r2'),
    {
      code: 'INVALID_STATE',
      message: 'Change request r2 already reverts r1. Apply or withdraw it first.',
      details: { change: 'r2' },
    },
  ],
  badTime: [
    problems.badTime('2020-01-01', 'has passed'),
    { code: 'INVALID_PAYLOAD', message: 'at has passed by the clock of the database: 2020-01-01.', path: 'at' },
  ],
  notYetDue: [
    problems.notYetDue(REQUEST),
    { code: 'INVALID_STATE', message: 'Change request r1 is scheduled for 2026-01-01T03:00:00.000Z.' },
  ],
  schedulerLost: [
    problems.schedulerLost(REQUEST),
    {
      code: 'FORBIDDEN',
      message: 'Change request r1 was scheduled by Ada, who is no longer an active admin.',
    },
  ],
  deletesNothing: [
    problems.deletesNothing('r1'),
    {
      code: 'INVALID_PAYLOAD',
      message: 'Change request r1 changes the policy and deletes nothing, so it has no option purge.',
      path: 'purge',
    },
  ],
  nothingToPrepare: [
    problems.nothingToPrepare(REQUEST),
    {
      code: 'INVALID_STATE',
      message: 'Change request r1 has no slow steps to prepare. Apply it directly.',
    },
  ],
};

describe('rejections of change requests', () => {
  for (const [name, [problem, expected]] of Object.entries(SAID))
    it(`use the recorded message: ${name}`, () => expect(problem).to.deep.equal(expected));

  it('have a recorded message for every problem', () => {
    expect(Object.keys(SAID)).to.have.members(Object.keys(problems));
  });

  it('name the state and the allowed actions', () => {
    expect(wrongState('r1', undefined)).to.deep.equal({
      code: 'NOT_FOUND',
      message: 'Change request r1 does not exist.',
    });
    expect(wrongState('r1', { ...REQUEST, state: 'applied' })).to.deep.equal({
      code: 'INVALID_STATE',
      message: 'Change request r1 is applied; possible actions: comment, revert.',
      details: { change: 'r1', state: 'applied', allowed: ['comment', 'revert'] },
    });
    expect(wrongState('r1', { ...REQUEST, state: 'withdrawn', proposal: null })).to.deep.equal({
      code: 'INVALID_STATE',
      message: 'Change request r1 is withdrawn; it has ended, so no action is possible.',
      details: { change: 'r1', state: 'withdrawn', allowed: [] },
    });
  });
});
