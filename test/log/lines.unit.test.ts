/** Splits a stream into lines, wherever its chunks end. */
import { Readable } from 'node:stream';
import { expect } from 'chai';
import { readLines } from '../../src/log/exported-log.js';

async function linesOf(bytes: Buffer, size = bytes.length): Promise<string[]> {
  const count = Math.ceil(bytes.length / Math.max(1, size));
  const chunks = Array.from({ length: count }, (_, index) => bytes.subarray(index * size, (index + 1) * size));
  const lines: string[] = [];
  for await (const line of readLines(Readable.from(chunks))) lines.push(line);
  return lines;
}

describe('lines of a stream', () => {
  it('end at line feeds only', async () => {
    const lines = ['\uFEFFa', '', 'é\u2028😀\r', 'b'];
    for (const end of ['', '\n'])
      for (const size of [1, 2, 3, 100])
        expect(await linesOf(Buffer.from(lines.join('\n') + end), size), `${size} bytes`).to.deep.equal(lines);
    expect(await linesOf(Buffer.alloc(0))).to.deep.equal([]);
    expect(await linesOf(Buffer.from('\n'))).to.deep.equal(['']);
  });

  it('keep invalid UTF-8, even if the stream is cut within a character', async () => {
    expect(await linesOf(Buffer.of(0x61, 0xff, 0x0a, 0x62, 0xc3))).to.deep.equal(['a\uFFFD', 'b\uFFFD']);
    expect(await linesOf(Buffer.of(0x61, 0x0a, 0xc3))).to.deep.equal(['a', '\uFFFD']);
  });
});
