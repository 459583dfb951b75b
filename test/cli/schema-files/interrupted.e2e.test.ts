import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync } from 'node:fs';
import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { text as textOf } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { ensureBuilt } from '../../support/built.js';
import { json } from '../../support/client.js';
import { dps } from '../../support/dps.js';
import { withService } from '../../support/with-service.js';

const PROGRAM = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));
const COLLECTIONS = 150;

type Folder = Record<string, string>;

describe('an interrupted pull', () => {
  const { service, client } = withService();
  let work: string;
  let directory: string;
  /** The content of the folder before and after. */
  let first: Folder;
  let second: Folder;

  before(async () => {
    ensureBuilt();
    work = await mkdtemp(join(tmpdir(), 'dps-interrupted-'));
    const of = (index: number) => ({
      collection: `things_${String(index).padStart(3, '0')}`,
      schema: {},
      fields: [{ field: 'name', type: 'string', interface: 'input' }],
    });
    await call(
      '/collections',
      'POST',
      Array.from({ length: COLLECTIONS }, (_, index) => of(index)),
    );
    directory = join(work, 'before');
    expect((await run('pull')).code).to.equal(0);
    first = contents();
    // Every file changes; one is removed and one added.
    const changes = Array.from({ length: COLLECTIONS }, (_, index) => ({ ...of(index), meta: { note: 'after' } }));
    await call(
      '/collections',
      'PATCH',
      changes.map(({ collection, meta }) => ({ collection, meta })),
    );
    await call('/collections/things_000', 'DELETE');
    await call('/collections', 'POST', [of(COLLECTIONS)]);
    directory = join(work, 'after');
    expect((await run('pull')).code).to.equal(0);
    second = contents();
  });

  after(async () => {
    if (work !== undefined) await rm(work, { recursive: true, force: true });
  });

  beforeEach(async () => {
    directory = await mkdtemp(join(work, 'folder-'));
    await fill(first);
  });

  async function call(path: string, method: string, body?: unknown): Promise<void> {
    const reply = await client(path, body === undefined ? { method } : json(body, method));
    expect(reply.status, reply.text).to.be.within(200, 204);
  }

  const environment = () => ({ DPS_URL: service.url, DPS_TOKEN: service.adminToken });
  const run = (...args: string[]) => dps([...args, directory], environment());

  async function fill(folder: Folder): Promise<void> {
    await mkdir(join(directory, 'collections'), { recursive: true });
    for (const [path, text] of Object.entries(folder)) await writeFile(join(directory, path), text);
  }

  function namesIn(): string[] {
    const inside = readdirSync(join(directory, 'collections')).map((name) => `collections/${name}`);
    return [...readdirSync(directory), ...inside].filter((name) => name !== 'collections');
  }

  const isOwn = (name: string): boolean => !/(^|\/)\./.test(name);

  function contents(): Folder {
    const names = namesIn().filter(isOwn).sort();
    return Object.fromEntries(names.map((name) => [name, readFileSync(join(directory, name), 'utf8')]));
  }

  interface Ended {
    status: number | null;
    error: string;
  }

  /**
   * `dps pull` as a separate process.
   * @param shell shell code before it
   */
  function start(shell = ''): { child: ChildProcess; ended: Promise<Ended> } {
    const command = `${shell} exec "$0" "$@"`;
    const child = spawn('sh', ['-c', command, process.execPath, PROGRAM, 'pull', directory], {
      env: { PATH: process.env['PATH'], ...environment() },
    });
    child.stdin.end();
    child.stdout.resume();
    const error = textOf(child.stderr);
    const closed = once(child, 'close') as Promise<[number | null]>;
    return { child, ended: closed.then(async ([status]) => ({ status, error: await error })) };
  }

  async function expectNeverSilentlyWrong(): Promise<void> {
    const now = contents();
    for (const [name, text] of Object.entries(now)) expect([first[name], second[name]], name).to.include(text);
    // The lock is written last.
    if (now['dps.lock'] === second['dps.lock']) expect(now).to.deep.equal(second);
    const isAfter = JSON.stringify({ ...now, 'dps.lock': '' }) === JSON.stringify({ ...second, 'dps.lock': '' });
    expect((await run('pull', '--check')).code).to.equal(isAfter ? 0 : 1);
    // Neither new nor old files count as changes.
    expect((await run('plan')).out).to.equal('No differences.');
    expect((await run('pull')).code).to.equal(0);
    expect(contents()).to.deep.equal(second);
    expect(namesIn().filter((name) => !isOwn(name))).to.deep.equal([]);
  }

  const isTemporary = (name: string): boolean => name.endsWith('.tmp');
  const isWritten = (name: string): boolean =>
    isOwn(name) && readFileSync(join(directory, name), 'utf8') === second[name];

  const moments: [string, () => boolean][] = [
    ['before it writes', () => namesIn().includes('.dps-writing')],
    ['when a file is written', () => namesIn().filter(isTemporary).length > 0],
    ['in the middle of writing', () => namesIn().filter(isTemporary).length > COLLECTIONS / 2],
    ['when the first file was replaced', () => namesIn().some((name) => name.endsWith('_001.yaml') && isWritten(name))],
    [
      'when half of the files were replaced',
      () => namesIn().some((name) => name.endsWith('_075.yaml') && isWritten(name)),
    ],
    ['when the last file was replaced', () => namesIn().includes(`collections/things_${COLLECTIONS}.yaml`)],
    ['when the deleted file was removed', () => !namesIn().includes('collections/things_000.yaml')],
  ];
  for (const [when, isThere] of moments) {
    it(`leaves whole files when it is killed ${when}`, async () => {
      const { child, ended } = start();
      const isOver = () => child.exitCode !== null || child.signalCode !== null;
      while (!isOver() && !isThere()) await setImmediate();
      child.kill('SIGKILL');
      await ended;
      await expectNeverSilentlyWrong();
    });
  }

  it('changes nothing on a full disk, and reports it', async () => {
    // The file size limit is one block. Without SIGXFSZ, writing fails instead.
    const { ended } = start('trap "" XFSZ; ulimit -f 1;');
    const { status, error } = await ended;
    expect([status, error.split(' (')[0]]).to.deep.equal([2, 'The files cannot be written']);
    expect(contents()).to.deep.equal(first);
    expect(namesIn().filter((name) => !isOwn(name))).to.deep.equal([]);
  });

  it('reports files without write permission before it writes anything', async () => {
    await rm(join(directory, 'collections/things_075.yaml'));
    await mkdir(join(directory, 'collections/things_075.yaml'));
    const refused = await run('pull');
    expect([refused.code, refused.err.includes('things_075.yaml')]).to.deep.equal([2, true]);
    await rm(join(directory, 'collections/things_075.yaml'), { recursive: true });
    await fill({ 'collections/things_075.yaml': first['collections/things_075.yaml'] ?? '' });
    expect(contents()).to.deep.equal(first);
    expect((await run('pull', '--check')).code).to.equal(1);
    await expectNeverSilentlyWrong();
  });

  it('writes once when two pulls run at the same time, and the second fails or finds nothing to do', async () => {
    const ends = await Promise.all([start(), start(), start()].map(({ ended }) => ended));
    for (const { status, error } of ends)
      if (status !== 0)
        expect([status, error]).to.deep.equal([
          2,
          error.match(/^Another dps \(process [^)]+\) is writing to .*\n$/)?.[0],
        ]);
    expect(ends.some(({ status }) => status === 0)).to.equal(true);
    expect(contents()).to.deep.equal(second);
  });

  it('ignores dead writers, and waits for live ones only for a limited time', async () => {
    const file = join(directory, '.dps-writing');
    await writeFile(file, `${process.ppid}\n`);
    const refused = await run('pull');
    expect([refused.code, refused.err.includes(`process ${process.ppid}`)]).to.deep.equal([2, true]);
    expect(contents()).to.deep.equal(first);
    const long = new Date(Date.now() - 3_600_000);
    await utimes(file, long, long);
    expect((await run('pull')).code).to.equal(0);
    await expectNeverSilentlyWrong();
  });
});
