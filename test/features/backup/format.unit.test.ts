import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { type Header, type Section, openBackup, writeBackup } from '../../../src/features/backup/format.js';

const HEADER: Header = {
  format: 'dps-backup',
  version: 1,
  release: '0.1.0',
  migration: 0,
  database: { name: 'db', version: '16' },
  schema: 'public',
  taken_at: '2026-01-01T00:00:00.000Z',
  head: { position: 0, hash: '0' },
  not_included: { views: ['v'] },
};

/** Sections with content that resembles their end. */
const SECTIONS: readonly [section: Section, content: string][] = [
  [{ section: 'events' }, '{"position":1}\n'],
  [{ section: 'account-rows', table: 'service_users', columns: ['id'] }, ''],
  [{ section: 'rows', table: 't', columns: ['a', 'b'] }, '\\\\.\tx\n\\.x\n x\\.\n'],
  [{ section: 'rows', table: 'empty', columns: [] }, '\n\n'],
  [{ section: 'sequences' }, '{"name":"s","last_value":"1","is_called":true}\n'],
];

async function* streamOf<T>(items: readonly T[]): AsyncGenerator<T, void, undefined> {
  yield* items;
}

async function writeSections(): Promise<Buffer> {
  const sections = SECTIONS.map(([section, content]) => ({ section, content: [Buffer.from(content)] }));
  const chunks: Buffer[] = [];
  for await (const chunk of writeBackup({ header: HEADER, sections: streamOf(sections) })) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Reads bytes in chunks of a given size. */
async function read(bytes: Buffer, size = bytes.length): Promise<{ header: Header; found: unknown[] }> {
  const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  );
  const { header, sections } = await openBackup(streamOf(chunks));
  const lines: unknown[] = [];
  for await (const { section, content } of sections()) {
    const parts: Buffer[] = [];
    for await (const part of content) parts.push(part);
    lines.push([section, Buffer.concat(parts).toString()]);
  }
  return { header, found: lines };
}

async function faultOf(bytes: Buffer | string): Promise<string> {
  const fault: unknown = await read(Buffer.from(bytes)).catch((error: unknown) => error);
  return fault instanceof Error ? `${fault.name}: ${fault.message}` : 'it was read';
}

const CUT_OFF = 'OperatorError: The backup is truncated: its end is missing.';
const DAMAGED = 'OperatorError: The file is not a backup, or it is damaged. Do not use its content.';

describe('the backup file format', () => {
  it('has a header, sections, and an end with the checksum of everything before', async () => {
    const bytes = await writeSections();
    const lines = [
      JSON.stringify(HEADER),
      ...SECTIONS.flatMap(([section, content]) => [JSON.stringify(section), `${content}\\.`]),
      '',
    ];
    const before = lines.join('\n');
    const sha256 = createHash('sha256').update(before).digest('hex');
    expect(bytes.toString()).to.equal(`${before}${JSON.stringify({ end: true, sections: 5, sha256 })}\n`);
  });

  it('reads back what was written, wherever chunks are cut', async () => {
    const bytes = await writeSections();
    for (const size of [1, 2, 3, 5, 64, bytes.length]) {
      expect(await read(bytes, size), `${size} bytes`).to.deep.equal({ header: HEADER, found: SECTIONS });
    }
  });

  it('streams the content of a section', async () => {
    let taken = 0;
    const section: Section = { section: 'rows', table: 't', columns: ['a'] };
    async function* coming(): AsyncGenerator<Buffer, void, undefined> {
      yield Buffer.from(`${JSON.stringify(HEADER)}\n${JSON.stringify(section)}\n`);
      for (taken = 1; ; taken += 1) yield Buffer.from('one row\n');
    }
    const { sections } = await openBackup(coming());
    const { value } = await sections().next();
    const first = await value?.content.next();
    expect(first?.value?.toString()).to.equal('one r');
    expect(taken).to.equal(1);
  });

  it('skips the content of sections that are not read', async () => {
    const { sections } = await openBackup(streamOf([await writeSections()]));
    const names: string[] = [];
    for await (const { section } of sections()) names.push(section.section);
    expect(names).to.deep.equal(SECTIONS.map(([{ section }]) => section));
  });

  it('rejects a truncated file', async () => {
    const bytes = await writeSections();
    const text = bytes.toString();
    const at = (part: string): number => text.indexOf(part) + part.length;
    expect(await faultOf('')).to.equal(CUT_OFF);
    for (const end of [1, at('{"format"'), at('\\.\n') + 1])
      expect(await faultOf(bytes.subarray(0, end)), `after ${end} bytes`).to.equal(
        'OperatorError: The backup is truncated in the middle of a line.',
      );
    expect(await faultOf(bytes.subarray(0, at('\\.\n')))).to.equal(CUT_OFF);
    for (const part of ['{"section":"events"}\n', '{"position":1}\n', '{"position":1}\n\\.']) {
      expect(await faultOf(bytes.subarray(0, at(part))), part).to.equal(
        'OperatorError: The backup is truncated: the end of a section is missing.',
      );
    }
    expect(await faultOf(bytes.subarray(0, -1))).to.match(/in the middle of a line\.$/);
  });

  it('rejects a file with a changed byte or data after its end', async () => {
    const text = (await writeSections()).toString();
    for (const other of [
      'nothing\n',
      '{}\n',
      text.replace('dps-backup', 'a-backup'),
      text.replace('"migration":0', '"migration":-1'),
      text.replace('"section":"events"', '"section":"others"'),
      text.replace('{"position":1}', '{"position":2}'),
      text.replace('"sections":5', '"sections":4'),
      text.replace('"end":true', '"end":false'),
      text.replace(/\{"section":"sequences"\}\n[^\\]*\\\.\n/, ''),
      `${text}\n`,
    ]) {
      expect(await faultOf(other), other.slice(0, 40)).to.equal(DAMAGED);
    }
    expect(await faultOf(text.replace('"version":1', '"version":2'))).to.equal(
      'OperatorError: A newer release wrote the backup. Use that release.',
    );
  });

  it('reports the cause when its bytes cannot be read', async () => {
    const cause = new Error('incorrect data check');
    async function* brokenStream(): AsyncGenerator<Buffer, void, undefined> {
      yield Buffer.from('{"format"');
      throw cause;
    }
    const fault = await openBackup(brokenStream()).catch((error: unknown) => error);
    expect(fault).to.deep.include({ message: DAMAGED.slice('OperatorError: '.length), cause });
  });
});
