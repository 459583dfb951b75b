import { spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import {
  checkpointText,
  fileNameOf,
  originOf,
  noteKey,
  rawPublicKey,
  signNote,
} from '../../../src/log/signed-checkpoints/checkpoint.js';
import { type Delivery, RefusedError, createTarget } from '../../../src/log/signed-checkpoints/targets.js';
import { temporaryDirectory } from '../../support/postgres.js';

const { privateKey } = generateKeyPairSync('ed25519');
const KEY = noteKey('data-platform-service', rawPublicKey(privateKey));
const ORIGIN = originOf('ab'.repeat(32));

function checkpoint(position: number, more: { hash?: string; time?: string } = {}): Delivery {
  const { hash = 'cd'.repeat(32), time = '2026-11-22T06:00:00.000Z' } = more;
  return {
    origin: ORIGIN,
    position,
    note: signNote(checkpointText({ origin: ORIGIN, position, hash, time }), KEY, privateKey),
  };
}

const FIRST = checkpoint(1);
const NAME = fileNameOf(FIRST);
const going = new AbortController().signal;

const failure = async (work: Promise<unknown>): Promise<Error> => {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof Error) return error;
  throw new Error('it was delivered');
};

describe('checkpoints in a folder', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await temporaryDirectory();
  });

  afterEach(() => rm(folder, { recursive: true, force: true }));

  const deliver = (input: Delivery, to = folder): Promise<void> => createTarget(to).deliver(input, going);

  it('are files with the notes, and nothing else', async () => {
    for (const each of [FIRST, checkpoint(2)]) await deliver(each);
    expect((await readdir(folder)).sort()).to.deep.equal([NAME, fileNameOf(checkpoint(2))]);
    expect(await readFile(join(folder, NAME), 'utf8')).to.equal(FIRST.note);
    // Readable for everyone who may enter the folder.
    expect((await stat(join(folder, NAME))).mode & 0o777).to.equal(0o644 & ~process.umask());
  });

  it('may be delivered repeatedly and concurrently', async () => {
    await Promise.all(Array.from({ length: 20 }, () => deliver(FIRST)));
    await deliver(checkpoint(1, { time: '2026-11-23T06:00:00.000Z' }));
    expect(await readdir(folder)).to.deep.equal([NAME]);
    expect(await readFile(join(folder, NAME), 'utf8')).to.equal(FIRST.note);
  });

  for (const [what, content] of [
    ['another hash', checkpoint(1, { hash: 'ef'.repeat(32) }).note],
    ['half of it', FIRST.note.slice(0, 100)],
    ['nothing', ''],
  ] as const) {
    it(`never overwrite other content: ${what}`, async () => {
      await writeFile(join(folder, NAME), content);
      const error = await failure(deliver(FIRST));
      expect(error).to.be.instanceOf(RefusedError);
      expect(error.message).to.contain('does not overwrite it');
      expect(await readFile(join(folder, NAME), 'utf8')).to.equal(content);
      expect(await readdir(folder)).to.deep.equal([NAME]);
    });
  }

  it('reject a named pipe without waiting for its writer', async function () {
    if (spawnSync('mkfifo', [join(folder, NAME)]).status !== 0) this.skip();
    expect(await failure(deliver(FIRST))).to.be.instanceOf(RefusedError);
  });

  it('wait for a missing folder and do not create it', async () => {
    const missing = join(folder, 'not mounted');
    const error = await failure(deliver(FIRST, missing));
    expect(error).not.to.be.instanceOf(RefusedError);
    expect(error.message).to.match(/ENOENT/);
    await mkdir(missing);
    await deliver(FIRST, missing);
    expect(await readdir(missing)).to.deep.equal([NAME]);
  });

  it('wait on a full disk and leave no partial file', async function () {
    const disk = join(folder, 'disk');
    await mkdir(disk);
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=16k', 'tmpfs', disk]).status !== 0) this.skip();
    try {
      await writeFile(join(disk, 'filler'), Buffer.alloc(20_000)).catch(() => undefined);
      expect((await failure(deliver(FIRST, disk))).message).to.match(/ENOSPC/);
      expect(await readdir(disk)).to.deep.equal(['filler']);
      await rm(join(disk, 'filler'));
      await deliver(FIRST, disk);
      expect((await stat(join(disk, NAME))).size).to.equal(Buffer.byteLength(FIRST.note));
    } finally {
      spawnSync('umount', [disk]);
    }
  });
});

