import { generateKeyPairSync } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { EventRecord } from '../../src/log/read.js';
import {
  checkpointText,
  originOf,
  encodeNoteKey,
  noteKey,
  rawPublicKey,
  signNote,
} from '../../src/log/signed-checkpoints/checkpoint.js';
import { type Ran, dps } from '../support/dps.js';

const LOG = fileURLToPath(new URL('../fixtures/log-0.1.0.ndjson', import.meta.url));

function newSigner(name = 'data-platform-service') {
  const { privateKey } = generateKeyPairSync('ed25519');
  return { key: noteKey(name, rawPublicKey(privateKey)), privateKey };
}

describe('dps verify --checkpoint, offline', () => {
  const [mine, theirs] = [newSigner(), newSigner()];
  let folder: string;
  let events: EventRecord[];

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'dps-checkpoints-'));
    const lines = (await readFile(LOG, 'utf8')).trimEnd().split('\n');
    // Event documents are on separate lines in between.
    events = lines.map((line) => JSON.parse(line) as EventRecord).filter((each) => 'position' in each);
  });

  after(() => rm(folder, { recursive: true }));

  const says = (position: number, more: { origin?: string; hash?: string } = {}) => {
    const acknowledged = events.findLast((each) => each.position <= position && each.type === 'log.acknowledged');
    return {
      origin: originOf((acknowledged ?? events[0])?.hash ?? ''),
      position,
      hash: events[position - 1]?.hash ?? 'ab'.repeat(32),
      time: '2026-11-22T06:00:00.000Z',
      ...more,
    };
  };

  let number = 0;
  const save = async (content: string | Buffer, name = `${(number += 1)}.checkpoint`): Promise<string> => {
    const file = join(folder, name);
    await writeFile(file, content);
    return file;
  };

  const signed = (text: string, { key, privateKey } = mine): string => signNote(text, key, privateKey);
  const verify = (...args: string[]): Promise<Ran> => dps(['verify', '--file', LOG, ...args], {});
  const verifyAll = (checkpoint: string): Promise<Ran> =>
    verify('--checkpoint', checkpoint, '--key', encodeNoteKey(mine.key));

  it('exits with 0 for positions that match the log', async () => {
    const all: string[] = [];
    for (const { position } of events) all.push(await save(signed(checkpointText(says(position)))));
    const ran = await verify(...all.flatMap((file) => ['--checkpoint', file]), '--key', encodeNoteKey(mine.key));
    expect(ran.code, ran.out + ran.err).to.equal(0);
    expect(ran.out.match(/matches the log: no event/g)).to.have.length(events.length);
  });

  it('exits with 0 for two signatures of which one key is known', async () => {
    const note = signed(checkpointText(says(3)));
    const witness = signed(checkpointText(says(3)), newSigner('witness.example')).split('\n\n')[1] ?? '';
    expect((await verifyAll(await save(note + witness))).code).to.equal(0);
  });

  const DIFFER: Record<string, { note: () => string; reason: RegExp }> = {
    'with another hash': {
      note: () => signed(checkpointText(says(3, { hash: 'ef'.repeat(32) }))),
      reason: /position 3 has the hash/,
    },
    'of another origin': {
      note: () => signed(checkpointText(says(3, { origin: originOf('ef'.repeat(32)) }))),
      reason: /names a different log/,
    },
    'of an unrelated log': {
      note: () => signed(checkpointText(says(3, { origin: originOf('ef'.repeat(32)), hash: 'ef'.repeat(32) }))),
      reason: /the log is a different one .* it is not the signed log/,
    },
    'from the future': {
      note: () => signed(checkpointText(says(100_000))),
      reason: /the log ends at position \d+: later events were deleted, or the log was read before/,
    },
    'signed by another key': {
      note: () => signed(checkpointText(says(3)), theirs),
      reason: /is signed by data-platform-service\+.*, and by none of the given keys/,
    },
    'signed by a key of another name': {
      note: () => signed(checkpointText(says(3)), { ...mine, key: noteKey('other', mine.key.publicKey) }),
      reason: /is signed by other\+.*, and by none of the given keys/,
    },
    'whose text was changed after it was signed': {
      note: () => signed(checkpointText(says(4))).replace('\n4\n', '\n3\n'),
      reason: /was changed: the signature/,
    },
  };
  for (const [what, { note, reason }] of Object.entries(DIFFER)) {
    it(`exits with 1 for a checkpoint ${what}`, async () => {
      const ran = await verifyAll(await save(note()));
      expect(ran.code, ran.out + ran.err).to.equal(1);
      expect(ran.out).to.match(reason);
    });
  }

  it('exits with 1 for a broken log, and names the checkpoints that match before the break', async () => {
    const lines = (await readFile(LOG, 'utf8')).split('\n');
    lines[4] = (lines[4] ?? '').replace('"command":"', '"command":"x');
    const broken = await save(lines.join('\n'), 'broken.ndjson');
    for (const [position, expected] of [
      [3, /matches the log: no event up to it/],
      [6, /is not valid up to that position: it is broken at position 5/],
    ] as const) {
      const checkpoint = await save(signed(checkpointText(says(position))));
      const ran = await dps(['verify', '--file', broken, '--checkpoint', checkpoint], {});
      expect(ran.code).to.equal(1);
      expect(ran.out).to.match(expected);
    }
  });

  it('exits with 2 for invalid checkpoints and keys, and unreadable files', async () => {
    const note = signed(checkpointText(says(3)));
    const good = await save(note);
    const empty = join(folder, 'empty');
    await mkdir(empty);
    for (const [args, reason] of [
      [['--checkpoint', join(folder, 'none')], /none cannot be read \(ENOENT/],
      [['--checkpoint', empty], /contains no checkpoint \(\*\.checkpoint\)/],
      [['--checkpoint', await save(note.replaceAll('\n', '\r\n'))], /has carriage returns/],
      [['--checkpoint', await save(note.slice(0, -1))], /is truncated/],
      [['--checkpoint', await save(note.slice(0, 90))], /is truncated/],
      [['--checkpoint', await save('')], /is truncated/],
      [['--checkpoint', '/dev/zero'], /too large/],
      [['--checkpoint', LOG], /too large|signed note/],
      [['--key', encodeNoteKey(mine.key)], /--key requires --checkpoint/],
      [['--checkpoint', good, '--key', join(folder, 'none')], /none cannot be read/],
      [['--checkpoint', good, '--key', LOG], /contains no public key/],
      [
        ['--checkpoint', good, '--key', encodeNoteKey(mine.key).replace('data', 'dada')],
        /has an id that does not match its name/,
      ],
    ] as const) {
      const ran = await verify(...args);
      expect(ran.code, `${args.join(' ')}: ${ran.out}${ran.err}`).to.equal(2);
      expect(ran.err).to.match(reason);
      expect(ran.err).not.to.contain('bug');
    }
    expect((await dps(['verify', '--against', 'http://127.0.0.1:1'], {})).code).to.equal(2);
    expect((await dps(['verify', '--against', 'http://127.0.0.1:1', '--checkpoint', good], {})).code).to.equal(2);
  });
});
