/** A new policy may permit changes that the present one rejects. */
import { expect } from 'chai';
import fc from 'fast-check';
import {
  ACTIONS,
  DEFAULT_POLICY,
  type Policy,
  actionOf,
  isStopping,
  judgeFinding,
  findLoosened,
  policyUpdated,
  policyWarnings,
} from '../../../src/schema/policy.js';

const policyOf = (members: Partial<Policy>): Policy => ({ ...DEFAULT_POLICY, ...members });

const LOSES: Policy['findings'] = { LOSES_DATA: 'refuse' };

describe('loosening a policy', () => {
  const cases: [title: string, from: Partial<Policy>, to: Partial<Policy>, loosened: string[]][] = [
    ['fewer approvals', { approvals: 2 }, { approvals: 1 }, ['approvals']],
    ['more approvals', { approvals: 1 }, { approvals: 2 }, []],
    ['changes need no reason', { requires_reason: true }, {}, ['requires_reason']],
    ['authors may approve', { author_may_approve: false }, {}, ['author_may_approve']],
    [
      'a larger table may be changed offline',
      { online_above_rows: 10 },
      { online_above_rows: 11 },
      ['online_above_rows'],
    ],
    ['any table may be changed offline', { online_above_rows: 10 }, {}, ['online_above_rows']],
    ['changes of the policy are free again', { policy_changes: 'approve' }, {}, ['policy_changes']],
    ['a milder action', { findings: LOSES }, { findings: { LOSES_DATA: 'approve' } }, ['findings.LOSES_DATA']],
    ['no action', { findings: LOSES }, {}, ['findings.LOSES_DATA']],
    ['another way to show a finding', { findings: { LOSES_DATA: 'warn' } }, { findings: { LOSES_DATA: 'off' } }, []],
    ['NOT_ONLINE is refused by default', {}, { findings: { NOT_ONLINE: 'warn' } }, ['findings.NOT_ONLINE']],
    [
      'a milder pattern before a stricter one',
      { collections: [{ pattern: 'a*', findings: LOSES }] },
      {
        collections: [
          { pattern: 'ab*', findings: { LOSES_DATA: 'warn' } },
          { pattern: 'a*', findings: LOSES },
        ],
      },
      ['collections (LOSES_DATA)'],
    ],
    [
      'a milder pattern after a stricter one',
      { collections: [{ pattern: 'a*', findings: LOSES }] },
      {
        collections: [
          { pattern: 'a*', findings: LOSES },
          { pattern: 'b*', findings: { LOSES_DATA: 'approve' } },
        ],
      },
      [],
    ],
    [
      'an exception',
      { findings: LOSES },
      { findings: LOSES, collections: [{ pattern: 'tmp_*', findings: { LOSES_DATA: 'off' } }] },
      ['collections (LOSES_DATA)'],
    ],
  ];
  for (const [title, from, to, loosened] of cases)
    it(loosened.length === 0 ? `does not loosen it: ${title}` : `loosens it: ${title}`, () =>
      expect(findLoosened(policyOf(from), policyOf(to))).to.deep.equal(loosened),
    );

  it('never misses a collection for which a finding is stopped less than before', () => {
    const actions = fc.dictionary(fc.constantFrom('LOSES_DATA', 'NOT_ONLINE'), fc.constantFrom(...ACTIONS));
    const rule = fc.record({ pattern: fc.constantFrom('*', 'a', 'a*', '*b', 'ab', 'b*'), findings: actions });
    const policies = fc.record({ findings: actions, collections: fc.array(rule, { maxLength: 4 }) }).map(policyOf);
    fc.assert(
      fc.property(
        policies,
        policies,
        fc.constantFrom('a', 'b', 'ab', 'abb', 'ba', 'c'),
        fc.constantFrom('LOSES_DATA', 'NOT_ONLINE'),
        (from, to, name, code) => {
          const [before, after] = [from, to].map((policy) => {
            const action = actionOf(policy, code, name) ?? (code === 'NOT_ONLINE' ? 'refuse' : 'warn');
            return isStopping(action) ? ACTIONS.indexOf(action) : 0;
          });
          fc.pre(Number(after) < Number(before));
          expect(findLoosened(from, to)).not.to.deep.equal([]);
        },
      ),
      { seed: 20261125, numRuns: 2_000 },
    );
  });

  it('does not report a policy that is the same', () =>
    fc.assert(
      fc.property(
        fc.array(fc.record({ pattern: fc.constantFrom('a*', '*', 'b'), findings: fc.constant(LOSES) })),
        (rules) => {
          expect(findLoosened(policyOf({ collections: rules }), policyOf({ collections: rules }))).to.deep.equal([]);
        },
      ),
    ));

  it('is decided by policy_changes of the present policy, and by nothing else in it', () => {
    const loosenedMembers = (from: Partial<Policy>, to: Partial<Policy>) => {
      const policy = policyOf({ findings: { LOOSENS_POLICY: 'off', CHANGES_POLICY: 'off' }, ...from });
      return policyWarnings(policy, [policyUpdated(policyOf({ ...to }))]).map(
        ({ code }) => `${code} ${judgeFinding(policy, { code, level: 'warn' })?.action}`,
      );
    };
    const stricter = { approvals: 2, policy_changes: 'approve', findings: { LOOSENS_POLICY: 'off' } } as const;
    expect(loosenedMembers({}, stricter)).to.deep.equal(['CHANGES_POLICY note']);
    expect(loosenedMembers({ approvals: 2 }, {})).to.deep.equal(['LOOSENS_POLICY warn']);
    expect(loosenedMembers({ policy_changes: 'acknowledge' }, stricter)).to.deep.equal(['CHANGES_POLICY note']);
    expect(loosenedMembers({ policy_changes: 'acknowledge' }, {})).to.deep.equal(['LOOSENS_POLICY acknowledge']);
    expect(loosenedMembers({ policy_changes: 'approve' }, stricter)).to.deep.equal(['CHANGES_POLICY approve']);
    expect(loosenedMembers({ policy_changes: 'approve' }, {})).to.deep.equal(['LOOSENS_POLICY approve']);
  });
});
