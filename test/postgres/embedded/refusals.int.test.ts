import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { OperatorError } from '../../../src/kernel/problem.js';
import { initialise } from '../../../src/postgres/embedded/cluster.js';
import {
  readPostmaster,
  runningPostmaster,
  startServer,
  stopOrphan,
} from '../../../src/postgres/embedded/start-server.js';

describe('a failing embedded server', () => {
  if (process.platform === 'win32') return;
  let directory: string;
  let home: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'dps-refusals-'));
    home = join(directory, 'data/server');
    await mkdir(join(directory, 'bin'));
  });

  afterEach(() => rm(directory, { recursive: true, force: true }));

  const program = (name: string, script: string): Promise<void> =>
    writeFile(join(directory, 'bin', name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const refusalOf = async (work: Promise<unknown>): Promise<string> => {
    const error: unknown = await work.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).to.be.instanceOf(OperatorError);
    return (error as Error).message;
  };

  describe('during initdb', () => {
    const make = () =>
      initialise({ programs: directory, account: null, home, link: home, password: 'p', durable: false });

    it('reports the last error and leaves nothing', async () => {
      await program('initdb', 'echo "initdb: error: first" >&2; echo "FATAL:  the reason." >&2; echo hint >&2; exit 1');
      expect(await refusalOf(make())).to.equal(
        `The embedded PostgreSQL in ${home} could not be initialized: FATAL:  the reason.`,
      );
      expect(await readdir(join(directory, 'data'))).to.deep.equal([]);
      await program('initdb', 'echo "initdb: error: no room" >&2; exit 1');
      expect(await refusalOf(make())).to.contain(`${home} could not be initialized: initdb: error: no room.`);
      await program('initdb', 'exit 7');
      expect(await refusalOf(make())).to.match(/could not be initialized: Command failed: /);
    });

    it('passes the password in a private file that is deleted afterwards', async () => {
      await program(
        'initdb',
        `echo "$@" > ${directory}/args; for each in "$@"; do case "$each" in --pwfile=*) ls -l "\${each#--pwfile=}" | cut -c 1-10 > ${directory}/mode; cat "\${each#--pwfile=}" > ${directory}/password;; esac; done`,
      );
      await make();
      expect(await readFile(join(directory, 'password'), 'utf8')).to.equal('p');
      expect(await readFile(join(directory, 'mode'), 'utf8')).to.equal('-rw-------\n');
      const args = (await readFile(join(directory, 'args'), 'utf8')).trim().split(' ');
      expect(args).to.include.members(['--auth=scram-sha-256', '--username=postgres', '--encoding=UTF8', '--no-sync']);
      expect(await readdir(join(directory, 'data'))).to.deep.equal(['server']);
    });

    it('removes only unfinished directories of earlier starts', async () => {
      await mkdir(join(directory, 'data/server.draft-0a0b0c0d'), { recursive: true });
      await mkdir(join(directory, 'data/other.draft-0a0b0c0d'));
      await program('initdb', 'exit 0');
      await make();
      expect((await readdir(join(directory, 'data'))).sort()).to.deep.equal(['other.draft-0a0b0c0d', 'server']);
    });
  });

  describe('during its start', () => {
    const start = () => startServer({ programs: directory, account: null, home, settings: {} });

    it("reports the server's own error", async () => {
      await program(
        'postgres',
        'echo "LOG: x" >&2; echo "2026 FATAL:  data is broken." >&2; echo "HINT: no" >&2; exit 1',
      );
      expect(await refusalOf(start())).to.equal(`The embedded PostgreSQL in ${home} did not start: data is broken.`);
      await program('postgres', 'echo one >&2; echo "last words." >&2; echo >&2; exit 1');
      expect(await refusalOf(start())).to.contain(' did not start: last words.');
      await program('postgres', 'exit 1');
      expect(await refusalOf(start())).to.contain(' did not start: it did not become ready in time.');
    });

    /** Ready at the second start; the first finds its port in use. */
    const SECOND = `const { appendFileSync, readFileSync, writeFileSync } = require('node:fs');
      const [, home, , port] = process.argv.slice(-4);
      appendFileSync(home + '/starts', port + ' ');
      if (readFileSync(home + '/starts', 'utf8').split(' ').length < 3) {
        console.error('LOG: could not bind IPv4 address');
        process.exit(1);
      }
      writeFileSync(home + '/postmaster.pid', [process.pid, home, 0, port, '', '', '', 'ready '].join('\\n'));
      process.on('SIGINT', () => process.exit(0));
      setInterval(() => {}, 1000);`;

    it('tries another port if one was taken in the meantime', async () => {
      await mkdir(home, { recursive: true });
      await writeFile(join(directory, 'second.js'), SECOND);
      await program('postgres', `exec ${process.execPath} ${directory}/second.js "$@"`);
      const server = await start();
      const ports = (await readFile(join(home, 'starts'), 'utf8')).trim().split(' ').map(Number);
      expect(ports).to.have.lengthOf(2);
      expect(server.port).to.equal(ports[1]);
      await server.stop();
      expect(await server.ended).to.equal('');
    });
  });

  describe('with a postmaster.pid', () => {
    const note = async (text: string): Promise<void> => {
      await mkdir(home, { recursive: true });
      await writeFile(join(home, 'postmaster.pid'), text);
    };

    it('reads process, port and readiness', async () => {
      expect(await readPostmaster(home)).to.equal(null);
      await note('123\n/data\n0\n5433\n\n\n\nready   \n');
      expect(await readPostmaster(home)).to.deep.equal({ pid: 123, port: 5433, ready: true });
      await note('-123\n/data\n0\n5433\n\n\n\nstarting\n');
      expect(await readPostmaster(home)).to.deep.equal({ pid: 123, port: 5433, ready: false });
      await note('2\n');
      expect(await readPostmaster(home)).to.deep.equal({ pid: 2, port: 0, ready: false });
      for (const text of ['', 'x', '1\n', '0\n']) {
        await note(text);
        expect(await readPostmaster(home), text).to.equal(null);
      }
    });

    it('ignores a foreign or missing process', async () => {
      await note(`${process.pid}\n${home}\n0\n5433\n\n\n\nready\n`);
      expect(await runningPostmaster(home)).to.equal(null);
      expect(await stopOrphan(home)).to.equal(false);
      await note(`${2 ** 22 + 1}\n${home}\n0\n5433\n\n\n\nready\n`);
      expect(await runningPostmaster(home)).to.equal(null);
    });
  });
});
