import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  ACTIONS,
  DEFAULT_POLICY,
  type Policy,
  actionOf,
  foldPolicy,
  hasReason,
  isEnforced,
  judgeFinding,
  policyUpdated,
  matchesPattern,
} from '../../../src/schema/policy.js';
import { locationText } from '../../../src/schema/model/location.js';
import { changesSchema } from '../../../src/schema/fold/event-schemas.js';
import { readEvent } from '../../../src/schema/fold/upcasting.js';

const policyOf = (members: Partial<Policy>): Policy => ({ ...DEFAULT_POLICY, ...members });

describe('collection patterns', () => {
  const cases: [pattern: string, name: string, fits: boolean][] = [
    ['articles', 'articles', true],
    ['articles', 'article', false],
    ['*', '', true],
    ['tmp_*', 'tmp_', true],
    ['tmp_*', 'Tmp_a', false],
    ['*_log', 'access_log', true],
    ['a*a', 'a', false],
    ['a*b*c', 'a-c-b-c', true],
    ['a*b*c', 'acb', false],
    ['a*bc*c', 'abc', false],
    ['a.c', 'abc', false],
    ['[ab]', 'a', false],
    ['*__proto__*', '__proto__', true],
  ];
  for (const [pattern, name, expected] of cases)
    it(`${pattern} ${expected ? 'matches' : 'does not match'} ${JSON.stringify(name)}`, () =>
      assert.equal(matchesPattern(pattern, name), expected));

  it('equal the corresponding regular expression', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 8 });
    const name = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 10 });
    fc.assert(
      fc.property(text, name, (pattern, value) =>
        assert.equal(matchesPattern(pattern, value), new RegExp(`^${pattern.replaceAll('*', '[ab]*')}$`).test(value)),
      ),
      { numRuns: 2_000 },
    );
  });

  // Trying every distribution of letters would exceed the time limit of the runner.
  it('match, however many stars they have', () => {
    assert.equal(matchesPattern(`${'a*'.repeat(120)}b`, 'a'.repeat(63)), false);
  });
});

describe('the policy', () => {
  it('is that of the newest event, or the default before', () => {
    const first = policyOf({ findings: { LOSES_DATA: 'refuse' } });
    const second = policyOf({ approvals: 2 });
    assert.deepEqual(foldPolicy([]), DEFAULT_POLICY);
    assert.deepEqual(foldPolicy([policyUpdated(first), policyUpdated(second)]), second);
  });

  it('is read from the log as set, and does not change the schema', () => {
    const policy = policyOf({
      collections: [{ pattern: 'a*', findings: { LOSES_DATA: 'off' } }],
      online_above_rows: 0,
    });
    const event = { ...policyUpdated(policy), position: 3 };
    assert.deepEqual(foldPolicy([readEvent(JSON.parse(JSON.stringify(event)) as typeof event)]), policy);
    assert.equal(changesSchema(event), false);
  });

  it('accepts only a reason with a visible character', () => {
    for (const reason of [null, '', ' \t', '\u200b', '\u2060 \u00a0']) assert.equal(hasReason({ reason }), false);
    for (const reason of ['x', ' why ', '\u200bß']) assert.equal(hasReason({ reason }), true);
  });

  it('requires no reason if an earlier release set it', () => {
    const { requires_reason: _, ...policy } = policyOf({ approvals: 2 });
    const event = { ...policyUpdated(DEFAULT_POLICY), data: { policy }, position: 3 };
    assert.deepEqual(foldPolicy([readEvent(event)]), { ...policy, requires_reason: false });
  });

  it('is unreadable with content of a newer release', () => {
    const data = { policy: { ...DEFAULT_POLICY, findings: { LOSES_DATA: 'forbid' } } };
    assert.throws(() => readEvent({ ...policyUpdated(DEFAULT_POLICY), data, position: 3 }), /event 3 cannot be read/);
  });

  it('blocks nothing by default, and never informational findings', () => {
    assert.equal(isEnforced(DEFAULT_POLICY), false);
    assert.equal(isEnforced(policyOf({ findings: { LOSES_DATA: 'warn', MAY_FAIL: 'off' }, approvals: 3 })), false);
    for (const action of ['acknowledge', 'approve', 'refuse'] as const) {
      assert.equal(isEnforced(policyOf({ findings: { LOSES_DATA: action } })), true);
      assert.equal(isEnforced(policyOf({ collections: [{ pattern: '*', findings: { LOSES_DATA: action } }] })), true);
    }
    assert.equal(isEnforced(policyOf({ online_above_rows: 0 })), true);
    assert.equal(isEnforced(policyOf({ requires_reason: true })), true);
  });

  it('uses the first matching pattern with the code, then the general setting', () => {
    const policy = policyOf({
      findings: { LOSES_DATA: 'refuse', MAY_FAIL: 'approve' },
      collections: [
        { pattern: 'tmp_*', findings: { LOSES_DATA: 'off' } },
        { pattern: 'tmp_kept', findings: { LOSES_DATA: 'approve', MAY_FAIL: 'note' } },
      ],
    });
    assert.equal(actionOf(policy, 'LOSES_DATA', 'tmp_kept'), 'off');
    assert.equal(actionOf(policy, 'MAY_FAIL', 'tmp_kept'), 'note');
    assert.equal(actionOf(policy, 'MAY_FAIL', 'tmp_a'), 'approve');
    assert.equal(actionOf(policy, 'LOSES_DATA', 'articles'), 'refuse');
    assert.equal(actionOf(policy, 'LOSES_DATA', undefined), 'refuse');
    assert.equal(actionOf(policy, 'constructor', 'articles'), undefined);
    assert.equal(actionOf(policyOf({ collections: [{ pattern: '*', findings: {} }] }), '__proto__', 'a'), undefined);
  });
});

