import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { readConfig } from '../src/config.js';
import { startupMessage } from '../src/startup-message.js';
import { clientOf } from './support/client.js';
import { ensureBuilt } from './support/built.js';
import { type Block, PAGES, ROOT, blocksOf, readPage } from './support/documents.js';
import { type TestService, startService } from './support/service.js';

/** The environment of a block, in addition to the service of its page. */
interface Setting {
  service: TestService;
  /** For pages with a second service: `$PROD_URL`, `$PROD_TOKEN`. */
  second: TestService | null;
  directory: string;
}

const RUN = new Set(['sh', 'js']);

/** The pages whose commands need OBJECTS=on. */
const WITH_OBJECTS: ReadonlySet<string> = new Set(['docs/objects.md', 'docs/schemas.md']);

describe('the documentation', () => {
  before('build the program that they call', function () {
    this.timeout(300_000);
    ensureBuilt();
  });

  for (const page of PAGES) {
    const steps = blocksOf(page).filter(({ language }) => RUN.has(language) || language === 'answers');
    if (steps.length === 0) continue;

    it(`${page}: every command works as printed`, async function () {
      if (!isThere('curl') || !isThere('bash')) this.skip();
      if (steps.some(({ content }) => /^psql /m.test(content)) && !isThere('psql')) this.skip();
      this.timeout(300_000);
      const schemas = /DB_SCHEMAS=([a-z,]+)/.exec(readPage(page))?.[1];
      const settings: Record<string, string> = {
        ...(WITH_OBJECTS.has(page) && { OBJECTS: 'on' }),
        ...(schemas !== undefined && { DB_SCHEMAS: schemas }),
      };
      const second = readPage(page).includes('$PROD_URL');
      await withSetting({ second, settings }, async (setting) => {
        for (const [index, step] of steps.entries()) {
          if (step.language === 'answers') continue;
          const output = await runStep(step, setting);
          const next = steps[index + 1];
          const expected = next?.language === 'answers' ? next.content.trim().split('\n') : [];
          for (const line of expected) expect(output, step.content).to.contain(line);
          if (!expected.some((line) => line.includes('"code"')))
            expect(output, step.content).not.to.contain('"errors"');
        }
      });
    });
  }

  it('the tour continues from the first printed request, and leaves nothing else behind', async function () {
    if (!isThere('curl') || !isThere('bash')) this.skip();
    this.timeout(600_000);
    await withSetting({ second: false }, async (setting) => {
      const { service, directory } = setting;
      const admin = { email: service.adminEmail, created: true, ignored: [], tokenGenerated: service.adminToken };
      const [, first = ''] = startupMessage({ url: service.url, admin }, readConfig({})).split('Try it:');
      expect(await runStep({ language: 'sh', content: first }, setting)).to.contain('"data"');
      const tour = blocksOf('README.md').filter(({ language }) => language === 'sh');
      for (const step of tour) await runStep(step, setting);
      const left = await clientOf(service)('/collections');
      const names = (left.json as { data: { collection: string; meta: { system?: boolean } }[] }).data;
      expect(names.filter(({ meta }) => meta.system !== true).map(({ collection }) => collection)).to.deep.equal([
        'first_steps',
      ]);
      expect(readdirSync(directory)).to.deep.equal([]);
    });
  });
});

interface Starting {
  /** True for a page with a second service. */
  second: boolean;
  settings?: Readonly<Record<string, string>>;
}

async function withSetting(starting: Starting, work: (setting: Setting) => Promise<void>): Promise<void> {
  // The page about webhooks starts a receiver on this machine.
  const service = await startService({ WEBHOOK_PRIVATE_NETWORKS: '127.0.0.1', ...starting.settings });
  const second = starting.second ? await startService() : null;
  const directory = await mkdtemp(join(tmpdir(), 'dps-tour-'));
  try {
    await work({ service, second, directory });
  } finally {
    await service.stop();
    await second?.stop();
    await rm(directory, { recursive: true });
  }
}

/** Runs a block in an empty directory of its own; npm and npx still find the project. */
async function runStep({ language, content }: Block, { service, second, directory }: Setting): Promise<string> {
  const inProject = `npx() { (cd "$ROOT" && ${findDocumentPath()} "$@"); }; npm() { (cd "$ROOT" && command npm "$@"); }`;
  // A script resolves the project's packages relative to the directory in which it runs.
  const script = language === 'js' ? 'cd "$ROOT"; node --input-type=module' : `${inProject}\n${content}`;
  const child = spawn('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: directory,
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      ROOT,
      URL: service.url,
      TOKEN: service.adminToken,
      DATABASE_URL: service.databaseUrl,
      ...(second && { PROD_URL: second.url, PROD_TOKEN: second.adminToken }),
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.on('error', () => undefined).end(language === 'js' ? content : '');
  const ended = once(child, 'close') as Promise<[number | null]>;
  const [output, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  expect(code, `${content}\n${output}\n${errors}`).to.equal(0);
  return output;
}

let npxFinds = false;

/**
 * npx takes longer than the command itself. One run checks that npx finds the program. Later calls use the program
 * directly.
 */
function findDocumentPath(): string {
  npxFinds ||= spawnSync('npx', ['--no', 'dps', '--version'], { cwd: ROOT, stdio: 'ignore' }).status === 0;
  return npxFinds ? 'env PATH="$ROOT/node_modules/.bin:$PATH"' : 'command npx';
}

function isThere(program: string): boolean {
  return spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0;
}
