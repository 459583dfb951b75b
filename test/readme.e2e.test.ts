import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { SETTINGS } from '../src/config.js';
import { type TestService, startService } from './support/service.js';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

interface Block {
  language: string;
  content: string;
}

describe('README', () => {
  let readme: string;
  let blocks: Block[];

  before(async () => {
    readme = await readFile(join(ROOT, 'README.md'), 'utf8');
    blocks = [...readme.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language = '', content = '']) => ({
      language,
      content,
    }));
  });

  it('has a tour that works as printed', async function () {
    if (!isThere('curl') || !isThere('bash')) this.skip();
    this.timeout(120_000);
    const service = await startService();
    const directory = await mkdtemp(join(tmpdir(), 'dps-tour-'));
    const steps = blocks.filter(({ language }) => language === 'sh' || language === 'answers');
    expect(steps.length).to.be.greaterThan(8);
    try {
      for (const [index, { language, content }] of steps.entries()) {
        if (language !== 'sh') continue;
        const output = await runStep(content, service, directory);
        const next = steps[index + 1];
        const expected = next?.language === 'answers' ? next.content.trim().split('\n') : [];
        for (const line of expected) expect(output, content).to.contain(line);
      }
    } finally {
      await service.stop();
      await rm(directory, { recursive: true });
    }
  });

  it('explains every setting, and no others', () => {
    const [, settings = ''] = /^## Settings$(.*?)^## /ms.exec(readme) ?? [];
    const explained = [...settings.matchAll(/^\| `([A-Z_]+)`\s+\|/gm)].map(([, name]) => name);
    expect(explained).to.have.members(SETTINGS);
  });

  it('has a map of what is there', () => {
    const map =
      blocks
        .find(({ language }) => language === 'map')
        ?.content.trim()
        .split('\n') ?? [];
    expect(map.length).to.be.greaterThan(8);
    for (const line of map) expect(existsSync(join(ROOT, line.split(/\s/)[0]!)), line).to.equal(true);
  });
});

/** Runs a block as a reader would, but in an empty directory of its own; npm finds the project all the same. */
async function runStep(script: string, service: TestService, directory: string): Promise<string> {
  const inProject = 'npm() { (cd "$ROOT" && command npm "$@"); }';
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
