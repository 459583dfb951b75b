import { expect } from 'chai';
import { bytes, emptyTexts, inChunks, withCommas } from '../../src/kernel/bytes.js';
import { type Resumable, runToEnd } from '../../src/kernel/resumable.js';

describe('text chunks', () => {
  function* counted(texts: Iterable<string>): Resumable<number> {
    let size = 0;
    for (const text of texts) {
      size += text.length;
      yield;
    }
    return size;
  }

  it('are separated by commas unless empty', () => {
    expect([...withCommas(['', 'a', '', 'b', 'c', ''])].join('|')).to.equal('|a||,b|,c|');
    expect([...withCommas([])]).to.deep.equal([]);
  });

  it('may be empty while work continues', () => {
    const texts = emptyTexts(counted(['a', 'bc']));
    expect([texts.next(), texts.next(), texts.next()]).to.deep.equal([
      { done: false, value: '' },
      { done: false, value: '' },
      { done: true, value: 3 },
    ]);
  });

  it('are joined into chunks of a useful size, with a pause per chunk and every 16 texts', () => {
    const chunks: number[] = [];
    const pausesOf = (texts: string[]): number => [...inChunks(texts, (chunk) => chunks.push(chunk.length))].length;
    expect(pausesOf(Array<string>(40).fill('a'))).to.equal(2);
    expect(chunks.splice(0)).to.deep.equal([40]);
    expect(pausesOf(['a'.repeat(32_767), 'a', 'b'])).to.equal(1);
    expect(chunks.splice(0)).to.deep.equal([32_768, 1]);
    expect(pausesOf([])).to.equal(0);
    expect(chunks).to.deep.equal([0]);
  });

  it('are encoded as UTF-8', () => {
    const texts = Array.from({ length: 5_000 }, (_, index) => `${index} é😀,`);
    expect(runToEnd(bytes(texts)).toString()).to.equal(texts.join(''));
  });
});
