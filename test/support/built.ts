/** The built program: as a process it starts twice as fast as the sources. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SOURCES = [
  'src',
  'scripts/build-app',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
];
const LAST_BUILT = join(ROOT, 'dist/main.js');
/** Without it, `npx dps` installs the project into itself, which rebuilds running files. */
const LINK = join(ROOT, 'node_modules/.bin/dps');
const LOCK = join(ROOT, 'node_modules/.test-build');
const LONGEST_BUILD_MS = 120_000;

let known = false;

/** Builds the program once per process if a source is newer. Of several processes one builds, and the others wait. */
export function ensureBuilt(): void {
  while (!known && isStale()) {
    if (!locked()) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
      continue;
    }
    try {
      if (isStale()) build();
    } finally {
      rmSync(LOCK, { recursive: true, force: true });
    }
  }
  known = true;
}

function build(): void {
  const prepare = join(ROOT, 'scripts/prepare.mjs');
  const { status, stdout, stderr } = spawnSync(process.execPath, [prepare], { cwd: ROOT, encoding: 'utf8' });
  if (status !== 0) throw new Error(`the program can't be built: ${stdout}${stderr}`);
}

function isStale(): boolean {
  if (!existsSync(LAST_BUILT) || (process.platform !== 'win32' && !existsSync(LINK))) return true;
  const builtAt = statSync(LAST_BUILT).mtimeMs;
  return SOURCES.some((source) => changedAt(join(ROOT, source)) > builtAt);
}

function changedAt(path: string): number {
  const stats = statSync(path);
  if (!stats.isDirectory()) return stats.mtimeMs;
  // A folder's mtime shows deleted files.
  return Math.max(stats.mtimeMs, ...readdirSync(path).map((name) => changedAt(join(path, name))));
}

function locked(): boolean {
  try {
    mkdirSync(LOCK);
    return true;
  } catch {
    // A lock left by a killed run is stale.
    const takenAt = statSync(LOCK, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (Date.now() - takenAt > LONGEST_BUILD_MS) rmSync(LOCK, { recursive: true, force: true });
    return false;
  }
}
