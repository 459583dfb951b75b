import { expect } from 'chai';
import type { Problem } from '../../../../src/kernel/problem.js';
import { wrongState } from '../../../../src/pipeline/change-requests/planning.js';
import * as problems from '../../../../src/pipeline/change-requests/proposals/problems.js';
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
  updatedMeanwhile: [
    problems.updatedMeanwhile('r1'),
    { code: 'PLAN_CHANGED', message: 'The change request r1 was updated at this moment: look at it again.' },
  ],
  stale: [
    problems.stale(REQUEST, 'now'),
    {
      code: 'PLAN_CHANGED',
      message:
        'The change request r1 is stale: what it removes or changes is not what it was when it was proposed. Propose it again from the schema as it is now.',
      details: { plan: 'then', plan_now: 'now' },
    },
  ],
  otherPlan: [
    problems.otherPlan(REQUEST, 'mine'),
    {
      code: 'PLAN_CHANGED',
      message: 'The plan of the change request r1 is not the one that was looked at: look at it again.',
      path: 'plan',
      details: { plan: 'then', looked_at: 'mine' },
    },
  ],
  tooManyOpen: [
    problems.tooManyOpen(3),
    {
      code: 'TOO_MANY_REQUESTS',
      message:
        'You have 3 change requests that have not ended, the most for one user (CHANGES_PER_USER): withdraw some, or wait until they are applied.',
    },
  ],
  changesNothing: [
    problems.changesNothing('apply-diff'),
    { code: 'INVALID_PAYLOAD', message: 'This changes nothing: the schema is so already.', path: 'diff' },
  ],
  otherSubject: [
    problems.otherSubject({ ...REQUEST, operation: 'update-policy' }),
    { code: 'INVALID_PAYLOAD', message: 'The change request r1 changes the policy: send a policy.', path: 'diff' },
  ],
  ownApproval: [
    problems.ownApproval(REQUEST),
    {
      code: 'FORBIDDEN',
      message: 'The policy asks for approval by somebody else than the author of the change request r1.',
    },
  ],
  nothingLeft: [
    problems.nothingLeft(),
    { code: 'INVALID_STATE', message: 'Nothing is left to do: the schema is so already.' },
  ],
  beingReverted: [
    problems.beingReverted('r1', 'r2'),
    {
      code: 'INVALID_STATE',
      message: 'The change request r2 reverts r1 already: apply that one, or withdraw it first.',
      details: { change: 'r2' },
    },
  ],
  badTime: [
    problems.badTime('2020-01-01', 'has passed'),
    { code: 'INVALID_PAYLOAD', message: 'at has passed by the clock of the database: 2020-01-01.', path: 'at' },
  ],
  notYetDue: [
    problems.notYetDue(REQUEST),
    { code: 'INVALID_STATE', message: 'The change request r1 is scheduled for 2026-01-01T03:00:00.000Z.' },
  ],
  schedulerLost: [
    problems.schedulerLost(REQUEST),
    {
      code: 'FORBIDDEN',
      message: 'The change request r1 was scheduled by Ada, who is no active admin any more.',
    },
  ],
  nothingToPrepare: [
    problems.nothingToPrepare(REQUEST),
    {
      code: 'INVALID_STATE',
      message: 'Nothing of the change request r1 takes long: it is applied without being prepared.',
    },
  ],
};

describe('rejections of change requests', () => {
  for (const [name, [problem, expected]] of Object.entries(SAID))
    it(`use the recorded message: ${name}`, () => expect(problem).to.deep.equal(expected));

  it('are complete', () => {
    expect(Object.keys(SAID)).to.have.members(Object.keys(problems));
  });

  it('name the state and the allowed actions', () => {
    expect(wrongState('r1', undefined)).to.deep.equal({ code: 'NOT_FOUND', message: 'There is no change request r1.' });
    expect(wrongState('r1', { ...REQUEST, state: 'applied' })).to.deep.equal({
      code: 'INVALID_STATE',
      message: 'The change request r1 is applied; what can be done is: comment, revert.',
      details: { change: 'r1', state: 'applied', allowed: ['comment', 'revert'] },
    });
    expect(wrongState('r1', { ...REQUEST, state: 'withdrawn', proposal: null })).to.deep.equal({
      code: 'INVALID_STATE',
      message: 'The change request r1 is withdrawn; nothing can be done with it any more.',
      details: { change: 'r1', state: 'withdrawn', allowed: [] },
    });
  });
});
