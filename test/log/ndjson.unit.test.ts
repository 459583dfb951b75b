import { Readable } from 'node:stream';
import { expect } from 'chai';
import { OperatorError } from '../../src/kernel/problem.js';
import { sha256 } from '../../src/kernel/sha256.js';
import { documentLine } from '../../src/log/document-lines.js';
import { readNdjsonPages } from '../../src/log/ndjson.js';

const EVENT = {
  position: 1,
  id: '11111111-1111-4111-8111-111111111111',
  batch: '11111111-1111-4111-8111-111111111111',
  type: 'a.b',
  version: 1,
  collection: null,
  field: null,
  data: {},
  actor: { id: 'a', name: 'A' },
  command: 'c',
  reason: null,
  request_id: null,
  ip: null,
  user_agent: null,
  salt: null,
  commitment: '0'.repeat(64),
  occurred_at: '2026-01-01T00:00:00.000Z',
  previous_hash: '0',
  hash: '1',
};
const line = (position: number, more: object = {}): string => `${JSON.stringify({ ...EVENT, position, ...more })}\n`;

async function pagesOf(text: string): Promise<number[][]> {
  const pages: number[][] = [];
  for await (const page of readNdjsonPages(Readable.from([Buffer.from(text)]))) {
    pages.push(page.map(({ position }) => position));
  }
  return pages;
}

async function faultOf(text: string): Promise<string> {
  const error: unknown = await pagesOf(text).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).to.be.instanceOf(OperatorError);
  return (error as Error).message;
}

describe('a log as a file', () => {
  const lines = (count: number): string => Array.from({ length: count }, (_, index) => line(index + 1)).join('');

  it('is read in pages of 1000 without empty pages', async () => {
    expect((await pagesOf(lines(2_001))).map((page) => page.length)).to.deep.equal([1_000, 1_000, 1]);
    expect((await pagesOf(lines(1_000))).map((page) => page.length)).to.deep.equal([1_000]);
    expect(await pagesOf('')).to.deep.equal([]);
    expect((await pagesOf(lines(1_500))).flat()).to.deep.equal(Array.from({ length: 1_500 }, (_, index) => index + 1));
  });

  it('may have empty lines and no final line feed', async () => {
    expect(await pagesOf(`\n${line(1)}  \n${line(2).trimEnd()}`)).to.deep.equal([[1, 2]]);
  });

  it('preserves events with any names', async () => {
    const text = line(1).replace('"data":{}', '"data":{"__proto__":{"a":1}}');
    for await (const [event] of readNdjsonPages(Readable.from([Buffer.from(text)]))) {
      expect(JSON.stringify(event)).to.equal(text.trimEnd());
    }
  });

  describe('with documents', () => {
    const content = '{"comment":"why not"}';
    const full = { hash: sha256(content), content };
    const lineOf = (document: { hash: string; content: string | null }) => `${documentLine(document)}\n`;

    it('reports each document before the page of its event, including erased ones, without counting it', async () => {
      const received: unknown[] = [];
      const erased = { hash: sha256('erased'), content: null };
      const stream = Readable.from([Buffer.from(line(1) + lineOf(full) + line(2) + lineOf(erased))]);
      for await (const page of readNdjsonPages(stream, (document) => received.push(document)))
        received.push(page.map(({ position }) => position));
      expect(received).to.deep.equal([full, erased, [1, 2]]);
    });

    it('names the line of a changed or malformed document', async () => {
      const changed = line(1) + lineOf({ ...full, content: `${content} ` });
      expect(await faultOf(changed)).to.equal(
        `Line 2 is damaged: its document ${full.hash} does not match its hash: it was changed.`,
      );
      for (const wrong of [{ document: 'x', content }, { document: full.hash }, { document: full.hash, content: 1 }])
        expect(await faultOf(`${JSON.stringify(wrong)}\n`)).to.match(/^Line 1 is not an event: /);
      expect(await faultOf('{"document":\n')).to.match(/^Line 1 is not valid JSON/);
    });
  });

  it('names the damaged line and its fault', async () => {
    expect(await faultOf(`${line(1)}\n${line(2).slice(0, 50)}`)).to.equal(
      'Line 3 is not valid JSON: the file is damaged or truncated.',
    );
    expect(await faultOf(line(1) + line(0))).to.equal(
      'Line 2 is not an event: position Too small: expected number to be >0.',
    );
    expect(await faultOf(line(1, { actor: { id: 5, name: 'A' } }))).to.match(/^Line 1 is not an event: actor\.id \w/);
    expect(await faultOf(line(1, { more: 1 }))).to.match(/^Line 1 is not an event: .*more/);
    for (const wrong of [
      { position: 1.5 },
      { id: 'x' },
      { version: 0 },
      { occurred_at: 'now' },
      { hash: null },
      { data: null },
      { subject: { kind: 'log' } },
    ]) {
      expect(await faultOf(line(1, wrong)), JSON.stringify(wrong)).to.contain(Object.keys(wrong)[0]);
    }
    expect(await pagesOf(line(1, { context: { a: 1 }, subject: { kind: 'log', id: '7' } }))).to.deep.equal([[1]]);
  });
});
