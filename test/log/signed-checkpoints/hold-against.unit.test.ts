import { generateKeyPairSync } from 'node:crypto';
import { expect } from 'chai';
import type { EventRecord } from '../../../src/log/read.js';
import {
  checkpointText,
  originOf,
  parseCheckpoint,
  encodeNoteKey,
  noteKey,
  rawPublicKey,
  signNote,
} from '../../../src/log/signed-checkpoints/checkpoint.js';
import { createExportView, compareCheckpoint } from '../../../src/log/signed-checkpoints/compare-checkpoint.js';

const { privateKey } = generateKeyPairSync('ed25519');
const KEY = noteKey('data-platform-service', rawPublicKey(privateKey));
const OTHER_KEY = noteKey('data-platform-service', rawPublicKey(generateKeyPairSync('ed25519').privateKey));
const TIME = '2026-11-22T06:00:00.000Z';

const hashOf = (position: number): string => position.toString(16).padStart(64, '0');
const ORIGIN = originOf(hashOf(1));
const OTHER_ORIGIN = originOf('ab'.repeat(32));

function signed(position: number, says: { hash?: string; origin?: string } = {}) {
  const { hash = hashOf(position), origin = ORIGIN } = says;
  const note = signNote(checkpointText({ origin, position, hash, time: TIME }), KEY, privateKey);
  return { file: `${position}.checkpoint`, checkpoint: parseCheckpoint(Buffer.from(note)) };
}

const event = (position: number, more: Partial<EventRecord> = {}): EventRecord =>
  ({ position, type: 'collection.deleted', hash: hashOf(position), data: {}, ...more }) as EventRecord;

/** The log diverged once per fork: `found` is its end at that time, and `seen` its former end. */
const acknowledgedEvent = (position: number, ...forks: { seen: number; found: number }[]): EventRecord =>
  event(position, {
    type: 'log.acknowledged',
    subject: { kind: 'log', id: String(position) },
    data: { divergences: forks.map(({ seen, found }) => ({ seen: { position: seen }, found: { position: found } })) },
  });

type Signed = ReturnType<typeof signed>;

/** Compared with an export of these events. */
async function compareWith(
  files: readonly Signed[],
  events: readonly EventRecord[],
  mode: { broken?: number; keys?: [] } = {},
) {
  const { add, view } = createExportView(files);
  for (const each of events) add(each);
  const { broken, keys = [KEY] } = mode;
  const log = {
    head: { position: events.length },
    ...(broken !== undefined && { broken: { position: broken, reason: '' } }),
  };
  return compareCheckpoint(files, view(log), keys);
}

const reasonOf = async (...input: Parameters<typeof compareWith>): Promise<string | undefined> =>
  (await compareWith(...input))[0]?.reason;

const PLAIN = [1, 2, 3].map((position) => event(position));

describe('checkpoints compared with an export', () => {
  it('match if all events up to them are unchanged', async () => {
    const says = { origin: ORIGIN, time: TIME, ok: true, signed_by: encodeNoteKey(KEY) };
    expect(await compareWith([signed(3), signed(1)], PLAIN)).to.deep.equal([
      { file: '3.checkpoint', position: 3, hash: hashOf(3), ...says },
      { file: '1.checkpoint', position: 1, hash: hashOf(1), ...says },
    ]);
  });

  it('are not verified without a key', async () => {
    const [comparison] = await compareWith([signed(2)], PLAIN, { keys: [] });
    expect(comparison).to.include({ ok: true, signed_by: null });
  });

  it('do not match when signed by another key', async () => {
    const files = [signed(2)];
    const { add, view } = createExportView(files);
    PLAIN.forEach(add);
    const [unknownKey] = await compareCheckpoint(files, view({ head: { position: 3 } }), [OTHER_KEY]);
    expect(unknownKey).to.include({ ok: false, signed_by: null });
    expect(unknownKey?.reason).to.equal(`it is signed by ${KEY.name}+${KEY.id}, and by none of the given keys`);
  });

  it('do not match a log that ends before their position or is broken there', async () => {
    expect(await reasonOf([signed(4)], PLAIN)).to.equal(
      'the log ends at position 3: later events were deleted, or the log was read before the checkpoint was signed',
    );
    expect(await reasonOf([signed(4)], PLAIN, { broken: 4 })).to.equal(
      'the log is not valid up to that position: it is broken at position 4',
    );
    expect(await compareWith([signed(3)], PLAIN, { broken: 4 })).to.have.nested.property('0.ok', true);
  });

  it('do not match with a different hash or origin', async () => {
    const forged = 'f'.repeat(64);
    expect(await reasonOf([signed(2, { hash: forged })], PLAIN)).to.equal(
      `position 2 has the hash ${hashOf(2)}: the log was rewritten there or before`,
    );
    expect(await reasonOf([signed(2, { origin: OTHER_ORIGIN })], PLAIN)).to.equal(
      `it names a different log (${OTHER_ORIGIN}) than the log with this hash (${ORIGIN})`,
    );
    expect(await reasonOf([signed(2, { origin: OTHER_ORIGIN, hash: forged })], PLAIN)).to.equal(
      `the log is a different one (${ORIGIN}): it was rewritten from its beginning, or it is not the signed log (${OTHER_ORIGIN})`,
    );
  });

  describe('of a diverged log', () => {
    // Position 3 acknowledges that the log ended at 2 after it had ended at 5, and before that much later.
    const events = [event(1), event(2), acknowledgedEvent(3, { seen: 99, found: 98 }, { seen: 5, found: 2 }), event(4)];
    const next = originOf(hashOf(3));
    const reported = '. Event 3 acknowledges a fork of the log: check it (log.acknowledged)';

    it('match the common part, and the new origin from its event on', async () => {
      const files = [signed(2), signed(3, { origin: next }), signed(4, { origin: next })];
      expect((await compareWith(files, events)).map(({ ok }) => ok)).to.deep.equal([true, true, true]);
    });

    it('do not match lost positions, and the event is named', async () => {
      const gone = 'e'.repeat(64);
      const another = (position: number) => reasonOf([signed(position, { hash: gone })], events);
      const isAnother = `the log is a different one (${next}): it was rewritten from its beginning, or it is not the signed log (${ORIGIN})`;
      expect(await another(3)).to.equal(isAnother + reported);
      expect(await another(5)).to.equal(
        `the log ends at position 4: later events were deleted, or the log was read before the checkpoint was signed${reported}`,
      );
      // The lost part ended at 5 and began after 2.
      expect(await another(6)).to.match(/before the checkpoint was signed$/);
      expect(await another(2)).to.equal(`position 2 has the hash ${hashOf(2)}: the log was rewritten there or before`);
      expect(await reasonOf([signed(4, { hash: gone, origin: next })], events)).to.equal(
        `position 4 has the hash ${hashOf(4)}: the log was rewritten there or before${reported}`,
      );
    });
  });
});
