/**
 * `npm run test:servers -- --majors 14,16 test/features/adopt/*.test.ts`: runs the tests that need a database on
 * servers of each supported release. Without files it runs all of them. `--at-once 2` uses two releases at a time. Exit
 * code 1 if a test fails.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { RELEASES, withServerAt } from '../postgres/servers.js';

const RUNNER = fileURLToPath(new URL('./main.ts', import.meta.url));

/** Tests with their own server give the same results on every release. */
const OWN_SERVER = ['test/postgres/embedded/embedded.int.test.ts', 'test/cli/packed.e2e.test.ts'];

interface Outcome {
  release: string;
  passed: number;
  failed: number;
  pending: number;
  seconds: number;
  /** Error messages by test name. */
  failures: string[];
}

const { values, positionals } = parseArgs({
  options: { majors: { type: 'string', default: '14,15,16,17,18' }, 'at-once': { type: 'string', default: '1' } },
  allowPositionals: true,
});
const majors = values.majors.split(',');
const releases = RELEASES.filter((release) => majors.includes(release.split('.')[0] as string));
if (releases.length < majors.length)
  throw new Error(`--majors takes some of ${RELEASES.map((each) => each.split('.')[0]).join(', ')}`);

const patterns = positionals.length > 0 ? positionals : ['test/**/*.int.test.ts', 'test/**/*.e2e.test.ts'];
const ignored = OWN_SERVER.flatMap((file) => ['--ignore', file]);

const outcomes: Outcome[] = [];
const waiting = [...releases];
await Promise.all(Array.from({ length: Number(values['at-once']) }, testWaiting));
outcomes.sort((one, other) => releases.indexOf(one.release) - releases.indexOf(other.release));
print();
if (outcomes.some(({ failed, passed }) => failed > 0 || passed === 0)) process.exitCode = 1;

async function testWaiting(): Promise<void> {
  for (let release = waiting.shift(); release !== undefined; release = waiting.shift()) {
    const version = release;
    process.stderr.write(`PostgreSQL ${version}\n`);
    outcomes.push(await withServerAt(version, (url) => tested(version, url)));
  }
}

async function tested(release: string, url: string): Promise<Outcome> {
  const started = performance.now();
  const child = spawn(process.execPath, ['--import', 'tsx', RUNNER, ...ignored, ...patterns], {
    env: { ...process.env, TEST_DATABASE_URL: url },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  await once(child, 'close');
  const [, passed = '0', failed = '0'] = /^(\d+) passed, (\d+) failed$/m.exec(text) ?? [];
  const [, pending = '0'] = /^(\d+) skipped$/m.exec(text) ?? [];
  const failures = Number(failed) > 0 || Number(passed) === 0 ? [text.slice(text.search(/\d+ failing/))] : [];
  const seconds = Math.round((performance.now() - started) / 1_000);
  return { release, passed: Number(passed), failed: Number(failed), pending: Number(pending), seconds, failures };
}

function print(): void {
  const lines = outcomes.flatMap(({ release, passed, failed, pending, seconds, failures }) => [
    ...failures.map((failure) => `PostgreSQL ${release}\n${failure}`),
    `PostgreSQL ${release.padEnd(18)} passed ${passed}, failed ${failed}, skipped ${pending}, ${seconds} s`,
  ]);
  process.stdout.write(`${lines.join('\n')}\n`);
}
