import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { SETTINGS, readConfig } from '../src/config.js';
import { greeting } from '../src/greeting.js';
import { clientOf } from './http/client.js';
import { type TestService, startService } from './support/service.js';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

interface Block {
  language: string;
  content: string;
}

const PAGES = ['README.md', ...readdirSync(join(ROOT, 'docs')).map((name) => `docs/${name}`)].filter((name) =>
  name.endsWith('.md'),
);

describe('the documents', () => {
  before('build the program that they call', function () {
    this.timeout(120_000);
    const built = spawnSync('npm', ['run', '--silent', 'build'], { cwd: ROOT, encoding: 'utf8' });
    expect(built.status, built.stdout + built.stderr).to.equal(0);
  });

  for (const page of PAGES) {
    const steps = blocksOf(page).filter(({ language }) => language === 'sh' || language === 'answers');
    if (steps.length === 0) continue;

    it(`${page}: every command works as printed`, async function () {
      if (!isThere('curl') || !isThere('bash')) this.skip();
      this.timeout(120_000);
      const service = await startService();
      const directory = await mkdtemp(join(tmpdir(), 'dps-tour-'));
      try {
        for (const [index, { language, content }] of steps.entries()) {
          if (language !== 'sh') continue;
          const output = await runStep(content, service, directory);
          const next = steps[index + 1];
          const expected = next?.language === 'answers' ? next.content.trim().split('\n') : [];
          for (const line of expected) expect(output, content).to.contain(line);
          if (!expected.some((line) => line.includes('"code"'))) expect(output, content).not.to.contain('"errors"');
        }
      } finally {
        await service.stop();
        await rm(directory, { recursive: true });
      }
    });
  }

  it('the tour goes on from the first request that a start prints, and leaves nothing else behind', async function () {
    if (!isThere('curl') || !isThere('bash')) this.skip();
    this.timeout(240_000);
    const service = await startService();
    const directory = await mkdtemp(join(tmpdir(), 'dps-tour-'));
    try {
      const admin = { email: service.adminEmail, created: true, ignored: [], tokenGenerated: service.adminToken };
      const [, first = ''] = greeting({ url: service.url, admin }, readConfig({})).split('Try it:');
      expect(await runStep(first, service, directory)).to.contain('"data"');
      const tour = blocksOf('README.md').filter(({ language }) => language === 'sh');
      for (const { content } of tour) await runStep(content, service, directory);
      const left = await clientOf(service)('/collections');
      const names = (left.json as { data: { collection: string; meta: { system?: boolean } }[] }).data;
      expect(names.filter(({ meta }) => meta.system !== true).map(({ collection }) => collection)).to.deep.equal([
        'first_steps',
      ]);
      expect((await clientOf(service)('/users')).text).not.to.contain('tour@example.com');
      expect(readdirSync(directory)).to.deep.equal([]);
    } finally {
      await service.stop();
      await rm(directory, { recursive: true });
    }
  });

  it('lead to pages that are there, and the README to each of them', () => {
    for (const page of PAGES) {
      for (const [, target = ''] of read(page).matchAll(/\]\((?!\w+:|#)([^)#\s]+)/g)) {
        expect(existsSync(join(ROOT, dirname(page), target)), `${page}: ${target}`).to.equal(true);
      }
    }
    const readme = read('README.md');
    for (const page of PAGES.slice(1)) expect(readme).to.contain(`](${page})`);
  });

  it('keep the README short enough to be read: 150 lines', () => {
    expect(read('README.md').split('\n').length).to.be.at.most(151);
  });

  it('explain every setting, and no others', () => {
    const [, settings = ''] = /^## Settings$(.*?)(?:^## |$(?![^]))/ms.exec(read('docs/operating.md')) ?? [];
    const explained = [...settings.matchAll(/^\| `([A-Z_]+)`\s+\|/gm)].map(([, name]) => name);
    expect(explained).to.have.members(SETTINGS);
  });

  it('have a map of what is there', () => {
    const map =
      blocksOf('docs/architecture.md')
        .find(({ language }) => language === 'map')
        ?.content.trim()
        .split('\n') ?? [];
    expect(map.length).to.be.greaterThan(8);
    for (const line of map) expect(existsSync(join(ROOT, line.split(/\s/)[0]!)), line).to.equal(true);
  });
});

function read(page: string): string {
  return readFileSync(join(ROOT, page), 'utf8');
}

function blocksOf(page: string): Block[] {
  return [...read(page).matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language = '', content = '']) => ({
    language,
    content,
  }));
}

/** Runs a block as a reader would, but in an empty directory of its own; npx finds the project all the same. */
async function runStep(script: string, service: TestService, directory: string): Promise<string> {
  const inProject = 'npx() { (cd "$ROOT" && command npx "$@"); }';
  const child = spawn('bash', ['-euo', 'pipefail', '-c', `${inProject}\n${script}`], {
    cwd: directory,
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      ROOT,
      URL: service.url,
      TOKEN: service.adminToken,
      DATABASE_URL: service.databaseUrl,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close') as Promise<[number | null]>;
  const [output, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  expect(code, `${script}\n${output}\n${errors}`).to.equal(0);
  return output;
}

function isThere(program: string): boolean {
  return spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0;
}
