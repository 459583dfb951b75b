/**
 * Bundles the test files of a run and their shared code as JavaScript. A process loads that in a fifth of the time of a
 * loader.
 */
import { readFile, readdir, rm } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type Plugin, build } from 'esbuild';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/**
 * In node_modules, so that imports of packages resolve. Each run has its own folder, because several may run at once.
 */
const BUNDLES = join(ROOT, 'node_modules/.tests');
const STARTED_FILE = /new URL\('(\.\/[^']+)\.js', import\.meta\.url\)/g;

export interface Bundle {
  /** The JavaScript path of a source, both relative to the root. */
  of(file: string): string;
  remove(): Promise<void>;
}

/** @param files relative to the root: `test/config.unit.test.ts` */
export async function bundle(files: readonly string[]): Promise<Bundle> {
  await removeAbandoned();
  const directory = join(BUNDLES, String(process.pid));
  const bundlePathOf = (file: string) => join(relative(ROOT, directory), file.replace(/\.ts$/, '.mjs'));
  await build({
    absWorkingDir: ROOT,
    entryPoints: [...files, ...(await startedFiles())],
    outbase: ROOT,
    outdir: directory,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    packages: 'external',
    format: 'esm',
    platform: 'node',
    target: 'node20',
    sourcemap: 'linked',
    // The source map refers to the original sources.
    sourcesContent: false,
    logLevel: 'warning',
    plugins: [keepModuleUrls((file) => pathToFileURL(join(ROOT, bundlePathOf(relative(ROOT, file)))).href)],
  });
  return { of: bundlePathOf, remove: () => rm(directory, { recursive: true, force: true }) };
}

/** `import.meta.url` of a module stays the URL of its source, except for code that it starts. */
function keepModuleUrls(built: (file: string) => string): Plugin {
  return {
    name: 'placed',
    setup({ onLoad }) {
      onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        const source = await readFile(path, 'utf8');
        const contents = source
          .replaceAll(STARTED_FILE, (_whole, name: string) => {
            return `new URL(${JSON.stringify(built(join(dirname(path), `${name}.ts`)))})`;
          })
          .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href))
          .replaceAll('import.meta.dirname', JSON.stringify(dirname(path)));
        return { contents, loader: 'ts' };
      });
    },
  };
}

/** Modules that the program starts as threads. */
async function startedFiles(): Promise<string[]> {
  const names = await readdir(join(ROOT, 'src'), { recursive: true });
  const files = names.filter((name) => name.endsWith('-worker.ts'));
  return files.map((name) => `src/${name}`);
}

/** Left by runs that were killed. */
async function removeAbandoned(): Promise<void> {
  for (const name of await readdir(BUNDLES).catch(() => [])) {
    if (!isRunning(Number(name))) await rm(join(BUNDLES, name), { recursive: true, force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
