import { execFile } from 'node:child_process';
import { chmod, cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import {
  serverAccount,
  findBinaries,
  program,
  ensureReachablePrograms,
} from '../../../src/postgres/embedded/cluster.js';

const run = promisify(execFile);

describe("the embedded server's programs", () => {
  it('normally run in place', async () => {
    const binaries = await findBinaries();
    expect(await ensureReachablePrograms(binaries, null)).to.equal(binaries.root);
  });

  it('run from a copy if root keeps them in a private directory', async function () {
    if (process.getuid?.() !== 0) this.skip();
    const closed = await mkdtemp(join(tmpdir(), 'dps-closed-'));
    await chmod(closed, 0o700);
    const root = join(closed, 'native');
    await cp((await findBinaries()).root, root, { recursive: true, verbatimSymlinks: true });
    const account = await serverAccount(join(closed, 'none'));
    const release = `0.0.0-${closed.slice(-6)}`;
    const copies = await Promise.all([1, 2].map(() => ensureReachablePrograms({ root, version: release }, account)));
    const copy = copies[0]!;
    const { stdout } = await run(program(copy, 'initdb'), ['--version'], { ...account, cwd: '/' });
    await rm(closed, { recursive: true });
    await rm(copy, { recursive: true });
    expect(copies[1]).to.equal(copy);
    expect(copy).to.match(/^\/var\/cache\//);
    expect(stdout).to.contain('PostgreSQL');
  });
});
