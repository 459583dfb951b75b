import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { character } from '../../support/characters.js';
import {
  checkpointText,
  fileNameOf,
  originOf,
  parseCheckpoint,
  NoteError,
  type NoteKey,
  encodeNoteKey,
  noteKey,
  parseNote,
  parseNoteKey,
  parseNoteKeys,
  rawPublicKey,
  signNote,
  verifyNote,
} from '../../../src/log/signed-checkpoints/checkpoint.js';

/** The example of golang.org/x/mod/sumdb/note: its key, its text, and Go's results. */
const GO = {
  key: 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW',
  seed: 'AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz',
  text: "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n",
  signature:
    '— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n',
};
const GO_NOTE = `${GO.text}\n${GO.signature}`;

const keyOfSeed = (seed: Buffer) =>
  createPrivateKey({
    key: Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]),
    format: 'der',
    type: 'pkcs8',
  });

function newSigner(name = 'example.org/log') {
  const { privateKey } = generateKeyPairSync('ed25519');
  return { key: noteKey(name, rawPublicKey(privateKey)), privateKey };
}

const reasonOf = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    if (error instanceof NoteError) return error.message;
    throw error;
  }
  throw new Error('it was accepted');
};

const verified = (note: string, ...keys: NoteKey[]): NoteKey => verifyNote(parseNote(Buffer.from(note)), keys);

