import { expect } from 'chai';
import { memoize } from '../../src/kernel/memoize.js';

describe('a memoized value', () => {
  function counting() {
    const requests: string[] = [];
    const ask = memoize((text): string | null => {
      requests.push(text);
      if (text === 'bad') throw new Error('bad');
      return text === 'nothing' ? null : text.toUpperCase();
    });
    return { asked: requests, ask };
  }

  it('is computed once, even if it is null', () => {
    const { asked: requested, ask } = counting();
    expect([ask('a'), ask('a'), ask('nothing'), ask('nothing')]).to.deep.equal(['A', 'A', null, null]);
    expect(requested).to.deep.equal(['a', 'nothing']);
  });

  it('is not cached after an error', () => {
    const { asked: requested, ask } = counting();
    expect(() => ask('bad')).to.throw('bad');
    expect(() => ask('bad')).to.throw('bad');
    expect(requested).to.have.length(2);
  });

  it('is not cached for long texts, and the latest of many are kept', () => {
    const { asked: requested, ask } = counting();
    const long = 'x'.repeat(501);
    ask(long);
    ask(long);
    expect(requested).to.have.length(2);
    for (let index = 0; index <= 2_000; index++) ask(String(index));
    requested.length = 0;
    ask('2000');
    ask('1');
    expect(requested).to.be.empty;
    ask('0');
    expect(requested).to.deep.equal(['0']);
  });
});
