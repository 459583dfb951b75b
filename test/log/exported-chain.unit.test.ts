import { expect } from 'chai';
import { sha256 } from '../../src/kernel/sha256.js';
import { prepareEvents } from '../../src/log/append.js';
import { documentLine } from '../../src/log/document-lines.js';
import { type ExportedLog, checkExportedLog, positionOf } from '../../src/log/exported-log.js';
import { emptyHead } from '../../src/log/head.js';
import { createPlanReplay } from '../../src/schema/change-requests/replay-plans.js';
import type { LogEvent, StoredEvent } from '../../src/schema/model/events.js';
import { CAUSE } from '../support/instance.js';

const SAID = '{"comment":"why not"}';
const SAID_HASH = sha256(SAID);
const UNSAID_HASH = sha256('never written down');

const commented = (comment: string): LogEvent => ({
  type: 'change.commented',
  version: 1,
  collection: null,
  field: null,
  subject: { kind: 'change', id: '7b0b6c6e-0000-4000-8000-000000000001' },
  data: { comment },
});

const EVENTS: readonly LogEvent[] = [
  { type: 'collection.deleted', version: 1, collection: 'a', field: null, data: {} },
  commented(SAID_HASH),
  { type: 'collection.deleted', version: 1, collection: 'b', field: null, data: {} },
  commented(SAID_HASH),
];

const lineOf = ({ position, ...event }: StoredEvent): string => JSON.stringify({ position, ...event });

async function storedOf(events: readonly LogEvent[]): Promise<StoredEvent[]> {
  const now = new Date('2026-01-02T03:04:05.678Z');
  return (await prepareEvents({ head: emptyHead(), events, cause: CAUSE, now })).events;
}

async function check(lines: readonly string[]): Promise<ExportedLog & { told: number[] }> {
  const received: number[] = [];
  const result = await checkExportedLog(toStream(lines), {
    sha256,
    planOf: createPlanReplay(),
    onEvent: ({ position }) => received.push(position),
  });
  return { ...result, told: received };
}

// eslint-disable-next-line @typescript-eslint/require-await
async function* toStream(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}

describe('an exported log, line by line', () => {
  let stored: StoredEvent[];
  /** Four events, and after the second its document, which the last one also names. */
  let lines: string[];

  before(async () => {
    stored = await storedOf(EVENTS);
    const [first = '', second = '', third = '', fourth = ''] = stored.map(lineOf);
    const document = documentLine({ hash: SAID_HASH, content: SAID });
    lines = [first, second, document, third, fourth, document];
  });

  /** Up to and including a position. */
  const headAt = (position: number) => {
    const { hash = '', occurred_at = '' } = stored[position - 1] ?? {};
    return position === 0 ? emptyHead() : { position, hash, occurred_at };
  };

  it('is accepted in order, and reports every event once', async () => {
    expect(await check(lines)).to.deep.equal({
      ok: true,
      head: headAt(4),
      erased: 0,
      disallowed: [],
      told: [1, 2, 3, 4],
    });
    expect(await check([])).to.deep.equal({ ok: true, head: emptyHead(), erased: 0, disallowed: [], told: [] });
    expect(await checkExportedLog(toStream(lines), { sha256, planOf: null })).to.deep.equal({
      ok: true,
      head: headAt(4),
      erased: 0,
      disallowed: [],
    });
  });

  it('is accepted with an erased document', async () => {
    const erased = documentLine({ hash: SAID_HASH, content: null });
    expect(await check(lines.with(2, erased))).to.include({ ok: true });
  });

  const broken = async (changed: readonly string[]) => {
    const { ok, head, broken: fault, told: reported } = await check(changed);
    expect(ok).to.equal(false);
    expect(head).to.deep.equal(headAt(reported.length));
    expect(reported).to.deep.equal(stored.slice(0, reported.length).map(({ position }) => position));
    return [reported.length, fault];
  };
  const unreadable = (line: number) =>
    `line ${line} is not an event in the format of the service: it was changed or truncated`;

  it('reports missing and misplaced lines', async () => {
    expect(await broken(lines.toSpliced(0, 1))).to.deep.equal([0, { position: 1, reason: 'it is missing' }]);
    expect(await broken(lines.toSpliced(3, 1))).to.deep.equal([2, { position: 3, reason: 'it is missing' }]);
    expect(await broken([0, 3, 1, 2, 4, 5].map((index) => lines[index] ?? ''))).to.deep.equal([
      1,
      { position: 2, reason: 'it is out of order: in line 3, after later events' },
    ]);
    expect(await broken(lines.toSpliced(1, 0, lines[0] ?? ''))).to.deep.equal([
      1,
      { position: 1, reason: 'line 2 contains it again' },
    ]);
  });

  it('reports a line that is not an event or was changed', async () => {
    const [first = ''] = lines;
    for (const line of ['', 'x', 'null', '{"position":1}', `${first} `, first.replace('"version":1', '"version":1.0')])
      expect(await broken(lines.with(0, line)), line).to.deep.equal([0, { position: 1, reason: unreadable(1) }]);
    expect(await broken(lines.with(3, (lines[3] ?? '').slice(0, -1)))).to.deep.equal([
      2,
      { position: 3, reason: unreadable(4) },
    ]);
  });

  it('reports an event that was changed, moved to another chain, or has a different hash', async () => {
    const changed = (index: number, by: Partial<StoredEvent>) =>
      lines.with(index, lineOf({ ...(stored[index] as StoredEvent), ...by } as StoredEvent));
    expect(await broken(changed(0, { command: 'another' }))).to.deep.equal([
      0,
      { position: 1, reason: 'its hash does not match its content' },
    ]);
    expect(await broken(changed(1, { previous_hash: 'f'.repeat(64) }))).to.deep.equal([
      1,
      { position: 2, reason: 'its previous_hash is not the hash of position 1' },
    ]);
  });

  it('reports the first event with a missing or changed document', async () => {
    const gone = `its document ${SAID_HASH} is missing`;
    expect(await broken(lines.filter((line) => !line.startsWith('{"document"')))).to.deep.equal([
      4,
      { position: 2, reason: gone },
    ]);
    expect(await broken(lines.toSpliced(-1, 1))).to.deep.equal([4, { position: 4, reason: gone }]);
    const other = documentLine({ hash: SAID_HASH, content: '{"comment":"why"}' });
    const isChanged = `its document ${SAID_HASH} does not match its hash: it was changed`;
    expect(await broken(lines.with(2, other))).to.deep.equal([4, { position: 2, reason: isChanged }]);
    expect(await broken(lines.with(2, other).toSpliced(-1, 1))).to.deep.equal([4, { position: 2, reason: isChanged }]);
    // A document that no event names is ignored.
    const stray = documentLine({ hash: UNSAID_HASH, content: SAID });
    expect(await check([...lines, stray])).to.include({ ok: true });
  });

  it('reports an invalid event before an invalid document', async () => {
    expect(await broken(lines.toSpliced(2, 2))).to.deep.equal([2, { position: 3, reason: 'it is missing' }]);
  });

  it('reports the position of a line if it is known', () => {
    expect(positionOf(lines[3] ?? '')).to.equal(3);
    for (const line of [
      '',
      '{"id":1,"position":3,',
      ' {"position":3,',
      '{"position":x,',
      '{"position":1234567890123456,',
    ])
      expect(positionOf(line), line).to.equal(undefined);
  });
});