describe('signed notes', () => {
  it("match Go's example, verified and reproduced byte for byte", () => {
    const key = parseNoteKey(GO.key);
    expect(encodeNoteKey(verified(GO_NOTE, key))).to.equal(GO.key);
    const privateKey = keyOfSeed(Buffer.from(GO.seed, 'base64').subarray(1));
    expect(rawPublicKey(privateKey)).to.deep.equal(key.publicKey);
    expect(signNote(GO.text, key, privateKey)).to.equal(GO_NOTE);
  });

  it('reject an incomplete key', () => {
    for (let start = 0; start < GO.key.length; start += 1) {
      for (let end = start + 1; end <= GO.key.length; end += 1) {
        if (end - start === GO.key.length) continue;
        expect(() => parseNoteKey(GO.key.slice(start, end)), GO.key.slice(start, end)).to.throw(NoteError);
      }
    }
    for (const text of ['', 'a', 'a+b', 'a+b+', '+b+AQ=='])
      expect(
        reasonOf(() => parseNoteKey(text)),
        text,
      ).to.equal('does not have the form name+id+key');
    expect(reasonOf(() => parseNoteKey(GO.key.replace('PeterNeumann', 'PeterNewmann')))).to.match(
      /^has an id that does not match/,
    );
  });

  it('reject keys of another kind or length with a matching id', () => {
    const { publicKey } = newSigner().key;
    const encoded = (kind: number, bytes: Buffer): string =>
      `name+${noteKey('name', bytes).id}+${Buffer.concat([Buffer.of(kind), bytes]).toString('base64')}`;
    expect(encodeNoteKey(parseNoteKey(encoded(1, publicKey)))).to.equal(encoded(1, publicKey));
    for (const other of [encoded(2, publicKey), encoded(1, Buffer.alloc(33)), encoded(1, publicKey.subarray(1))])
      expect(
        reasonOf(() => parseNoteKey(other)),
        other,
      ).to.equal('is not an Ed25519 key');
  });

  it('must have a text, at most 100 signatures, and at most 64 KiB', () => {
    const { key, privateKey } = newSigner();
    const signature = signNote('a\n', key, privateKey).split('\n\n')[1] ?? '';
    const read = (text: string) => parseNote(Buffer.from(text));
    expect(reasonOf(() => read(`\n\n${signature}`))).to.match(/^is truncated or not a signed note/);
    expect(read(`a\n\n${signature.repeat(100)}`).signatures).to.have.length(100);
    expect(reasonOf(() => read(`a\n\n${signature.repeat(101)}`))).to.equal('has more than 100 signatures');
    const large = (bytes: number): string => `${'a'.repeat(bytes - 2 - Buffer.byteLength(signature))}\n\n${signature}`;
    expect(read(large(64 * 1024)).signatures).to.have.length(1);
    expect(reasonOf(() => read(large(64 * 1024 + 1)))).to.equal('is too large for a signed note');
  });

  it('reject signatures shorter than a key id and one byte', () => {
    const read = (bytes: number) => parseNote(Buffer.from(`a\n\n— name ${Buffer.alloc(bytes).toString('base64')}\n`));
    expect(read(5).signatures).to.deep.equal([{ name: 'name', id: '00000000', signature: Buffer.alloc(1) }]);
    expect(reasonOf(() => read(4))).to.match(/^has an invalid line among its signatures/);
  });

  it('read keys from lines and from JSON', () => {
    const [one, two] = [newSigner().key, newSigner('data-platform-service').key].map(encodeNoteKey);
    expect(parseNoteKeys(`${one}\n${two}\n`).map(encodeNoteKey)).to.deep.equal([one, two]);
    expect(parseNoteKeys(JSON.stringify({ data: [{ key: one }, { key: two }] })).map(encodeNoteKey)).to.deep.equal([
      one,
      two,
    ]);
    expect(reasonOf(() => parseNoteKeys('nothing'))).to.match(/contains no public key/);
  });

  it('verify any text, and no other text', () => {
    const { key, privateKey } = newSigner();
    const line = fc.string({ unit: character, minLength: 1 }).filter((text) => !/\p{Cc}|\p{Surrogate}/u.test(text));
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 5 }), (lines) => {
        const text = `${lines.join('\n')}\n`;
        const note = signNote(text, key, privateKey);
        expect(parseNote(Buffer.from(note)).text).to.equal(text);
        expect(verified(note, key)).to.equal(key);
        expect(() => verified(note.replace(text, `${text}x\n`), key)).to.throw(NoteError);
      }),
    );
  });

  it('reject any changed, added or removed byte', () => {
    const { key, privateKey } = newSigner();
    const full = Buffer.from(signNote(checkpointText(SAYS), key, privateKey));
    for (let at = 0; at < full.length; at += 1) {
      const flipped = Buffer.from(full);
      flipped.writeUInt8(full.readUInt8(at) ^ 1, at);
      for (const bytes of [
        flipped,
        full.subarray(0, at),
        Buffer.concat([full.subarray(0, at), full.subarray(at + 1)]),
      ]) {
        expect(() => verifyNote(parseCheckpoint(bytes).note, [key]), String(at)).to.throw(NoteError);
      }
    }
  });

  it('need one known key and no wrong signature if they have several', () => {
    const [one, other, third] = [newSigner('one'), newSigner('other'), newSigner('third')];
    const note = signNote(GO.text, one.key, one.privateKey);
    const second = signNote(GO.text, other.key, other.privateKey).split('\n\n')[1] ?? '';
    expect(verified(note + second, one.key)).to.equal(one.key);
    expect(verified(note + second, other.key)).to.equal(other.key);
    expect(reasonOf(() => verified(note + second, third.key))).to.match(
      /^is signed by one\+.*, other\+.*, and by none of the given keys$/,
    );
    const wrong = signNote('Something else.\n', one.key, one.privateKey).split('\n\n')[1] ?? '';
    expect(
      reasonOf(() => verified(signNote(GO.text, other.key, other.privateKey) + wrong, one.key, other.key)),
    ).to.match(/^was changed/);
  });

  it('distinguish keys with equal bytes and different names', () => {
    const { key, privateKey } = newSigner('mine');
    const renamed = noteKey('theirs', key.publicKey);
    expect(reasonOf(() => verified(signNote(GO.text, key, privateKey), renamed))).to.match(/by none of the given keys/);
    const forged = signNote(GO.text, key, privateKey).replace('— mine ', '— theirs ');
    expect(reasonOf(() => verified(forged, renamed))).to.match(/by none of the given keys/);
  });
});

const SAYS = {
  origin: originOf('ab'.repeat(32)),
  position: 42,
  hash: '0123456789abcdef'.repeat(4),
  time: '2026-11-22T06:00:00.000Z',
};

