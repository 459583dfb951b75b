import { Readable } from 'node:stream';
import { expect } from 'chai';
import fc from 'fast-check';
import { readLines } from '../../../src/log/exported-log.js';
import { readMoment } from '../../../src/reads/history/time-travel.js';
import { summarise } from '../../../src/reads/history/batches.js';

describe('points in time', () => {
  const shown = (text: string): unknown => {
    const read = readMoment(text);
    return read?.kind === 'time' ? read.time.toISOString() : read?.kind === 'position' ? read.position : read?.kind;
  };

  it('are positions, times with a zone, days, and now', () => {
    const moments: Record<string, unknown> = {
      '0': 0,
      '42': 42,
      now: 'now',
      '2026-11-21': '2026-11-21T00:00:00.000Z',
      '2026-11-21T08:05Z': '2026-11-21T08:05:00.000Z',
      '2026-11-21t08:05:03.123456z': '2026-11-21T08:05:03.123Z',
      '2026-11-21T08:05:03+02:00': '2026-11-21T06:05:03.000Z',
      '2026-11-21T08:05:03 02:00': '2026-11-21T06:05:03.000Z',
      '2024-02-29': '2024-02-29T00:00:00.000Z',
    };
    for (const [text, expected] of Object.entries(moments)) expect(shown(text), text).to.equal(expected);
  });

  it('reject anything but a position, a time, a day or now', () => {
    for (const text of [
      '',
      '-1',
      '1.5',
      '1e3',
      '2026-02-29',
      '2026-13-01',
      '2026-11-21T08:05',
      '2026-11-21T25:00Z',
      'Now',
    ]) {
      expect(readMoment(text), text).to.equal(null);
    }
  });
});

describe('summaries', () => {
  it('name single objects and count others, collections first', () => {
    const line = summarise([
      { type: 'relation.deleted', restored: false, count: 1, collection: 'books', field: 'author' },
      { type: 'field.updated', restored: false, count: 3, collection: 'a', field: 'b' },
      { type: 'collection.created', restored: false, count: 1, collection: 'books', field: null },
      { type: 'field.renamed', restored: false, count: 1, collection: 'books', field: 'name', to: 'title' },
    ]);
    expect(line).to.equal(
      'created collection books, updated 3 fields, renamed field books.name to title, deleted relation books.author',
    );
  });

  it('begin with the main subject, and distinguish restored from new objects', () => {
    const one = { restored: false, count: 1, collection: 'a', field: null };
    const line = summarise([
      { ...one, type: 'something.new' },
      { ...one, type: 'trash.purged' },
      { ...one, type: 'field.created', field: 'x', restored: true },
      { ...one, type: 'field.created', field: 'x' },
      { ...one, type: 'collection.created', count: 2, restored: true },
      { ...one, type: 'collection.deleted' },
      { ...one, type: 'collection.renamed', to: 'b' },
      { ...one, type: 'policy.updated', collection: null },
    ]);
    expect(line.split(', ')).to.deep.equal([
      'restored 2 collections',
      'deleted collection a',
      'renamed collection a to b',
      'created field a.x',
      'restored field a.x',
      'purged trash a',
      'updated policy',
      'new something a',
    ]);
    expect(summarise([])).to.equal('');
  });

  it('name their change request, user, API token, webhook or environment', () => {
    const one = { restored: false, count: 1, collection: null, field: null };
    expect(summarise([{ ...one, type: 'change.commented', title: 'Shorter titles' }])).to.equal(
      'commented on change request “Shorter titles”',
    );
    expect(summarise([{ ...one, type: 'token.created', title: 'laptop' }])).to.equal('created API token “laptop”');
    expect(summarise([{ ...one, type: 'change.opened', title: null }])).to.equal('opened change request');
    expect(summarise([{ ...one, type: 'change.commented', count: 2, title: 'Shorter titles' }])).to.equal(
      'commented on 2 change requests',
    );
  });
});

describe('log lines', () => {
  it('end with a line feed, wherever the stream is cut', async () => {
    const lines = ['{"a":"\u2028\u2029\r"}', '', 'ü€🎉', 'last'];
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 9 }), fc.boolean(), async (size, end) => {
        const bytes = Buffer.from(lines.join('\n') + (end ? '\n' : ''));
        const chunks: Buffer[] = [];
        for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
        const read: string[] = [];
        for await (const line of readLines(Readable.from(chunks))) read.push(line);
        expect(read).to.deep.equal(lines);
      }),
    );
  });
});
