import { expect } from 'chai';
import { endOfLiteral, endOfString, lineAndColumn, skipSpace } from '../../../src/http/body/json.js';
import { runToEnd } from '../../../src/kernel/resumable.js';

const LIMIT = 1_000;

describe('JSON scanning', () => {
  describe('of strings', () => {
    const endOf = (text: string, from = 0, limit = LIMIT): number => endOfString(Buffer.from(text), from, limit);

    it('ends after the closing quote', () => {
      for (const text of ['""', '"a"', '"é😀"', '"\\""', '"\\\\"', '"\\/\\b\\f\\n\\r\\t"', '"\\u00e9\\uD83d\\uDE00"']) {
        expect(endOf(text), text).to.equal(Buffer.byteLength(text));
        expect(endOf(`[${text},"x"]`, 1), text).to.equal(Buffer.byteLength(text) + 1);
      }
    });

    it('reports the position of a fault', () => {
      const FAULTS: [text: string, at: number][] = [
        ['"', 1],
        ['"abc', 4],
        ['"a\nb"', 2],
        ['"a\u001fb"', 2],
        ['"\\x"', 2],
        ['"\\', 2],
        ['"\\u12"', 2],
        ['"\\u12G4"', 2],
        ['"ab\\u123', 4],
      ];
      for (const [text, at] of FAULTS) expect(endOf(text), JSON.stringify(text)).to.equal(-at);
      expect(endOf('"\u007f "')).to.equal(4);
    });

    it('reads no further than its limit', () => {
      expect(endOf('"abcd"', 0, 5)).to.equal(6);
      expect(endOf('"abcd"', 0, 4)).to.equal(-4);
      expect(endOf('x"abcd"', 1, 5)).to.equal(7);
    });
  });

  it('ends numbers and literals at their end, or reports the fault', () => {
    const ENDS: [text: string, end: number][] = [
      ['true', 4],
      ['false,', 5],
      ['null]', 4],
      ['0', 1],
      ['-0', 2],
      ['10', 2],
      ['012', 1],
      ['-12.50', 6],
      ['1e5', 3],
      ['1E+5', 4],
      ['1.5e-10,', 7],
      ['0.0', 3],
      ['0e0', 3],
      ['1.', -2],
      ['1.e5', -2],
      ['1e', -2],
      ['1e+', -3],
      ['1e-x', -3],
      ['-a', -1],
      ['trux', -3],
      ['tru', -3],
      ['nul', -3],
      ['1 2', 1],
      ['1/', 1],
      ['1:', 1],
      ['89', 2],
      ['1d5', 1],
    ];
    for (const [text, end] of ENDS) {
      expect(endOfLiteral(Buffer.from(text), 0), text).to.equal(end);
      const moved = end < 0 ? end - 3 : end + 3;
      expect(endOfLiteral(Buffer.from(`   ${text}`), 3), `behind something: ${text}`).to.equal(moved);
    }
    // An invalid first character ends there.
    for (const text of ['', '.5', 'e5', 'E']) expect(Math.abs(endOfLiteral(Buffer.from(text), 0)), text).to.equal(0);
  });

  it('skips up to 4 MiB of white space', () => {
    expect(skipSpace(Buffer.from(' \t\n\r x'), 0)).to.equal(5);
    expect(skipSpace(Buffer.from('x '), 0)).to.equal(0);
    expect(skipSpace(Buffer.from('x  '), 1)).to.equal(3);
    expect(skipSpace(Buffer.from('\v\u00a0'), 0)).to.equal(0);
    const most = 4 * 1024 * 1024;
    expect(skipSpace(Buffer.alloc(most + 10, ' '), 0)).to.equal(most);
    expect(skipSpace(Buffer.alloc(most + 10, ' '), 5)).to.equal(most + 5);
  });

  it('reports line and column in characters', () => {
    const placeIn = (text: string, at: number) => runToEnd(lineAndColumn(Buffer.from(text), at));
    expect(placeIn('', 0)).to.deep.equal({ line: 1, column: 1 });
    expect(placeIn('ab', 2)).to.deep.equal({ line: 1, column: 3 });
    expect(placeIn('a\nbc', 3)).to.deep.equal({ line: 2, column: 2 });
    expect(placeIn('a\n\n', 3)).to.deep.equal({ line: 3, column: 1 });
    expect(placeIn('é😀x', 6)).to.deep.equal({ line: 1, column: 3 });
    expect([...lineAndColumn(Buffer.alloc(250_000, 'a'), 250_000)]).to.have.lengthOf(3);
  });
});