describe('checkpoints to an HTTP address', () => {
  type Answering = (req: IncomingMessage, res: ServerResponse, body: string) => void;
  let url: string;
  let answer: Answering;
  let requests: { method: string; path: string; headers: IncomingMessage['headers']; body: string }[];
  let server: ReturnType<typeof createServer>;

  const status =
    (code: number, headers: Record<string, string> = {}): Answering =>
    (_req, res) =>
      res.writeHead(code, headers).end();

  beforeEach(async () => {
    [requests, answer] = [[], status(201)];
    server = createServer((req, res) => {
      void text(req).then((body) => {
        requests.push({ method: req.method ?? '', path: req.url ?? '', headers: req.headers, body });
        answer(req, res, body);
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  const deliver = (to: string, signal = going): Promise<void> => createTarget(to).deliver(FIRST, signal);

  it('use conditional PUT for addresses with a trailing slash', async () => {
    await deliver(`${url}/checkpoints/`);
    expect(requests).to.have.length(1);
    expect(requests[0]).to.include({ method: 'PUT', path: `/checkpoints/${NAME}`, body: FIRST.note });
    expect(requests[0]?.headers).to.include({ 'if-none-match': '*', 'content-type': 'text/plain; charset=utf-8' });
    expect(requests[0]?.headers).not.to.have.property('authorization');
  });

  it('use POST for all others, with the credentials in the address', async () => {
    await deliver(url.replace('http://', 'http://us%40er:p%2Fw@') + '/take?from=us');
    expect(requests[0]).to.include({ method: 'POST', path: '/take?from=us', body: FIRST.note });
    expect(requests[0]?.headers.authorization).to.equal(`Basic ${Buffer.from('us@er:p/w').toString('base64')}`);
    expect(requests[0]?.headers['content-type']).to.equal('text/plain; charset=utf-8');
    for (const credentials of ['token:', ':secret']) {
      await deliver(url.replace('http://', `http://${credentials}@`));
      expect(requests.at(-1)?.headers.authorization).to.equal(`Basic ${Buffer.from(credentials).toString('base64')}`);
    }
    expect(createTarget(`${url.replace('://', '://u:secret@')}/a/?key=secret`).name).to.equal(`${url}/a/`);
  });

  it('are delivered if the same content exists', async () => {
    answer = (req, res) => (req.method === 'PUT' ? res.writeHead(412).end() : res.end(FIRST.note));
    await deliver(`${url}/`);
    expect(requests.map(({ method }) => method)).to.deep.equal(['PUT', 'GET']);
  });

  it('are rejected if other content exists', async () => {
    const other = checkpoint(1, { hash: 'ef'.repeat(32) }).note;
    answer = (req, res) => (req.method === 'PUT' ? res.writeHead(412).end() : res.end(other));
    expect(await failure(deliver(`${url}/`))).to.be.instanceOf(RefusedError);
  });

  it('wait if the existing content cannot be read', async () => {
    answer = (req, res) => res.writeHead(req.method === 'PUT' ? 412 : 500).end();
    const error = await failure(deliver(`${url}/`));
    expect(error).not.to.be.instanceOf(RefusedError);
    expect(error.message).to.equal('response 500');
  });

  it('report a redirect as a failure and do not follow it', async () => {
    for (const code of [300, 301, 302, 303, 307, 308, 399]) {
      answer = status(code, { location: `${url}/elsewhere` });
      expect((await failure(deliver(`${url}/here`))).message).to.equal(`response ${code}: redirects are not followed`);
    }
    expect(new Set(requests.map(({ path }) => path))).to.deep.equal(new Set(['/here']));
  });

  it('are delivered after every success status', async () => {
    for (const code of [200, 201, 204, 299]) {
      answer = status(code);
      await deliver(`${url}/`);
      await deliver(`${url}/here`);
    }
    expect(requests).to.have.length(8);
  });

  for (const code of [400, 401, 404, 500, 503]) {
    it(`wait after ${code}`, async () => {
      answer = status(code);
      const error = await failure(deliver(`${url}/`));
      expect(error).not.to.be.instanceOf(RefusedError);
      expect(error.message).to.equal(`response ${code}`);
    });
  }

  it('wait for an unreachable address, without logging its password', async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    const error = await failure(deliver(`${url.replace('://', '://u:secret@')}/`));
    expect(error.message).to.match(/^no response: .*ECONNREFUSED/);
    expect(error.message).not.to.contain('secret');
  });

  it('do not block a shutdown on a response that never arrives', async () => {
    answer = () => undefined;
    const stopping = new AbortController();
    setTimeout(() => stopping.abort(), 100);
    expect((await failure(deliver(`${url}/`, stopping.signal))).message).to.match(/abort/);
  });

  it('reject an endless response', async () => {
    answer = (_req, res) => {
      const more = (): void => void (res.destroyed || (res.write(Buffer.alloc(65_536)), setImmediate(more)));
      res.writeHead(200);
      more();
    };
    await deliver(`${url}/`);
  });
});
