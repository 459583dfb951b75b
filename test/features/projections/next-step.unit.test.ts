import { expect } from 'chai';
import { nextStep } from '../../../src/features/projections/index.js';

describe('advice for a failed projection', () => {
  const at = (sqlstate: string | null, field: string | null = 'body') =>
    nextStep('indexes', { collection: 'pages', field, sqlstate });

  for (const [sqlstate, remedy] of [
    ['54000', 'A value is too large'],
    ['53100', 'out of disk space'],
    ['42501', 'privilege to create indexes'],
    ['XX001', 'PostgreSQL log|internal error'],
    ['99999', 'Fix the problem that the message names'],
    [null, 'Fix the problem that the message names'],
  ] as const) {
    it(`${sqlstate}: ${remedy}`, () => expect(at(sqlstate)).to.match(new RegExp(remedy)));
  }

  it('explains how to resume it, and how to remove the index', () => {
    const sentence =
      'A value is too large for such an index. Shorten it, or remove the index. Then retry with "dps rebuild indexes" or ' +
      'POST /projections/indexes/rebuild. The service also retries automatically, with increasing delays.';
    expect(at('54000')).to.equal(`${sentence} To remove the index, set schema.is_indexed of pages.body to false.`);
    expect(at('54000', null)).to.equal(sentence);
  });
});
