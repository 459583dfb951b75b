import { expect } from 'chai';
import { lineDiff } from '../../../src/web/shared/text.js';

const renderDiff = (before: string[], after: string[]): string[] =>
  lineDiff(before.join('\n'), after.join('\n')).map(({ sign, text }) => sign + text);

describe('a comparison by line', () => {
  it('keeps common lines, and marks deleted and added ones', () => {
    expect(renderDiff(['a', 'b', 'c', 'd'], ['a', 'x', 'c', 'd', 'e'])).to.deep.equal([
      ' a',
      '-b',
      '+x',
      ' c',
      ' d',
      '+e',
    ]);
    expect(renderDiff(['a'], ['a'])).to.deep.equal([' a']);
    expect(renderDiff(['a', 'a'], ['a'])).to.deep.equal([' a', '-a']);
    expect(renderDiff(['a', 'b'], ['b', 'a'])).to.deep.equal(['-a', ' b', '+a']);
  });

  it('replaces all lines of texts that would take long to compare', () => {
    const lines = (word: string) => Array.from({ length: 1001 }, (_, index) => `${word} ${index}`);
    const compared = renderDiff(['start', ...lines('a'), 'end'], ['start', ...lines('b'), 'end']);
    expect(compared).to.have.length(2006);
    expect([compared[0], compared[1002], compared[1003], compared[2005]]).to.deep.equal([
      '-start',
      '-end',
      '+start',
      '+end',
    ]);
  });
});
