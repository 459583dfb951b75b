import { expect } from 'chai';
import { nextStep } from '../../../src/projector/projections.js';

describe('advice for a failed projection', () => {
  const at = (sqlstate: string | null, field: string | null = 'body') =>
    nextStep('indexes', { collection: 'pages', field, sqlstate });

  for (const [sqlstate, remedy] of [
    ['54000', 'A value is too large'],
    ['53100', 'short of disk'],
    ['42501', 'right to create indexes'],
    ['XX001', "PostgreSQL's log|inner error"],
    ['99999', 'Mend what the message says'],
    [null, 'Mend what the message says'],
  ] as const) {
    it(`${sqlstate}: ${remedy}`, () => expect(at(sqlstate)).to.match(new RegExp(remedy)));
  }

  it('explains how to resume it, and how to remove the index', () => {
    const sentence =
      'A value is too large for such an index: shorten it, or give the index up; then "dps rebuild indexes" or ' +
      'POST /projections/indexes/rebuild tries again at once (it is also tried again by itself, with growing pauses).';
    expect(at('54000')).to.equal(`${sentence} To give the index up, set schema.is_indexed of pages.body to false.`);
    expect(at('54000', null)).to.equal(sentence);
  });
});
