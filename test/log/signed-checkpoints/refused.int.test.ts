import { generateKeyPairSync } from 'node:crypto';
import { chmod, mkdir, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { parseCheckpoint, parseNoteKeys } from '../../../src/log/signed-checkpoints/checkpoint.js';
import { readKeyFile } from '../../../src/log/signed-checkpoints/keys.js';
import { temporaryDirectory } from '../../support/postgres.js';

const reasonOf = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    return (error as Error).message;
  }
  return 'accepted';
};

const HASH = Buffer.alloc(32, 7).toString('base64');
const SIGNATURE = `— name ${Buffer.alloc(68).toString('base64')}\n`;

describe('a checkpoint', () => {
  const of = (...lines: string[]): string =>
    reasonOf(() => parseCheckpoint(Buffer.from(`${lines.map((line) => `${line}\n`).join('')}\n${SIGNATURE}`)));
  const time = 'time 2026-01-02T03:04:05.678Z';

  it('has an origin, a position, a hash, a time, and optional lines', () => {
    expect(of('log', '7', HASH, time)).to.equal('accepted');
    expect(of('log', '7', HASH, 'more', time, 'more')).to.equal('accepted');
    expect(of('a log', '7', HASH, time)).to.equal('is not a checkpoint: its first line is not the origin of a log');
    for (const position of ['0', '07', '-1', 'x', '1234567890123456'])
      expect(of('log', position, HASH, time)).to.equal('is not a checkpoint: its second line is not a position');
    for (const hash of ['x', HASH.slice(4), Buffer.alloc(33).toString('base64'), ''])
      expect(of('log', '7', hash, time)).to.equal('is not a checkpoint: its third line is not a hash');
    expect(of('log', '7', HASH, '', time)).to.equal('is not a checkpoint: it has an empty line');
    for (const other of ['time', 'time 2026-13-02T03:04:05.678Z', 'time 2026-01-02T03:04:05Z', 'x'])
      expect(of('log', '7', HASH, other)).to.equal('is not a checkpoint: it has no time');
  });

  it('is a complete signed note in UTF-8 with line feeds', () => {
    const full = `log\n7\n${HASH}\n${time}\n\n${SIGNATURE}`;
    const read = (bytes: Buffer | string): string => reasonOf(() => parseCheckpoint(Buffer.from(bytes)));
    expect(read(full)).to.equal('accepted');
    expect(read(full.slice(0, -1))).to.equal('is truncated: its last line does not end with a line feed');
    expect(read(full.replace('\n\n', '\n'))).to.equal(
      'is truncated or not a signed note: no empty line precedes its signatures',
    );
    expect(read(full.replaceAll('\n', '\r\n'))).to.equal('has carriage returns: its line ends were converted');
    expect(read(full.replace('log', 'l\u0007g'))).to.equal('has control characters');
    expect(read(full.replace('log', 'l\u001Fg'))).to.equal('has control characters');
    expect(read(full.replace('log', 'l\tg'))).to.equal('has control characters');
    expect(read(Buffer.concat([Buffer.of(0xff), Buffer.from(full)]))).to.equal('is not UTF-8');
    expect(read(full.replace('— ', '- '))).to.equal(
      'has an invalid line among its signatures: it was truncated or changed',
    );
  });
});

describe('public keys in a text', () => {
  it('are found, and a damaged one is reported', () => {
    expect(reasonOf(() => parseNoteKeys('nothing'))).to.equal('contains no public key of the form name+id+key');
    const key = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW';
    expect(parseNoteKeys(`{"keys": ["${key}", "${key}"]}`)).to.have.length(2);
    expect(reasonOf(() => parseNoteKeys(key.replace('Neumann', 'Newmann')))).to.equal(
      'has an id that does not match its name and key: one of them was changed',
    );
  });
});

describe('a private key file', () => {
  let directory: string;

  before(async () => {
    directory = await temporaryDirectory();
  });
  after(() => rm(directory, { recursive: true }));

  /** The error for a file with this content and mode. */
  async function reason(content: string, mode = 0o600): Promise<string> {
    const file = join(directory, 'key.pem');
    await rm(file, { force: true });
    await writeFile(file, content);
    await chmod(file, mode);
    return messagesOf(file);
  }
  const messagesOf = (file: string): string =>
    reasonOf(() => readKeyFile(file)).replace('The file of CHECKPOINT_KEY_FILE cannot be used: ', '');
  const pem = (type: 'pkcs8' | 'spki', kind: 'ed25519' | 'x25519' = 'ed25519'): string => {
    const { privateKey, publicKey } = generateKeyPairSync(kind as 'ed25519');
    return type === 'spki'
      ? publicKey.export({ format: 'pem', type }).toString()
      : privateKey.export({ format: 'pem', type }).toString();
  };
  const HOW = 'create one with "openssl genpkey -algorithm ed25519" or "dps keys new".';

  it('is accepted for one of our keys, readable by owner and group only', async () => {
    for (const mode of [0o600, 0o400, 0o440, 0o640, 0o700, 0o750])
      expect(await reason(pem('pkcs8'), mode)).to.equal('accepted');
    for (const mode of [0o644, 0o604, 0o620, 0o660, 0o602, 0o601])
      expect(await reason(pem('pkcs8'), mode)).to.equal(
        `other users of the machine can read or change it (mode ${mode.toString(8)}); run chmod 600.`,
      );
  });

  it('is rejected with any other content', async () => {
    expect(await reason(pem('spki'))).to.equal('it contains a public key, and signing needs the private key.');
    expect(await reason('x')).to.equal(`it contains no private key in PEM format: ${HOW}`);
    expect(await reason(pem('pkcs8', 'x25519'))).to.equal(`it contains a key of type x25519, not Ed25519: ${HOW}`);
    for (const head of ['-----BEGIN ENCRYPTED PRIVATE KEY-----', 'Proc-Type: 4,ENCRYPTED'])
      expect(await reason(head)).to.equal('its key is encrypted, and the service cannot ask for the password.');
    expect(await reason('x'.repeat(64 * 1024))).to.equal(`it contains no private key in PEM format: ${HOW}`);
    expect(await reason('x'.repeat(64 * 1024 + 1))).to.equal('it is too large for a key.');
  });

  it('must be a regular file', async () => {
    const folder = join(directory, 'folder');
    await mkdir(folder);
    expect(messagesOf(folder)).to.equal('it is not a regular file.');
    expect(messagesOf(join(directory, 'nowhere'))).to.match(/^ENOENT/);
    const link = join(directory, 'link');
    await reason(pem('pkcs8'));
    await symlink(join(directory, 'key.pem'), link);
    expect(messagesOf(link)).to.equal('accepted');
    await truncate(join(directory, 'key.pem'), 0);
    expect(messagesOf(link)).to.equal(`it contains no private key in PEM format: ${HOW}`);
  });
});
