/** Builds the program after `npm ci` if the sources and the compiler are present. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';

const root = new URL('../', import.meta.url);
const isThere = (path) => existsSync(new URL(path, root));

// `prepack` builds the package. The first layer of an image has no sources, and a production install has no compiler.
const packing = ['pack', 'publish'].includes(process.env.npm_command ?? '');
if (!packing && isThere('src') && isThere('node_modules/typescript')) {
  const { status } = spawnSync('npm', ['run', '--silent', 'build'], {
    cwd: root,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  process.exitCode = status ?? 1;
  if (status === 0 && process.platform !== 'win32') linkProgram();
}

/** Makes `npx dps` run the build instead of installing the project into itself. */
function linkProgram() {
  const link = new URL('node_modules/.bin/dps', root);
  mkdirSync(new URL('./', link), { recursive: true });
  rmSync(link, { force: true });
  symlinkSync('../../dist/cli/main.js', link);
}
