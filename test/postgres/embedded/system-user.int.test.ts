import { chown, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { OperatorError } from '../../../src/kernel/problem.js';
import { serverAccount } from '../../../src/postgres/embedded/cluster.js';
import { temporaryDirectory } from '../../support/postgres.js';

describe("the embedded server's account under root", function () {
  let directory: string;
  let data: string;
  const path = process.env['PATH'];

  before(function () {
    if (process.getuid?.() !== 0) this.skip();
  });
  beforeEach(async () => {
    directory = await temporaryDirectory();
    data = join(directory, 'data');
    process.env['PATH'] = directory;
    // Knows the users that have a file here.
    await program('id', `[ -f ${directory}/user-$2 ] || exit 1; case $1 in -u) echo 111;; -g) echo 222;; esac`);
    await program('useradd', 'exit 7');
  });
  afterEach(async () => {
    process.env['PATH'] = path;
    await rm(directory, { recursive: true });
  });

  const program = (name: string, script: string): Promise<void> =>
    writeFile(join(directory, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const user = (name: string): Promise<void> => writeFile(join(directory, `user-${name}`), '');
  const account = (): Promise<unknown> =>
    serverAccount(data).catch((error: unknown) => {
      expect(error).to.be.instanceOf(OperatorError);
      return (error as Error).message;
    });
  const POSTGRES = { uid: 111, gid: 222 };

  it('is the owner of the data, unless that is root', async () => {
    await mkdir(data);
    await chown(data, 4711, 4712);
    await user('postgres');
    expect(await account()).to.deep.equal({ uid: 4711, gid: 4712 });
    await chown(data, 0, 0);
    expect(await account()).to.deep.equal(POSTGRES);
  });

  for (const name of ['postgres', '_postgres'])
    it(`is the system's ${name}`, async () => {
      await user(name);
      expect(await account()).to.deep.equal(POSTGRES);
    });

  it('is created without a home or shell if missing', async () => {
    await program('useradd', `echo "$@" > ${directory}/made; : > ${directory}/user-postgres`);
    expect(await account()).to.deep.equal(POSTGRES);
    expect(await readFile(join(directory, 'made'), 'utf8')).to.equal(
      '--system --user-group --no-create-home --shell /usr/sbin/nologin postgres\n',
    );
  });

  it('may be created by a concurrent process', async () => {
    await program('useradd', `: > ${directory}/user-postgres; exit 9`);
    expect(await account()).to.deep.equal(POSTGRES);
  });

  it('is reported missing if it cannot be created or found', async () => {
    expect(await account()).to.equal(
      'PostgreSQL does not run as root, and a "postgres" user could not be created for it. Start the service as an ordinary ' +
        'user, or set DATABASE_URL to an existing server.',
    );
    await program('useradd', 'exit 0');
    expect(await account()).to.equal('The "postgres" user was created but cannot be found.');
  });
});
