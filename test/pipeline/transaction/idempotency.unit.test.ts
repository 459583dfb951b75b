import { expect } from 'chai';
import type { Problem } from '../../../src/kernel/problem.js';
import { outcomeUnknown } from '../../../src/pipeline/transaction/commit.js';
import { readEarlierAnswer, isStorable } from '../../../src/pipeline/transaction/idempotency.js';
import type { CompletedChange, Idempotency } from '../../../src/pipeline/types.js';

const problem = (code: Problem['code']): Problem => ({ code, message: code });

describe('the first response to a key', () => {
  it('is stored, unless it is temporary', () => {
    expect(isStorable({ kind: 'done' } as CompletedChange)).to.equal(true);
    const kept: [codes: Problem['code'][], isKept: boolean][] = [
      [[], true],
      [['ALREADY_EXISTS', 'IN_USE'], true],
      [['LOCK_TIMEOUT'], false],
      [['UNAVAILABLE'], false],
      [['IN_USE', 'UNAVAILABLE'], false],
      [['LOCK_TIMEOUT', 'IN_USE'], false],
    ];
    for (const [codes, isKept] of kept)
      expect(isStorable({ kind: 'refused', problems: codes.map(problem) }), codes.join()).to.equal(isKept);
  });

  const request = { requestHash: 'the same' } as Idempotency;
  const row = { request_hash: 'the same', status: 409, headers: { location: '/a' }, body: { data: 1 } };

  it('is repeated for the same request only', () => {
    expect(readEarlierAnswer(request, [])).to.equal(undefined);
    const { status, headers, body } = row;
    expect(readEarlierAnswer(request, [row])).to.deep.equal({ kind: 'replayed', status, headers, body });
    const message = 'This Idempotency-Key was used for another request within the last 24 hours. Send a new key.';
    expect(readEarlierAnswer(request, [{ ...row, request_hash: 'another' }])).to.deep.equal({
      kind: 'refused',
      problems: [{ code: 'IDEMPOTENCY_MISMATCH', message }],
    });
  });

  it('is reported as missing if it never arrived', () => {
    const lost =
      'The connection to the database was lost during the commit, so it is not known whether the change was committed.';
    expect([outcomeUnknown(true), outcomeUnknown(false)]).to.deep.equal([
      {
        code: 'UNAVAILABLE',
        message: `${lost} Send the request again with the same Idempotency-Key. It is executed at most once.`,
      },
      {
        code: 'UNAVAILABLE',
        message: `${lost} Check the schema before you send it again, or send such requests with an Idempotency-Key.`,
      },
    ]);
  });
});
