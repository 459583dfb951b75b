/** Runs mocha in a copy of the project, with a time limit. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { asScript } from './copy.js';

const MOCHA = 'node_modules/mocha/bin/mocha.js';

export interface MochaRun {
  outcome: 'passed' | 'failed' | 'timeout';
  /** Its output. */
  output: string;
}

/**
 * @param args of mocha, with the test files as TypeScript; their compiled JavaScript runs
 * @param limit milliseconds until it and its children are killed
 */
export async function runMocha(directory: string, args: readonly string[], limit: number): Promise<MochaRun> {
  const mocha = [MOCHA, '--no-config', '--no-package', '--exit', '--require', 'test/support/hooks.js'];
  const child = spawn(process.execPath, [...mocha, ...args.map(testAsScript)], {
    cwd: directory,
    env: { ...process.env, TEST_PROGRAM: join(directory, 'src/main.js') },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output = (output + chunk).slice(-200_000);
    });
  }
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    killGroup(child.pid);
  }, limit);
  await once(child, 'exit');
  clearTimeout(timer);
  killGroup(child.pid); // remaining children
  return { outcome: late ? 'timeout' : child.exitCode === 0 ? 'passed' : 'failed', output };
}

function testAsScript(argument: string): string {
  return argument.startsWith('test/') ? asScript(argument) : argument;
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The process and its children have exited.
  }
}
