import { expect } from 'chai';
import { RejectedError } from '../../../src/http/errors.js';
import { readPolicyBody } from '../../../src/http/policy.js';

function messagesOf(body: unknown, member?: string): string[] {
  try {
    readPolicyBody(body, member);
  } catch (error) {
    if (!(error instanceof RejectedError)) throw error;
    expect(error.problems.map(({ code }) => code)).to.deep.equal(error.problems.map(() => 'INVALID_PAYLOAD'));
    return error.problems.map(({ path, message }) => `${path}: ${message}`);
  }
  return [];
}

const DEFAULT = {
  findings: {},
  collections: [],
  online_above_rows: null,
  approvals: 1,
  author_may_approve: true,
  requires_reason: false,
  policy_changes: 'free',
};

describe('the body of a policy', () => {
  it('gets defaults for missing members', () => {
    expect(readPolicyBody({})).to.deep.equal(DEFAULT);
    expect(readPolicyBody({ approvals: 2 }, 'policy')).to.deep.equal({ ...DEFAULT, approvals: 2 });
  });

  it('is accepted up to its limits', () => {
    for (const body of [
      {
        findings: { LOSES_DATA: 'refuse' },
        collections: [{ pattern: 'a*', findings: { LOSES_DATA: 'approve' } }],
        online_above_rows: 0,
        approvals: 100,
        author_may_approve: false,
        requires_reason: true,
        policy_changes: 'approve',
      },
      { ...DEFAULT, collections: Array.from({ length: 200 }, () => ({ pattern: 'x'.repeat(255), findings: {} })) },
    ]) {
      expect(readPolicyBody(body)).to.deep.equal(body);
    }
  });

  it('is rejected at each invalid location, naming the actual value', () => {
    const [rule, unknown] = [
      { pattern: 'a', findings: {} },
      'is not the code of a finding; docs/findings.md lists all of them',
    ];
    const cases: [body: unknown, problems: string[]][] = [
      [
        { more: 1 },
        [
          'more: unknown member "more"; known members: findings, collections, online_above_rows, approvals, ' +
            'author_may_approve, requires_reason, policy_changes.',
        ],
      ],
      [{ findings: { NOTHING: 'warn' } }, [`findings.NOTHING: ${unknown}`]],
      [
        { findings: { LOSES_DATA: 'stop' } },
        ['findings.LOSES_DATA: must be one of off, note, warn, acknowledge, approve, refuse.'],
      ],
      [
        { collections: [rule, { ...rule, findings: { X: 'off', Y: 'off' } }] },
        ['X', 'Y'].map((code) => `collections[1].findings.${code}: ${unknown}`),
      ],
      [{ collections: [{ pattern: '', findings: {} }] }, ['collections[0].pattern: must have at least 1 character.']],
      [
        { collections: [{ ...rule, pattern: 'x'.repeat(256) }] },
        ['collections[0].pattern: must have at most 255 characters.'],
      ],
      [{ collections: Array.from({ length: 201 }, () => rule) }, ['collections: must have at most 200 items.']],
      [{ online_above_rows: -1 }, ['online_above_rows: must be at least 0.']],
      [{ approvals: 0 }, ['approvals: must be at least 1.']],
      [{ approvals: 101 }, ['approvals: must be at most 100.']],
    ];
    for (const [body, problems] of cases) {
      expect(messagesOf(body), JSON.stringify(body).slice(0, 100)).to.deep.equal(problems);
      expect(messagesOf(body, 'policy')).to.deep.equal(problems.map((problem) => `policy.${problem}`));
    }
  });

  it('cannot block findings that are informational only', () => {
    const shownOnly = (action: string) => messagesOf({ findings: { ROWS_IN_THE_WAY: action } });
    for (const action of ['off', 'note', 'warn']) expect(shownOnly(action), action).to.deep.equal([]);
    for (const action of ['acknowledge', 'approve', 'refuse']) {
      expect(shownOnly(action), action).to.deep.equal([
        'findings.ROWS_IN_THE_WAY: is reported only when a document is read: set it to off, note or warn',
      ]);
    }
  });

  it('rejects a finding called __proto__', () => {
    const hidden = JSON.parse('{"findings":{"__proto__":"off"}}') as object;
    const problem = 'a member cannot be named "__proto__"';
    expect(messagesOf(hidden)).to.deep.equal([`findings.__proto__: ${problem}`]);
    expect(messagesOf({ ...hidden, collections: [{ pattern: 'a', ...hidden }] }, 'policy')).to.deep.equal([
      `policy.findings.__proto__: ${problem}`,
      `policy.collections[0].findings.__proto__: ${problem}`,
    ]);
  });
});
