import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type ServerCommand, spawnServer } from '../../../src/postgres/embedded/start-server.js';
import { until } from '../../support/until.js';

describe('the supervisor of the embedded server', function () {
  if (process.platform === 'win32') return;
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'dps-supervise-'));
    await mkdir(join(directory, 'bin'));
  });

  afterEach(() => rm(directory, { recursive: true, force: true }));

  const started = async (script: string, options: Partial<ServerCommand> = {}) => {
    await writeFile(join(directory, 'bin/postgres'), `#!/bin/sh\ncd ${directory}\n${script}\n`, { mode: 0o755 });
    return spawnServer({
      programs: directory,
      account: null,
      home: '/home/of/it',
      port: 5433,
      stalePid: null,
      settings: {},
      ...options,
    });
  };
  const written = (name: string): Promise<string> => readFile(join(directory, name), 'utf8');

  it('passes files, port and settings, and only PATH of its environment', async () => {
    process.env['OWN_SECRET'] = 'secret';
    try {
      const settings = { max_connections: 50, listen_addresses: 'localhost' };
      const server = await started('env > env; for each in "$@"; do echo "$each"; done > args', { settings });
      expect(server.running()).to.equal(true);
      expect(await server.ended).to.equal('');
      expect(server.running()).to.equal(false);
      const expected = [
        '-D',
        '/home/of/it',
        '-p',
        '5433',
        '-c',
        'max_connections=50',
        '-c',
        'listen_addresses=localhost',
      ];
      expect((await written('args')).trim().split('\n')).to.deep.equal(expected);
      const variables = (await written('env')).split('\n').map((line) => line.replace(/=.*/, ''));
      expect(variables).to.include.members(['PATH', 'LC_ALL']);
      expect(variables).not.to.include.members(['OWN_SECRET']);
      expect(variables).not.to.include.members(['PG_GRANDPARENT_PID']);
    } finally {
      delete process.env['OWN_SECRET'];
    }
  });

  it('spares the process named by an outdated postmaster.pid', async () => {
    const server = await started('echo "$PG_GRANDPARENT_PID $LC_ALL" > pid', { stalePid: 4711 });
    await server.ended;
    expect(await written('pid')).to.equal('4711 C\n');
  });

  it('keeps the last 10000 characters of stderr', async () => {
    const server = await started('printf "start" >&2; printf "%010000d" 7 >&2');
    const text = await server.ended;
    expect(text).to.have.lengthOf(10_000).and.match(/^0+7$/);
  });

  it('sends SIGINT when released, and not before', async () => {
    // Not a shell script: a shell's background process ignores SIGINT, and the shell cannot undo that.
    const program = `process.on('SIGINT', () => { console.error('stopped'); process.exit(0); });
      setInterval(() => {}, 1000); require('node:fs').writeFileSync('up', '');`;
    const server = await started(`exec ${process.execPath} -e "${program}"`);
    await until('the server is up', () => existsSync(join(directory, 'up')));
    expect(server.running()).to.equal(true);
    server.release();
    expect(await server.ended).to.equal('stopped\n');
    expect(server.running()).to.equal(false);
  });
});
