/** The service as a separate process, for tests that stop, kill and misconfigure it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { ensureBuilt } from './built.js';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const BUILT = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
/** The bundle of `src/main.ts` that `npm test` builds; it loads twice as fast as the sources. */
const BUNDLED = process.env['TEST_PROGRAM'];
const TYPESCRIPT = new URL('./typescript.mjs', import.meta.url).href;

export interface ServiceProcess {
  child: ChildProcess;
  /** Resolves with its output when it is ready; rejects if it ends before. */
  ready(): Promise<Greeting>;
  /** Resolves when it has ended. */
  ended(): Promise<Ended>;
  /** Sends the signal and waits for the end. */
  end(signal: NodeJS.Signals): Promise<Ended>;
}

interface Greeting {
  url: string;
  /** Only at the first start. */
  token: string | undefined;
  password: string | undefined;
  text: string;
}

interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/**
 * Starts the service with these settings and none of our own: from `src/main.ts`, from its build, or from whichever
 * loads fastest.
 */
export function spawnService(
  settings: Readonly<Record<string, string>>,
  from: 'source' | 'built' | 'fastest' = 'fastest',
): ServiceProcess {
  const program = from === 'source' ? ['--import', TYPESCRIPT, MAIN] : ['--enable-source-maps', programOf(from)];
  const child = spawn(process.execPath, program, {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], PORT: '0', LOG_FORMAT: 'json', ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (chunk: string) => {
      output[name] += chunk;
    });
  }
  const closed = once(child, 'close');
  const ended = async (): Promise<Ended> => {
    await closed;
    return { code: child.exitCode, signal: child.signalCode, ...output };
  };
  return {
    child,
    ended,
    async ready() {
      while (!output.stdout.includes('Try it:')) {
        if (child.exitCode !== null || child.signalCode !== null) throw new Error(`it ended: ${output.stderr}`);
        await Promise.race([once(child.stdout, 'data'), closed]);
      }
      return readGreeting(output.stdout);
    },
    end(signal) {
      child.kill(signal);
      return ended();
    },
  };
}

function programOf(from: 'built' | 'fastest'): string {
  if (from === 'fastest' && BUNDLED !== undefined) return BUNDLED;
  ensureBuilt();
  return BUILT;
}

function readGreeting(text: string): Greeting {
  const find = (pattern: RegExp) => pattern.exec(text)?.[1];
  return {
    url: find(/listens on (\S+)/) ?? '',
    token: find(/Token \(generated.*\): (\S+)/),
    password: find(/Password \(generated.*\): (\S+)/),
    text,
  };
}
