import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { type Server, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import {
  containsServer,
  recordedConnection,
  type DataLock,
  isLock,
  takeLock,
} from '../../../src/postgres/embedded/index.js';
import { temporaryDirectory } from '../../support/postgres.js';

describe('the lock of a data directory', () => {
  let directory: string;

  beforeEach(async () => {
    directory = await temporaryDirectory();
  });
  afterEach(() => rm(directory, { recursive: true }));

  it('cannot be taken while another process holds it, for any names, and is free afterwards', async () => {
    const held = (await takeLock(directory)) as DataLock;
    expect(isLock(held)).to.equal(true);
    // Each name is random. If an attempt waited until it gave up, about half of them would, for 60 s in total.
    for (let attempt = 0; attempt < 12; attempt += 1) {
      const refused = await takeLock(directory);
      expect(isLock(refused) || refused.pid, `attempt ${attempt}`).to.equal(process.pid);
    }
    await held.release();
    const next = (await takeLock(directory)) as DataLock;
    expect(isLock(next)).to.equal(true);
    await next.release();
  });

  /** Another process that wants or has the lock: a socket that sends `text`. */
  async function startContender(name: string, text: string): Promise<() => Promise<void>> {
    await mkdir(join(directory, 'lock'), { recursive: true });
    const path = join(directory, 'lock', name);
    const server: Server = createServer((socket) => void socket.end(text));
    await new Promise<void>((resolve) => server.listen(path, resolve));
    return async () => {
      await rm(path, { force: true });
      await new Promise((resolve) => server.close(resolve));
    };
  }
  const wanting = JSON.stringify({ pid: 4711, held: false });

  it('is awaited while a process with a later name also requests it', async () => {
    const leave = await startContender('zzz.sock', wanting);
    let taken: Awaited<ReturnType<typeof takeLock>> | undefined;
    const taking = takeLock(directory).then((lock) => (taken = lock));
    await sleep(300);
    expect(taken).to.equal(undefined);
    await leave();
    const lock = await taking;
    expect(isLock(lock)).to.equal(true);
    await (lock as DataLock).release();
  });

  it('is left to earlier names, and to holders and silent processes', async () => {
    const texts: [name: string, text: string, pid: number][] = [
      ['!.sock', wanting, 4711],
      ['zzz.sock', JSON.stringify({ pid: 4712, held: true }), 4712],
      ['zzz.sock', '', 0],
      ['zzz.sock', 'no JSON', 0],
    ];
    for (const [name, text, pid] of texts) {
      const leave = await startContender(name, text);
      const refused = await takeLock(directory);
      expect(refused, text).to.deep.include({ pid });
      expect(isLock(refused)).to.equal(false);
      await leave();
      expect(await readdir(join(directory, 'lock'))).to.deep.equal([]);
    }
  });

  it('is free after dead processes, whose sockets are removed, and other files are kept', async () => {
    await mkdir(join(directory, 'lock'));
    await writeFile(join(directory, 'lock', 'dead.sock'), '');
    await writeFile(join(directory, 'lock', 'notes.txt'), '');
    const lock = await takeLock(directory);
    expect(isLock(lock)).to.equal(true);
    const names = await readdir(join(directory, 'lock'));
    expect(names).to.have.length(2).and.include('notes.txt').and.not.include('dead.sock');
    await (lock as DataLock).release();
    expect(await readdir(join(directory, 'lock'))).to.deep.equal(['notes.txt']);
  });

  it('works with paths longer than a socket address', async () => {
    const deep = join(directory, 'd'.repeat(120));
    const lock = (await takeLock(deep)) as DataLock;
    expect(isLock(lock)).to.equal(true);
    expect(await takeLock(deep)).to.deep.include({ pid: process.pid });
    await lock.release();
    expect(await readdir(join(deep, 'lock'))).to.deep.equal([]);
  });
});

describe('a data directory', () => {
  it('contains a server after its first setup', async () => {
    const directory = await temporaryDirectory();
    try {
      expect(await containsServer(join(directory, 'nowhere'))).to.equal(false);
      expect(await containsServer(directory)).to.equal(false);
      await mkdir(join(directory, 'postgres'));
      expect(await containsServer(directory)).to.equal(true);
      expect(await recordedConnection(directory)).to.equal(null);
      await writeFile(join(directory, 'connection'), 'postgres://x');
      expect(await recordedConnection(directory)).to.equal('postgres://x');
    } finally {
      await rm(directory, { recursive: true });
    }
  });
});
