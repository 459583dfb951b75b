/** The size of the code: files, lines, and how many folders one feature touches. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT } from './rooms.js';

/** TypeScript files of a folder with their text. */
function sources(folder: string): Map<string, string> {
  const names = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => /\.(tsx?|mjs)$/.test(name)).map((name) => join(folder, name));
  return new Map(files.map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]));
}

const linesIn = (files: ReadonlyMap<string, string>): number =>
  [...files.values()].reduce((sum, text) => sum + text.split('\n').length - 1, 0);

/** Number of files that import each file of `src`. */
function importersOf(files: ReadonlyMap<string, string>): Map<string, number> {
  const importers = new Map([...files.keys()].map((file) => [file, 0]));
  for (const [file, text] of files) {
    const specifiers = [...text.matchAll(/(?:from|import\(?) ?'(\.[^'?]+)\.js/g)].map(([, path = '']) => path);
    const targets = new Set(specifiers.map((path) => join(dirname(file), path)));
    for (const target of targets) {
      const source = [`${target}.ts`, `${target}.tsx`].find((path) => existsSync(join(ROOT, path)));
      if (source !== undefined) importers.set(source, (importers.get(source) ?? 0) + 1);
    }
  }
  return importers;
}

export function figures(): Record<string, number> {
  const files = sources('src');
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: object };
  const foldersWith = (words: RegExp): number =>
    new Set([...files].filter(([, text]) => words.test(text)).map(([file]) => dirname(file))).size;
  return {
    'files in src': files.size,
    'lines of src': linesIn(files),
    'lines of test': linesIn(sources('test')),
    'lines of scripts': linesIn(sources('scripts')),
    'files with exactly one importer': [...importersOf(files).values()].filter((count) => count === 1).length,
    'folders that mention the trash': foldersWith(/trash/i),
    'folders that mention change requests': foldersWith(/change.?request/i),
    'folders that mention findings': foldersWith(/findings/i),
    'npm scripts': Object.keys(scripts).length,
  };
}