describe('the checkpoint text', () => {
  const { key, privateKey } = newSigner('data-platform-service');
  const bytes = (text: string) => Buffer.from(signNote(text, key, privateKey));

  it('has origin, position, hash and time on a line each', () => {
    expect(checkpointText(SAYS)).to.equal(
      `data-platform-service/${'ab'.repeat(32)}\n42\nASNFZ4mrze8BI0VniavN7wEjRWeJq83vASNFZ4mrze8=\ntime 2026-11-22T06:00:00.000Z\n`,
    );
    expect(parseCheckpoint(bytes(checkpointText(SAYS)))).to.deep.include(SAYS);
    expect(fileNameOf(SAYS)).to.equal('abababababababab-000000000042.checkpoint');
  });

  it('may have further lines', () => {
    expect(parseCheckpoint(bytes(`${checkpointText(SAYS)}witness somebody\n`))).to.deep.include(SAYS);
  });

  for (const [what, change, reason] of [
    ['carriage returns', (text: string) => text.replaceAll('\n', '\r\n'), /has carriage returns/],
    ['no end', (text: string) => text.slice(0, -1), /is truncated/],
    ['no signature', (text: string) => `${text.split('\n\n')[0]}\n`, /is truncated/],
    [
      'an empty signature',
      (text: string) => `${text.split('\n\n')[0]}\n\n\n`,
      /is truncated|line among its signatures/,
    ],
    ['half a signature', (text: string) => `${text.slice(0, -20)}\n`, /among its signatures/],
    ['a control character', (text: string) => text.replace('time', 'ti\tme'), /control characters/],
    ['nothing', () => '', /is truncated/],
  ] as const) {
    it(`is rejected with ${what}`, () => {
      const damaged = change(bytes(checkpointText(SAYS)).toString());
      expect(reasonOf(() => parseCheckpoint(Buffer.from(damaged)))).to.match(reason);
    });
  }

  for (const [what, text, reason] of [
    ['no position', checkpointText(SAYS).replace('\n42\n', '\n042\n'), /second line is not a position/],
    ['a short hash', checkpointText({ ...SAYS, hash: 'abcd' }), /third line is not a hash/],
    ['no time', checkpointText(SAYS).replace('time ', 'at '), /has no time/],
    ['an impossible time', checkpointText(SAYS).replace('2026-11', '2026-13'), /has no time/],
    ['an origin with a space', checkpointText({ ...SAYS, origin: 'a b' }), /first line is not the origin/],
    [
      'an origin that moves the cursor',
      checkpointText({ ...SAYS, origin: 'a\u009B2Jb' }),
      /first line is not the origin/,
    ],
    [
      'an origin that is written backwards',
      checkpointText({ ...SAYS, origin: 'a\u202Eb' }),
      /first line is not the origin/,
    ],
    ['an empty line', checkpointText(SAYS).replace('\n42', '\n\n42'), /second line is not a position/],
    ['an empty line further down', `${checkpointText(SAYS)}\nwitness somebody\n`, /it has an empty line/],
    ['a hash in another spelling', checkpointText(SAYS).replace('=\n', '\n'), /third line is not a hash/],
    ['no hash', 'here\n42\n', /third line is not a hash/],
    ['an origin alone', 'here\n', /second line is not a position/],
    ['another text altogether', GO.text, /is not a checkpoint/],
  ] as const) {
    it(`is rejected if it has ${what}, signed correctly or not`, () => {
      expect(reasonOf(() => parseCheckpoint(bytes(text)))).to.match(reason);
    });
  }

  it('is rejected if it is not UTF-8 or too large', () => {
    expect(reasonOf(() => parseCheckpoint(Buffer.concat([Buffer.of(0xff), bytes(checkpointText(SAYS))])))).to.match(
      /UTF-8/,
    );
    expect(reasonOf(() => parseCheckpoint(Buffer.alloc(100_000, 'a')))).to.match(/too large/);
    // A byte order mark is part of the signed text.
    expect(reasonOf(() => parseCheckpoint(bytes(`\uFEFF${checkpointText(SAYS)}`)))).to.match(/first line/);
  });
});
