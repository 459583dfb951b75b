import { expect } from 'chai';
import { textFault } from '../../src/kernel/text.js';

describe('text', () => {
  it('that PostgreSQL can store is fine', () => {
    for (const text of ['', 'a', '😀', '\u{10FFFF}', '\u0001']) expect(textFault(text)).to.equal(null);
  });

  it('that it can not store is named by what is wrong', () => {
    expect(textFault('a\0')).to.contain('NUL');
    for (const text of ['\ud83d', '\ude00', 'a\ud83db', '\ude00\ud83d'])
      expect(textFault(text)).to.contain('surrogate');
  });
});
