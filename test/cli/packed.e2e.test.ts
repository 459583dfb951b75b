import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readFile, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { ensureBuilt } from '../support/built.js';
import { type TestDatabase, createDatabase } from '../support/postgres.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** The files of a fresh clone that are packed or built; the app as `npm ci` has built it. */
const CLONED = [
  'src',
  'dist/web',
  'db',
  'docs',
  'scripts',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'README.md',
  'LICENSE',
];

const TOKEN = 'packed-admin-token-0123456789-abcdefgh';

/**
 * Runs `npm pack` in a fresh clone, unpacks the tarball elsewhere and calls it through a link like npm's.
 * Dependencies are borrowed, so that no registry is needed.
 */
describe('the packed program', () => {
  let directory: string;
  let bin: string;
  let database: TestDatabase;
  let environment: NodeJS.ProcessEnv;
  let running: ChildProcess | undefined;

  before(async function () {
    this.timeout(180_000);
    ensureBuilt();
    directory = await mkdtemp(join(tmpdir(), 'dps-packed-'));
    database = await createDatabase();
    const [clone, unpacked] = [join(directory, 'clone'), join(directory, 'unpacked')];
    for (const name of CLONED) await cp(join(ROOT, name), join(clone, name), { recursive: true });
    await symlink(join(ROOT, 'node_modules'), join(clone, 'node_modules'));
    const packed = spawnSync('npm', ['pack', '--silent', '--offline', '--pack-destination', directory], { cwd: clone });
    expect(packed.status, packed.stderr.toString()).to.equal(0);
    const [tarball = ''] = (await readdir(directory)).filter((name) => name.endsWith('.tgz'));
    await mkdir(unpacked);
    expect(spawnSync('tar', ['-xzf', join(directory, tarball), '-C', unpacked]).status).to.equal(0);
    await rm(clone, { recursive: true });
    await symlink(join(ROOT, 'node_modules'), join(unpacked, 'node_modules'));
    const { bin: bins } = JSON.parse(await readFile(join(unpacked, 'package/package.json'), 'utf8')) as {
      bin: { dps: string };
    };
    bin = join(directory, 'dps');
    await symlink(join(unpacked, 'package', bins.dps), bin);
    spawnSync('chmod', ['+x', bin]);
    environment = {
      PATH: `${directory}:${process.env['PATH']}`,
      HOME: directory,
      DATABASE_URL: database.connectionString,
      ADMIN_TOKEN: TOKEN,
      DPS_TOKEN: TOKEN,
    };
  });

  after(async () => {
    running?.kill('SIGKILL');
    await database.drop();
    await rm(directory, { recursive: true, force: true });
  });

  function sh(script: string, more: NodeJS.ProcessEnv = {}) {
    const ran = spawnSync('bash', ['-c', script], {
      cwd: directory,
      env: { ...environment, ...more },
      encoding: 'utf8',
    });
    return { code: ran.status, out: ran.stdout, err: ran.stderr };
  }

  it('prints its release and help without loading the service or the SQL parser', async () => {
    const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    expect(sh('dps --version')).to.deep.equal({ code: 0, out: `${version}\n`, err: '' });
    for (const call of ['dps --version', 'dps --help', 'dps help apply', 'dps completion bash']) {
      const scripts = await scriptsLoadedBy(call);
      expect(scripts.join(), call).to.contain('/dist/cli/main.js');
      const needless = scripts.filter((url) =>
        /\/dist\/(http|pipeline|projector|log)\/|\/node_modules\/(express|libpg-query)\//.test(url),
      );
      expect(needless, call).to.deep.equal([]);
    }
  });

  /** URLs of the files that Node loads, which its coverage lists. */
  async function scriptsLoadedBy(call: string): Promise<string[]> {
    const coverage = await mkdtemp(join(directory, 'coverage-'));
    expect(sh(call, { NODE_V8_COVERAGE: coverage }).code, call).to.equal(0);
    const files = await readdir(coverage);
    const texts = await Promise.all(files.map((file) => readFile(join(coverage, file), 'utf8')));
    return texts.flatMap((text) => (JSON.parse(text) as { result: { url: string }[] }).result.map(({ url }) => url));
  }

  it('starts the service with its migrations, uses it and stops it', async function () {
    this.timeout(120_000);
    const service = spawn(bin, ['start', '--port', '0'], { env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
    running = service;
    let said = '';
    let complained = '';
    service.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
    service.stderr.setEncoding('utf8').on('data', (text: string) => (complained += text));
    while (!said.includes('Try it:')) {
      expect(service.exitCode, complained).to.equal(null);
      await Promise.race([once(service.stdout, 'data'), once(service, 'exit')]);
    }
    const url = /listens on (\S+)/.exec(said)?.[1] ?? '';
    const at = (script: string) => sh(script, { DPS_URL: url });

    const page = await (await fetch(`${url}/app/docs/trash`)).text();
    const [, script = ''] = /src="([^"]+\.js)"/.exec(page) ?? [];
    expect((await fetch(new URL(script, url))).headers.get('content-type'), page).to.contain('javascript');

    const snapshot = at('dps snapshot --output schema.yaml && cat schema.yaml');
    expect(snapshot.code, snapshot.err).to.equal(0);
    expect(at('dps apply schema.yaml').out).to.contain('Nothing to do');
    expect(at('dps status').code).to.equal(0);
    expect(at('dps backup all.dps && ls all.dps').out).to.contain('all.dps');

    for (const call of [
      'dps snapshot',
      'dps status --json',
      'dps users list',
      'dps history',
      'dps tokens add admin@example.com',
    ]) {
      const full = at(`${call} > /dev/full`);
      expect(full.code, `${call}: ${full.err}`).to.equal(2);
      expect(full.err)
        .to.contain('cannot be written')
        .and.not.match(/\n\s+at /);
    }
    expect(sh('dps --help > /dev/full').code).to.equal(2);
    const closed = at('set -o pipefail; dps snapshot | (exec <&-; sleep 1)');
    expect(closed.code, closed.err).to.equal(2);
    expect(closed.err).to.equal('');
    expect(at('dps status 2>&- > /dev/full').code).to.equal(2);

    service.kill('SIGTERM');
    const [code] = (await once(service, 'exit')) as [number | null];
    expect(code, complained).to.equal(0);
    expect(at('dps snapshot').err).to.contain('No service responds');
  });

  it('completes commands, options, values and files in bash', () => {
    const complete = (...words: string[]): string[] => {
      const list = words.map((word) => `'${word}'`).join(' ');
      const script = `source <(dps completion bash); COMP_WORDS=(dps ${list}); COMP_CWORD=${words.length}; _dps
        printf '%s\\n' "\${COMPREPLY[@]}"`;
      const { code, out, err } = sh(script);
      expect([code, err]).to.deep.equal([0, '']);
      return out.split('\n').filter((line) => line !== '');
    };
    expect(complete('sn')).to.deep.equal(['snapshot']);
    expect(complete('users', '')).to.include.members(['list', 'add', 'set', 'remove']);
    expect(complete('users', 'add', 'a@example.com', '--role', '')).to.have.members([
      'admin',
      'auditor',
      'author',
      'reader',
    ]);
    expect(complete('apply', 'diff.json', '--all')).to.deep.equal(['--allow-drop']);
    expect(complete('rebuild', 'm')).to.deep.equal(['metadata']);
    // Nothing of ours matches, so bash offers files.
    expect(complete('apply', 'sch')).to.deep.equal([]);
    expect(sh('source <(dps completion bash); complete -p dps').out).to.contain('-o default');
    expect(complete('$(touch evaluated)', '')).to.be.an('array');
    expect(sh('ls').out).not.to.contain('evaluated');
  });

  it('writes completions that other shells accept', function () {
    expect(sh('dps completion zsh').out).to.match(/^#compdef dps\n/);
    expect(sh('dps completion fish').out).to.contain("complete -c dps -f -n 'not __fish_seen_subcommand_from start");
    for (const shell of ['zsh', 'fish']) {
      if (spawnSync(shell, ['--version']).status !== 0) continue;
      expect(sh(`dps completion ${shell} > script && ${shell} -n script`)).to.deep.equal({ code: 0, out: '', err: '' });
    }
    expect(sh('dps completion tcsh').err).to.contain('Allowed choices are bash, zsh, fish');
  });
});
