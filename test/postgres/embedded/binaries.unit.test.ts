import { access, constants, mkdir, mkdtemp, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { OperatorError } from '../../../src/kernel/problem.js';
import { findBinaries } from '../../../src/postgres/embedded/cluster.js';

describe("the embedded server's programs", () => {
  let folder: string;
  let packageFile: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'dps-binaries-'));
    packageFile = join(folder, 'package.json');
    await mkdir(join(folder, 'native', 'bin'), { recursive: true });
    await mkdir(join(folder, 'native', 'lib'));
    await writeFile(packageFile, JSON.stringify({ version: '18.4.0' }));
    await writeFile(join(folder, 'native', 'lib', 'libpq.so.5.18'), 'a library');
    const links = [{ source: 'native/lib/libpq.so.5.18', target: 'native/lib/libpq.so.5' }];
    await writeFile(join(folder, 'native', 'pg-symlinks.json'), JSON.stringify(links));
    for (const name of ['initdb', 'postgres', 'pg_ctl'])
      await writeFile(join(folder, 'native', 'bin', name), '', { mode: 0o644 });
  });
  afterEach(() => rm(folder, { recursive: true }));

  const link = (): string => join(folder, 'native', 'lib', 'libpq.so.5');

  it('are made executable, and their libraries linked', async () => {
    const binaries = await findBinaries(packageFile);
    expect(binaries).to.deep.equal({ root: join(folder, 'native'), version: '18.4.0' });
    expect(await readFile(link(), 'utf8')).to.equal('a library');
    expect(await readlink(link())).to.equal('libpq.so.5.18');
    for (const name of ['initdb', 'postgres', 'pg_ctl']) {
      await access(join(binaries.root, 'bin', name), constants.X_OK);
      expect((await stat(join(binaries.root, 'bin', name))).mode & 0o777).to.equal(0o755);
    }
  });

  it('stay unchanged if they are complete', async () => {
    await findBinaries(packageFile);
    const { ino } = await stat(link());
    await findBinaries(packageFile);
    expect((await stat(link())).ino).to.equal(ino);
  });

  it('work without a list of links', async () => {
    await rm(join(folder, 'native', 'pg-symlinks.json'));
    expect((await findBinaries(packageFile)).version).to.equal('18.4.0');
  });

  it('are reported incomplete if one is missing', async () => {
    await rm(join(folder, 'native', 'bin', 'postgres'));
    const error: unknown = await findBinaries(packageFile).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(OperatorError);
    expect((error as Error).message).to.include(`The embedded PostgreSQL in ${join(folder, 'native')} is incomplete`);
  });
});
