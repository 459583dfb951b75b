/** A copy of the project that may be spoilt: its own sources and tests, the installed packages shared. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { build as esbuild, transform } from 'esbuild';
import { ensureBuilt } from '../../test/support/built.js';

export const ROOT = join(import.meta.dirname, '..', '..');
const run = promisify(execFile);
const AS_WRITTEN = { target: 'es2023', jsx: 'automatic' } as const;

export interface Copy {
  directory: string;
  remove(): Promise<void>;
}

/** Copies what git knows or would take. */
export async function createCopy(): Promise<Copy> {
  const directory = await mkdtemp(join(tmpdir(), 'dps-mutate-'));
  for (const file of await projectFiles()) {
    await mkdir(dirname(join(directory, file)), { recursive: true });
    await cp(join(ROOT, file), join(directory, file)).catch(() => undefined); // deleted, not committed yet
  }
  await symlink(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
  return { directory, remove: () => rm(directory, { recursive: true, force: true }) };
}

/** Paths of the project's files, from its folder. */
export async function projectFiles(): Promise<string[]> {
  const { stdout } = await run('git', ['ls-files', '-co', '--exclude-standard'], { cwd: ROOT, maxBuffer: 1 << 26 });
  return stdout.split('\n').filter((file) => file !== '');
}

/** Rewrites dist/, whatever the type checker thinks of it; the admin app as it was built last. */
export async function build(directory: string): Promise<void> {
  ensureBuilt();
  await cp(join(ROOT, 'dist', 'web'), join(directory, 'dist', 'web'), { recursive: true });
  await Promise.all([
    run('npx', ['tsc', '-p', 'tsconfig.build.json', '--noCheck'], { cwd: directory }).catch(() => undefined),
    transpile(directory),
  ]);
  await markBuilt(directory);
}

/** What the tests look at to know whether dist/ is older than the sources, beside which JavaScript has just been written. */
async function markBuilt(directory: string): Promise<void> {
  const now = new Date();
  await utimes(join(directory, 'dist/main.js'), now, now);
}

/** JavaScript beside each source and test: a process loads it in a third of the time that a loader takes. */
async function transpile(directory: string): Promise<void> {
  const files = (await projectFiles()).filter((file) => /^(src|test|scripts)\/.*\.tsx?$/.test(file));
  await esbuild({
    absWorkingDir: directory,
    entryPoints: files,
    outbase: '.',
    outdir: '.',
    ...AS_WRITTEN,
    logLevel: 'error',
  });
}

/** Writes one source of dist/, and what stands beside it, again: a hundredth of the time that all take. */
export async function buildOne(directory: string, file: string): Promise<void> {
  const source = await readFile(join(directory, file), 'utf8');
  const { code } = await transform(source, { loader: file.endsWith('x') ? 'tsx' : 'ts', ...AS_WRITTEN });
  await writeFile(join(directory, asScript(file)), code);
  const built = join(directory, asScript(file).replace(/^src/, 'dist'));
  if (existsSync(built)) await writeFile(built, code);
  await markBuilt(directory);
}

/** `src/main.js` of `src/main.ts`. */
export function asScript(file: string): string {
  return file.replace(/\.tsx?$/, '.js');
}
