import { expect } from 'chai';
import fc from 'fast-check';
import { runToEnd } from '../../src/kernel/resumable.js';
import { stepsOf } from '../support/steps.js';
import { canonicalPieces, createCanonicalWriter, canonicalJson } from '../../src/kernel/canonical.js';
import { limitRuns } from '../support/runs.js';

describe('the canonical writer', () => {
  it('writes the same as canonicalJson, regardless of earlier writes', () => {
    const write = createCanonicalWriter();
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        expect(write(value)).to.equal(canonicalJson(value));
      }),
      limitRuns(2_000),
    );
  });

  it('does so for objects of few shapes with members in any order', () => {
    const write = createCanonicalWriter();
    const member = fc.constantFrom(
      'a',
      'b',
      'é',
      '😀',
      '\uFFFF',
      '1',
      '10',
      '2',
      '01',
      '-1',
      '__proto__',
      'toJSON',
      '',
    );
    const value = fc.oneof(
      fc.constant(null),
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.dictionary(member, fc.oneof(value, fc.dictionary(member, value))), (object) => {
        expect(write(object)).to.equal(canonicalJson(object));
      }),
      limitRuns(5_000),
    );
  });

  it('leaves out undefined members', () => {
    const write = createCanonicalWriter();
    expect(write({ b: undefined, a: 1, c: [{ z: undefined }] })).to.equal('{"a":1,"c":[{}]}');
  });
});

describe('canonical JSON in pieces', () => {
  it('equals the whole text, for any members', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.jsonValue({ maxDepth: 1 }),
        fc.integer({ min: 0, max: 160 }),
        (object, item, length) => {
          const list = Array.from({ length }, (_, index) => [index, item]);
          const value = { ...object, list, left: undefined };
          const pieces = runToEnd(canonicalPieces(value, createCanonicalWriter()));
          expect(pieces.join('')).to.equal(canonicalJson(value));
        },
      ),
    );
  });

  it('has a step for every 50 elements of a longer list', () => {
    const stepsFor = (length: number): number => {
      const fields = Array.from({ length }, (_, index) => ({ field: `item_${index}` }));
      return stepsOf(canonicalPieces({ fields }, createCanonicalWriter()));
    };
    expect([0, 50, 51, 100, 101, 5_000].map(stepsFor)).to.deep.equal([0, 0, 2, 2, 3, 100]);
  });
});
