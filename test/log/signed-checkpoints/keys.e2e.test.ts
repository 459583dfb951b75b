import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { chmod, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { createService } from '../../../src/app.js';
import { readConfig } from '../../../src/config.js';
import { silentLogger } from '../../../src/cli/connections/database.js';
import { parseNote, parseNoteKeys, verifyNote } from '../../../src/log/signed-checkpoints/checkpoint.js';
import { type Client, clientOf, json } from '../../support/client.js';
import { dps } from '../../support/dps.js';
import { type TestDatabase, createDatabase, temporaryDirectory } from '../../support/postgres.js';
import { type TestService, startService } from '../../support/service.js';

interface Key {
  key: string;
  from_position: number;
  kept: string;
}

describe('checkpoint keys', () => {
  let database: TestDatabase;
  let folder: string;
  let services: TestService[];

  beforeEach(async () => {
    [database, folder, services] = [await createDatabase('migrated'), await temporaryDirectory(), []];
  });

  afterEach(async () => {
    for (const service of services) await service.stop();
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  });

  const start = async (settings: Record<string, string> = {}): Promise<{ service: TestService; send: Client }> => {
    const service = await startService({ DATABASE_URL: database.connectionString, ...settings });
    services.push(service);
    return { service, send: clientOf(service) };
  };

  const create = (send: Client, collection: string) => send('/collections', json({ collection, schema: {} }));
  const keysOf = async (send: Client): Promise<Key[]> =>
    ((await send('/history/checkpoint/keys')).json as { data: Key[] }).data;
  const onDatabase = (...args: string[]) => dps(args, { DATABASE_URL: database.connectionString });

  const signerOf = async (send: Client, keys: readonly Key[]): Promise<string | undefined> => {
    const note = parseNote(Buffer.from((await send('/history/checkpoint')).text));
    const known = parseNoteKeys(keys.map(({ key }) => key).join('\n'));
    const { id } = verifyNote(note, known);
    return keys.find(({ key }) => key.includes(`+${id}+`))?.key;
  };

  it('are created in the database with a warning, and verify after rotation', async () => {
    const { service, send } = await start();
    expect((await send('/history/checkpoint')).status).to.equal(404);
    await create(send, 'one');
    const [first] = await keysOf(send);
    expect(first).to.include({ from_position: 1, kept: 'database' });
    expect(await signerOf(send, await keysOf(send))).to.equal(first?.key);
    expect(service.log().match(/signed with a key in the database: anyone who can rewrite the log/g)).to.have.length(1);
    const old = join(folder, 'old.checkpoint');
    await writeFile(old, (await send('/history/checkpoint')).text);
    await create(send, 'two');
    const rotated = await onDatabase('keys', 'rotate');
    expect(rotated.code, rotated.err).to.equal(0);
    const keys = await keysOf(send);
    expect(keys.map(({ kept, from_position }) => [kept, from_position])).to.deep.equal([
      ['replaced', 1],
      ['database', 2],
    ]);
    expect(rotated.out).to.contain(keys[1]?.key);
    // The running service uses the new key immediately.
    expect(await signerOf(send, keys)).to.equal(keys[1]?.key);
    const again = (await send('/history/checkpoint/keys', { method: 'POST' })).json as { data: Key };
    expect(await signerOf(send, await keysOf(send))).to.equal(again.data.key);
    const list = await onDatabase('keys', 'list');
    expect(list.out.split('\n')).to.have.length(4);
    const publicKeys = join(folder, 'keys');
    await writeFile(publicKeys, (await onDatabase('keys', 'public')).out);
    const log = join(folder, 'log.ndjson');
    await writeFile(log, (await send('/history/export')).text);
    const all = await dps(['verify', '--file', log, '--checkpoint', old, '--key', publicKeys], {});
    expect(all.code, all.out + all.err).to.equal(0);
    const newest = await dps(['verify', '--file', log, '--checkpoint', old, '--key', again.data.key], {});
    expect(newest.code).to.equal(1);
    expect(newest.out).to.match(/is signed by data-platform-service\+.*, and by none of the given keys/);
  });

  it('are shared by all processes that request the first one concurrently', async () => {
    const [one, two] = [await start(), await start()];
    await create(one.send, 'one');
    const notes = await Promise.all([one, two, one, two, one, two].map(({ send }) => send('/history/checkpoint')));
    const signers = notes.map(({ text }) => parseNote(Buffer.from(text)).signatures[0]?.id);
    expect(new Set(signers)).to.have.length(1);
    expect(await keysOf(one.send)).to.have.length(1);
  });

  it('come from a file if configured, and never appear in logs and responses', async () => {
    const file = join(folder, 'key.pem');
    const created = await dps(['keys', 'new', file], {});
    expect(created.code, created.err).to.equal(0);
    expect((await stat(file)).mode & 0o777).to.equal(0o600);
    expect((await dps(['keys', 'new', file], {})).err).to.match(/EEXIST/);
    const { service, send } = await start({ CHECKPOINT_KEY_FILE: file });
    await create(send, 'one');
    const [key, ...more] = await keysOf(send);
    expect([key?.kept, more.length]).to.deep.equal(['file', 0]);
    expect(created.out).to.contain(key?.key);
    expect(await signerOf(send, await keysOf(send))).to.equal(key?.key);
    const refused = await send('/history/checkpoint/keys', { method: 'POST' });
    expect([refused.status, refused.codes]).to.deep.equal([409, ['IN_USE']]);
    const secret = (await readFile(file, 'utf8')).split('\n')[1] ?? '?';
    expect(service.log()).not.to.contain(secret);
    expect(service.log()).not.to.contain('a key in the database: anyone who can');
  });

  it('are readable for auditors and admins, and writable for admins', async () => {
    const { service, send } = await start();
    await create(send, 'one');
    const tokenOf = async (role: string): Promise<string> => {
      const { data: user } = (await send('/users', json({ email: `${role}@example.com`, role }))).json as {
        data: { id: string };
      };
      const { data } = (await send(`/users/${user.id}/tokens`, json({ name: 't' }))).json as {
        data: { token: string };
      };
      return data.token;
    };
    const [auditor, reader] = [await tokenOf('auditor'), await tokenOf('reader')];
    for (const path of ['/history/checkpoint', '/history/checkpoint/keys']) {
      expect((await send(path, { token: null })).status).to.equal(401);
      expect((await send(path, { token: reader })).status).to.equal(403);
      expect((await send(path, { token: auditor })).status).to.equal(200);
    }
    for (const token of [auditor, reader]) {
      expect((await send('/history/checkpoint/keys', { method: 'POST', token })).status).to.equal(403);
    }
    expect((await send('/history/checkpoint?x=1')).status).to.equal(400);
    expect(await keysOf(clientOf(service))).to.have.length(1);
  });

  describe('in an invalid file', () => {
    const PEM = generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
    const write = async (content: string, mode = 0o600): Promise<string> => {
      const file = join(folder, 'key.pem');
      await writeFile(file, content);
      await chmod(file, mode);
      return file;
    };

    const refusal = async (file: string): Promise<string> => {
      const config = readConfig({ DATABASE_URL: database.connectionString, PORT: '0', CHECKPOINT_KEY_FILE: file });
      return createService(config, silentLogger as never).then(
        async (service) => {
          await service.stop();
          return 'it started';
        },
        (error: Error) => error.message,
      );
    };

    /** A key with other content in its file. */
    const ofSize = (bytes: number): string => PEM.padEnd(bytes, '\n');

    const cases: Record<string, { file: () => Promise<string>; reason: RegExp }> = {
      'that is not there': { file: () => Promise.resolve(join(folder, 'none')), reason: /ENOENT/ },
      'that is a folder': { file: () => Promise.resolve(folder), reason: /not a regular file|EISDIR/ },
      'that never ends': { file: () => Promise.resolve('/dev/zero'), reason: /not a regular file/ },
      'that is empty': { file: () => write(''), reason: /no private key in PEM format: create one with/ },
      'that all may read': { file: () => write(PEM, 0o644), reason: /mode 644\); run chmod 600/ },
      'that a group may write': { file: () => write(PEM, 0o660), reason: /mode 660\); run chmod 600/ },
      'with a public key': {
        file: () => write(generateKeyPairSync('ed25519').publicKey.export({ format: 'pem', type: 'spki' }).toString()),
        reason: /contains a public key/,
      },
      'with a key of another kind': {
        file: () => write(generateKeyPairSync('x25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()),
        reason: /key of type x25519, not Ed25519/,
      },
      'with a password': {
        file: () =>
          write(
            generateKeyPairSync('ed25519')
              .privateKey.export({ format: 'pem', type: 'pkcs8', cipher: 'aes-256-cbc', passphrase: 'secret' })
              .toString(),
          ),
        reason: /key is encrypted/,
      },
      'that is larger than any key': { file: () => write(ofSize(64 * 1024 + 1)), reason: /it is too large for a key/ },
      'that was cut off': { file: () => write(PEM.slice(0, 60)), reason: /no private key in PEM/ },
    };
    for (const [what, { file, reason }] of Object.entries(cases)) {
      it(`stop the start: ${what}`, async () => {
        const output = await refusal(await file());
        expect(output).to.match(/^The file of CHECKPOINT_KEY_FILE cannot be used: /);
        expect(output).to.match(reason);
      });
    }

    it('are accepted with group read permission, other text, and from openssl', async function () {
      expect(await refusal(await write(PEM, 0o640))).to.equal('it started');
      expect(await refusal(await write(ofSize(64 * 1024)))).to.equal('it started');
      const file = join(folder, 'openssl.pem');
      try {
        execFileSync('openssl', ['genpkey', '-algorithm', 'ed25519', '-out', file], { stdio: 'ignore' });
      } catch {
        this.skip();
      }
      await chmod(file, 0o600);
      expect(await refusal(file)).to.equal('it started');
    });
  });
});
