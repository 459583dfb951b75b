import { expect } from 'chai';
import { describeWhole } from '../../../src/features/change-requests/cli.js';
import type { ShownChange } from '../../../src/cli/follow-change.js';
import {
  answeredChange,
  answeredFinding,
  answeredPlanned,
  answeredProblem,
  answeredProposal,
  answeredStatement,
  answeredStep as step,
} from '../../support/answered.js';

const REQUEST = { collections: ['a', 'b'], author: { id: 'u1', name: 'ann\u001b' } };

const describeShown = (change: Partial<ShownChange>): string[] =>
  describeWhole(answeredChange({ ...REQUEST, ...change })).split('\n');

const HEAD = String.raw`5d3f  applied    2026-01-02 03:04:05  ann\u001b  apply-diff (a, b)`;
const messagesOf = (name: string, text: string | null) => ({
  by: { id: name, name },
  at: '2026-01-02T03:04:05.678Z',
  position: 1,
  text,
});
const approved = { plan: 'p1', online: false, credential: 'password' } as const;

describe('a change request in dps output', () => {
  it('has one line if there is nothing more to show', () => {
    expect(describeShown({})).to.deep.equal([HEAD]);
    expect(describeShown({ state: 'open', title: 'Two\nlines', reason: 'why\tnot' })).to.deep.equal([
      String.raw`5d3f  open       2026-01-02 03:04:05  ann\u001b  Two\nlines (a, b)`,
      String.raw`  why: why\tnot`,
    ]);
  });

  it('lists its steps, their progress and the current activity during preparation', () => {
    const steps = [
      step('copy', { state: 'done', done: 1 }),
      step('fill\u0007', { state: 'running', done: 0.479, phase: 'rows' }),
      step('wait', { state: 'running' }),
      step('end', { done: 0.5 }),
    ];
    const lines = ['  [x] copy', String.raw`  [>] fill\u0007  47 %  (rows)`, '  [>] wait', '  [ ] end'];
    expect(describeShown({ steps })).to.deep.equal([HEAD, ...lines]);
    for (const state of ['preparing', 'prepared'] as const) {
      expect(describeShown({ state, steps }).slice(1)).to.deep.equal([...lines, String.raw`now: 2 of 4: fill\u0007`]);
    }
    expect(describeShown({ state: 'queued' })[1]).to.equal('now: waiting for its turn');
  });

  it('lists its findings, errors and result', () => {
    expect(
      describeShown({
        warnings: [answeredFinding({ code: 'A', collection: 'a', message: 'm' })],
        errors: [answeredProblem('one\n'), answeredProblem('two')],
        result: { position: 7, batch: 'b7' },
      }).slice(1),
    ).to.deep.equal(['! A a: m', String.raw`failed: one\n`, 'failed: two', 'applied: position 7, batch b7']);
  });

  it('lists comments, approvals and the current plan of a proposal', () => {
    const proposal = answeredProposal({
      approvals_needed: 2,
      approvals_counted: 1,
      approvals: [
        { ...messagesOf('bob', null), ...approved, counts: true, why_not: null },
        { ...messagesOf('eve\n', 'fine\n'), ...approved, counts: false, why_not: 'another plan' },
      ],
    });
    const when = '2026-01-02 03:04:05';
    const approvals = [
      'approvals: 1 (2 if the policy requires approval)',
      `  ${when}  bob`,
      String.raw`  ${when}  eve\n: fine\n (doesn't count: another plan)`,
    ];
    expect(describeShown({ plan: 'p1', proposal }).slice(1)).to.deep.equal(['plan p1', ...approvals]);
    const statement = { summary: 'drop column a.b', sql: 'ALTER TABLE a DROP COLUMN b', lock: 'ACCESS EXCLUSIVE' };
    const planned = answeredPlanned({
      fresh: false,
      statements: [answeredStatement(statement)],
      findings: [answeredFinding({ code: 'A', message: 'm' })],
      errors: [answeredProblem('there is no b')],
      loses: [
        { collection: 'a', field: 'b', kept: false, why_not: 'it has no primary key' },
        { collection: 'a', field: 'x', kept: false, why_not: null },
        { collection: 'c', field: null, kept: true, why_not: null },
      ],
    });
    expect(
      describeShown({
        plan: 'p1',
        planned,
        proposal: {
          ...proposal,
          rejection: messagesOf('dan', 'no'),
          comments: [
            { ...messagesOf('fay', 'well'), place: null },
            { ...messagesOf('gus', null), place: null },
            { ...messagesOf('hal', 'why?'), place: { part: 'fields', collection: 'a', field: 'b\n' } },
          ],
        },
      }).slice(1),
    ).to.deep.equal([
      'plan p1',
      'stale: the schema and the plan have changed',
      '  there is no b',
      '  drop column a.b (lock: ACCESS EXCLUSIVE)',
      '    ALTER TABLE a DROP COLUMN b',
      '! A: m',
      'deletes a.b permanently: it has no primary key',
      'deletes a.x permanently',
      'deletes c, restorable from the trash',
      ...approvals,
      `rejected: ${when}  dan: no`,
      `  ${when}  fay: well`,
      `  ${when}  gus`,
      String.raw`  ${when}  hal on field a.b\n: why?`,
    ]);
    expect(describeShown({ plan: 'p1', planned: answeredPlanned({}), proposal }).slice(1)).to.deep.equal([
      'plan p1',
      ...approvals,
    ]);
  });
});
