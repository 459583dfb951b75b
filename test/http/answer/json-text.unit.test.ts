import { expect } from 'chai';
import fc from 'fast-check';
import { jsonBytes } from '../../../src/http/answer/answer.js';
import { runToEnd } from '../../../src/kernel/resumable.js';

describe('writing JSON in steps', () => {
  it('yields the output of JSON.stringify', () => {
    const values = fc.oneof(fc.jsonValue({ maxDepth: 5 }), fc.constant({ a: undefined, b: [undefined, 1] }));
    fc.assert(
      fc.property(values, (value) => {
        expect(runToEnd(jsonBytes(value)).toString()).equal(JSON.stringify(value));
      }),
      { numRuns: 500 },
    );
  });

  it('yields to the event loop', () => {
    const steps = jsonBytes({
      diff: { fields: Array.from({ length: 20_000 }, (_, index) => ({ index, ü: 'ß' })) },
    });
    let count = 0;
    while (steps.next().done !== true) count += 1;
    expect(count).above(20);
  });
});
