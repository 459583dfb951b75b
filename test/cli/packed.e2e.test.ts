import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { ensureBuilt } from '../support/built.js';
import { blocksOf } from '../support/documents.js';
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
  'CHANGELOG.md',
  'LICENSE',
];

const TOKEN = 'packed-admin-token-0123456789-abcdefgh';

/**
 * Runs `npm pack` in a fresh clone and installs the tarball in an empty folder, with the files and links that npm
 * creates. Dependencies are links to those of this project without its tools, so that no registry is needed.
 */
interface Manifest {
  name: string;
  private?: boolean;
  bin: { dps: string };
  publishConfig: object;
  exports: Record<string, unknown>;
}

/** Links every package that npm installs with the program: those of the lock file that are not tools. */
async function linkDependencies(folder: string): Promise<void> {
  const { packages } = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean }>;
  };
  for (const [path, { dev = false }] of Object.entries(packages)) {
    const [, name] = /^node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(path) ?? [];
    if (dev || name === undefined || !existsSync(join(ROOT, path))) continue;
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await symlink(join(ROOT, path), join(folder, name));
  }
}

describe('the packed program', () => {
  let directory: string;
  let manifest: Manifest;
  let bin: string;
  let database: TestDatabase;
  let environment: NodeJS.ProcessEnv;
  let running: ChildProcess | undefined;

  before(async () => {
    ensureBuilt();
    directory = await mkdtemp(join(tmpdir(), 'dps-packed-'));
    database = await createDatabase();
    const [clone, installed] = [join(directory, 'clone'), join(directory, 'node_modules', 'data-platform-service')];
    for (const name of CLONED) await cp(join(ROOT, name), join(clone, name), { recursive: true });
    await symlink(join(ROOT, 'node_modules'), join(clone, 'node_modules'));
    const packed = spawnSync('npm', ['pack', '--silent', '--offline', '--pack-destination', directory], { cwd: clone });
    expect(packed.status, packed.stderr.toString()).to.equal(0);
    const [tarball = ''] = (await readdir(directory)).filter((name) => name.endsWith('.tgz'));
    await rm(clone, { recursive: true });
    await mkdir(installed, { recursive: true });
    const unpack = ['-xzf', join(directory, tarball), '--strip-components=1', '-C', installed];
    expect(spawnSync('tar', unpack).status).to.equal(0);
    await linkDependencies(join(directory, 'node_modules'));
    manifest = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8')) as Manifest;
    bin = join(directory, 'node_modules/.bin/dps');
    await mkdir(dirname(bin));
    await symlink(join('..', manifest.name, manifest.bin.dps), bin);
    spawnSync('chmod', ['+x', bin]);
    environment = {
      PATH: `${dirname(bin)}:${process.env['PATH']}`,
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

  it('can be published with provenance, and contains the files that its readers and licences require', async () => {
    expect(manifest).not.to.have.property('private');
    expect(manifest.publishConfig).to.deep.equal({ access: 'public', provenance: true });
    const installed = join(directory, 'node_modules', manifest.name);
    const readme = await readFile(join(installed, 'README.md'), 'utf8');
    const links = [...readme.matchAll(/\]\(([^):#]+)/g)].map(([, file = '']) => file);
    expect(links).to.include('docs/dps.md');
    const missing = ['LICENSE', 'CHANGELOG.md', 'db', 'dist/sbom.cdx.json', ...links].filter(
      (file) => file !== 'CONTRIBUTING.md' && !existsSync(join(installed, file)),
    );
    expect(missing).to.deep.equal([]);
    const bundled = JSON.parse(await readFile(join(installed, 'dist/web/packages.json'), 'utf8')) as { name: string }[];
    const texts = (await readFile(join(installed, 'dist/web/licences.txt'), 'utf8')).split(`\n\n${'-'.repeat(80)}\n\n`);
    expect(texts).to.have.length(bundled.length);
    for (const [index, { name }] of bundled.entries()) {
      expect(texts[index], name).to.match(/^\S+ \S+: .+\n/);
      expect(texts[index]?.slice(0, name.length + 1)).to.equal(`${name} `);
      expect(texts[index], name).to.match(
        /Permission is hereby granted|Permission to use, copy|Redistribution and use|TERMS AND CONDITIONS FOR USE|Eclipse Public License/i,
      );
    }
    const sources = (await readdir(installed, { recursive: true })).filter((file) =>
      /^(?:src|test|scripts)\//.test(file),
    );
    expect(sources).to.deep.equal([]);
  });

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

  /** @returns the process, its messages and the address of the service */
  async function startService(): Promise<{ service: ChildProcess; url: string; messages: () => string }> {
    const service = spawn(bin, ['start', '--port', '0'], { env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
    running = service;
    let output = '';
    let complained = '';
    service.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    service.stderr.setEncoding('utf8').on('data', (text: string) => (complained += text));
    while (!output.includes('Try it:')) {
      expect(service.exitCode, complained).to.equal(null);
      await Promise.race([once(service.stdout, 'data'), once(service, 'exit')]);
    }
    return { service, url: /listens on (\S+)/.exec(output)?.[1] ?? '', messages: () => complained };
  }

  async function stopService(service: ChildProcess, messages: () => string): Promise<void> {
    service.kill('SIGTERM');
    const [code] = (await once(service, 'exit')) as [number | null];
    expect(code, messages()).to.equal(0);
  }

  it('starts the service with its migrations, uses it and stops it', async () => {
    const { service, url, messages } = await startService();
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

    await stopService(service, messages);
    expect(at('dps snapshot').err).to.contain('No service responds');
  });

  it('contains a client whose examples compile under strict in another project, and run', async () => {
    const [typescript, python] = ['ts', 'python'].map(
      (expected) => blocksOf('docs/client.md').find(({ language }) => language === expected)?.content ?? '',
    );
    await writeFile(join(directory, 'package.json'), JSON.stringify({ type: 'module' }));
    await writeFile(join(directory, 'example.ts'), typescript ?? '');
    const call =
      "import { run } from './example.js';\nconsole.log(...(await run(process.env.DPS_URL, process.env.DPS_TOKEN)));\n";
    await writeFile(join(directory, 'call.mjs'), call);
    const options =
      '--strict --noUncheckedIndexedAccess --exactOptionalPropertyTypes --module nodenext --target es2022';
    const project = `${options} --lib es2022,dom`;
    const compiled = sh(`node '${join(ROOT, 'node_modules/typescript/bin/tsc')}' ${project} example.ts`);
    expect(compiled).to.deep.equal({ code: 0, out: '', err: '' });

    const { service, url, messages } = await startService();
    const ran = sh('node call.mjs', { DPS_URL: url });
    expect(ran.err).to.equal('');
    expect(ran.out).to.match(/^created in batch [0-9a-f-]{36}\n.*already exists.*\nCREATE TABLE /);

    // Packages of the operating system belong to its own Python, which may not be the first in PATH.
    const interpreter = ['python3', '/usr/bin/python3'].find((each) => sh(`${each} -c "import httpx"`).code === 0);
    if (interpreter !== undefined) {
      await writeFile(join(directory, 'example.py'), python ?? '');
      const output = sh(`${interpreter} example.py`, { DPS_URL: url });
      expect(output.err).to.equal('');
      expect(output.out).to.match(/^CREATE TABLE .*\nTrue\nALREADY_EXISTS\n$/);
    } else {
      console.log('      The Python example was not run, because python3 or httpx is missing.');
    }
    await stopService(service, messages);
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
