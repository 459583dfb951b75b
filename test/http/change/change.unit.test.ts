import type { Request } from 'express';
import { expect } from 'chai';
import { readAcknowledgements, takeAcknowledgements } from '../../../src/http/change/change.js';
import { RejectedError } from '../../../src/http/errors.js';

const call = (body: unknown, header?: string) => ({
  req: { headers: header === undefined ? {} : { 'x-acknowledge': header } } as unknown as Request,
  body,
});

/** The locations and messages of a rejection. */
function refusalOf(work: () => unknown): [path: string | undefined, message: string][] {
  try {
    work();
  } catch (error) {
    if (!(error instanceof RejectedError)) throw error;
    expect(error.problems.map(({ code }) => code)).to.deep.equal(error.problems.map(() => 'INVALID_PAYLOAD'));
    return error.problems.map(({ path, message }) => [path, message]);
  }
  throw new Error('it was taken');
}

describe('acknowledgements of a change', () => {
  const findings = [
    { code: 'LOSES_DATA', place: 'a.b' },
    { code: 'REWRITES_TABLE', place: 'a' },
  ];

  it('are removed from the body and reported at their locations', () => {
    const input = call({ hash: 'x', acknowledge: findings });
    const { req, body } = takeAcknowledgements(input);
    expect(body).to.deep.equal({ hash: 'x' });
    const known = readAcknowledgements({ req });
    expect(known?.findings).to.deep.equal(findings);
    expect(known?.at?.(1)).to.deep.equal(['acknowledge', 1]);
  });

  it('are read from the header if the body cannot contain them', () => {
    for (const body of [undefined, null, [], 'acknowledge', { hash: 'x' }]) {
      const input = call(body, 'LOSES_DATA:a.b');
      expect(takeAcknowledgements(input)).to.equal(input);
      const known = readAcknowledgements(input);
      expect(known?.findings).to.deep.equal([findings[0]]);
      expect(known?.at?.(0)).to.deep.equal(['X-Acknowledge']);
    }
    expect(readAcknowledgements(takeAcknowledgements(call({})))).to.equal(undefined);
    expect(refusalOf(() => readAcknowledgements(takeAcknowledgements(call({ acknowledge: [] }, 'A:a'))))).to.deep.equal(
      [['acknowledge', 'send the acknowledgements in the body or in X-Acknowledge, not in both']],
    );
  });

  it('are rejected at every invalid location', () => {
    const refused = (acknowledge: unknown) => refusalOf(() => takeAcknowledgements(call({ acknowledge })));
    const full = [['acknowledge', 'must be an array of at most 1000 objects with code and place']];
    for (const wrong of [null, {}, 'LOSES_DATA:a', Array.from({ length: 1_001 }, () => findings[0])]) {
      expect(refused(wrong)).to.deep.equal(full);
    }
    takeAcknowledgements(call({ acknowledge: Array.from({ length: 1_000 }, () => findings[0]) }));
    expect(refused([{ code: 'A' }])).to.deep.equal([
      ['acknowledge[0].place', 'place is required and must be a string'],
    ]);
    expect(refused([findings[0], 'A:a', { code: 1, more: 2 }])).to.deep.equal([
      ['acknowledge[1]', 'must be an object with code and place'],
      ['acknowledge[2].more', 'unknown member "more"; known members: code, place'],
      ['acknowledge[2].code', 'code is required and must be a string'],
      ['acknowledge[2].place', 'place is required and must be a string'],
    ]);
  });
});