describe('a finding with a policy', () => {
  const finding = { code: 'LOSES_DATA', level: 'danger', collection: 'articles', field: 'title' } as const;

  it('has the action of its level by default', () => {
    assert.deepEqual(judgeFinding(DEFAULT_POLICY, finding), { ...finding, action: 'warn' });
    assert.deepEqual(judgeFinding(DEFAULT_POLICY, { ...finding, level: 'note' }), {
      ...finding,
      level: 'note',
      action: 'note',
    });
  });

  it('is hidden, a note, or at least a warning', () => {
    const by = (action: (typeof ACTIONS)[number], level: 'note' | 'danger') =>
      judgeFinding(policyOf({ findings: { LOSES_DATA: action } }), { ...finding, level });
    assert.equal(by('off', 'danger'), undefined);
    assert.equal(by('note', 'danger')?.level, 'note');
    assert.equal(by('warn', 'note')?.level, 'warn');
    assert.equal(by('refuse', 'danger')?.level, 'danger');
    for (const action of ACTIONS.slice(1)) assert.equal(by(action, 'note')?.action, action);
  });

  it('is rejected if a change was not online, unless the policy says otherwise', () => {
    const notOnline = { code: 'NOT_ONLINE', level: 'danger', collection: 'articles' } as const;
    const policy = policyOf({ online_above_rows: 1_000 });
    assert.equal(judgeFinding(policy, notOnline)?.action, 'refuse');
    const collections = [{ pattern: 'art*', findings: { NOT_ONLINE: 'approve' as const } }];
    assert.equal(judgeFinding({ ...policy, collections }, notOnline)?.action, 'approve');
  });

  it('uses the stricter of both names of a renamed collection', () => {
    const collections = [
      { pattern: 'prod_*', findings: { LOSES_DATA: 'refuse' as const } },
      { pattern: 'tmp_*', findings: { LOSES_DATA: 'off' as const } },
    ];
    const policy = policyOf({ collections });
    const was = (name: string) => () => ({ own: new Set([name]), above: new Set<string>() });
    const renamed = { ...finding, collection: 'tmp_a' };
    assert.equal(judgeFinding(policy, renamed), undefined);
    assert.equal(judgeFinding(policy, renamed, was('prod_a'))?.action, 'refuse');
    assert.equal(judgeFinding(policy, { ...finding, collection: 'prod_a' }, was('tmp_a'))?.action, 'refuse');
  });

  it('follows the rules with a pattern of the tables above its collection, but not their general setting', () => {
    const above = (name: string) => () => ({ own: new Set<string>(), above: new Set([name]) });
    const milder = { pattern: 'part_*', findings: { LOSES_DATA: 'note' as const } };
    const strict = { pattern: 'events', findings: { LOSES_DATA: 'refuse' as const } };
    const partition = { ...finding, collection: 'part_1' };
    const actionWith = (policy: Partial<Policy>, name: string) =>
      judgeFinding(policyOf(policy), partition, above(name))?.action;
    assert.equal(actionWith({ collections: [milder, strict] }, 'events'), 'refuse');
    assert.equal(actionWith({ collections: [milder, strict] }, 'others'), 'note');
    assert.equal(actionWith({ collections: [milder], findings: { LOSES_DATA: 'refuse' } }, 'events'), 'note');
    assert.equal(actionWith({ findings: { LOSES_DATA: 'refuse' } }, 'events'), 'refuse');
  });

  it('is identified by its location', () => {
    assert.equal(locationText(finding), 'articles.title');
  });
});
