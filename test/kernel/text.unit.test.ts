import { expect } from 'chai';
import { invisibleFault, textFault } from '../../src/kernel/text.js';

describe('text checks', () => {
  it('accept what PostgreSQL can store', () => {
    for (const text of ['', 'a', '😀', '\u{10FFFF}', '\u0001']) expect(textFault(text)).to.equal(null);
  });

  it('name the reason why PostgreSQL cannot store a text', () => {
    expect(textFault('a\0')).to.contain('NUL');
    for (const text of ['\ud83d', '\ude00', 'a\ud83db', '\ude00\ud83d'])
      expect(textFault(text)).to.contain('surrogate');
  });

  it('reject names with control, format, line-separator or other invisible characters, and name the character', () => {
    for (const name of ['articles', 'Café', 'Größe', '文章', '🎉', 'a b']) expect(invisibleFault(name)).to.equal(null);
    const codes = new Map([
      ['a\u001b[31m', 'U+001B'],
      ['a\nb', 'U+000A'],
      ['a\u202eb', 'U+202E'],
      ['a\u200bb', 'U+200B'],
      ['\ufeffa', 'U+FEFF'],
      ['a\u2028b', 'U+2028'],
      ['a\u{e0041}', 'U+E0041'],
      ['a\u034fb', 'U+034F'],
      ['a\u3164', 'U+3164'],
      ['\uffa0', 'U+FFA0'],
      ['a\u2800b', 'U+2800'],
      ['a\ufe0f', 'U+FE0F'],
    ]);
    for (const [name, code] of codes) expect(invisibleFault(name), code).to.contain(code);
  });
});
