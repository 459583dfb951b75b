/**
 * Builds the admin app of src/web into dist/web if a source has changed since the last build. `--force` always builds.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ICONS_HASH, iconModules, packIcons } from './icons.mjs';
import { compress } from './compress.mjs';
import { docsHeadings } from './docs.mjs';
import { licences } from './licences.mjs';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SOURCE = join(ROOT, 'src', 'web');
const BUILT = join(ROOT, 'dist', 'web');
const STAMP = join(BUILT, '.made-of.json');

if (process.argv.includes('--force') || !isCurrent()) await build();

async function build() {
  const { build: bundle } = await import('vite');
  const { default: react } = await import('@vitejs/plugin-react');
  const used = [];
  const noteModules = {
    name: 'note-modules',
    generateBundle(_options, chunks) {
      for (const chunk of Object.values(chunks)) used.push(...(chunk.moduleIds ?? []));
    },
  };
  // Bundled first, because the list of sources of the app includes theirs.
  const inWorkers = [];
  const noteWorkers = {
    name: 'note-workers',
    generateBundle(_options, chunks) {
      for (const chunk of Object.values(chunks)) inWorkers.push(...(chunk.moduleIds ?? []));
      used.push(...inWorkers);
    },
  };
  await bundle({
    configFile: false,
    root: SOURCE,
    base: '/app/',
    logLevel: 'warn',
    plugins: [react(), iconModules(), docsHeadings(ROOT), noteModules, licences(ROOT, inWorkers)],
    worker: { format: 'es', plugins: () => [noteWorkers] },
    // Constraint names are computed as in the service, with a hash if they are long.
    resolve: { alias: { 'node:crypto': join(SOURCE, 'shared', 'node-crypto.ts') } },
    define: { __ICONS__: JSON.stringify(ICONS_HASH) },
    html: { cspNonce: '%CSP_NONCE%' },
    build: {
      outDir: BUILT,
      emptyOutDir: true,
      target: 'es2022',
      // Browsers that support light-dark() and nesting.
      cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
      // No data: URLs, because the content security policy rejects them.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      manifest: 'manifest.json',
      chunkSizeWarningLimit: 2_000,
    },
  });
  packIcons(join(BUILT, 'icons.json'));
  await compress(join(BUILT, 'assets'));
  writeFileSync(STAMP, JSON.stringify(hashes(used.map(ownFile).filter((file) => file !== null))));
}

/** The last build recorded sources outside src/web. */
function isCurrent() {
  if (!existsSync(STAMP) || !existsSync(join(BUILT, 'index.html'))) return false;
  const before = JSON.parse(readFileSync(STAMP, 'utf8'));
  const now = hashes(Object.keys(before).filter((file) => existsSync(join(ROOT, file))));
  return JSON.stringify(before) === JSON.stringify(now);
}

function hashes(elsewhere) {
  const own = ['src/web', 'scripts/build-app', 'docs'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.endsWith('.png'))
      .map((entry) => relative(ROOT, join(entry.parentPath, entry.name))),
  );
  const files = [...new Set([...own, ...elsewhere, 'README.md', 'package-lock.json'])].sort((one, other) =>
    one < other ? -1 : 1,
  );
  return Object.fromEntries(
    files.map((file) => [
      file,
      createHash('sha256')
        .update(readFileSync(join(ROOT, file)))
        .digest('hex')
        .slice(0, 16),
    ]),
  );
}

/** Path of our own module from the root; null for a module of a package or a plugin. */
function ownFile(id) {
  const path = id.split('?')[0];
  const file = relative(ROOT, path);
  return file.startsWith('..') || file.startsWith('node_modules') || !existsSync(path) ? null : file;
}
