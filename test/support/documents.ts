/** The pages of the documentation, for tests that verify them. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

export interface Block {
  language: string;
  content: string;
}

/** From the root: `README.md`, `docs/fields.md`. */
export const PAGES: readonly string[] = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync(join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

export function readPage(page: string): string {
  return readFileSync(join(ROOT, page), 'utf8');
}

/** The content of a page without its layout, which prettier produces (table widths, white space, escapes). */
export function readWords(text: string): string[] {
  return text.replaceAll(/[\s\\]|-{3,}/g, '').split('|');
}

/** The files in a folder with this ending, from the root. */
export function filesUnder(folder: string, end: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(end))
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`);
}

/** The fenced blocks of a page, in order. Those in a list are indented. */
export function blocksOf(page: string): Block[] {
  return [...readPage(page).matchAll(/^( *)```(\w*)\n(.*?)^\1```$/gms)].map(
    ([, indent = '', language = '', content = '']) => ({
      language,
      content: content.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }),
  );
}
