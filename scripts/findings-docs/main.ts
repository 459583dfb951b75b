/** Writes docs/findings from the rules: `npm run docs:findings`. A test holds the files to what this makes. */
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { format } from 'prettier';
import { findingPages } from './pages.js';

const folder = new URL('../../docs/findings/', import.meta.url);
const pages = findingPages();
await mkdir(folder, { recursive: true });
for (const name of await readdir(folder)) if (!pages.has(name)) await rm(new URL(name, folder));
for (const [name, text] of pages) {
  const page = await format(text, { parser: 'markdown', printWidth: 120, proseWrap: 'preserve' });
  await writeFile(new URL(name, folder), page);
}
