/** `npm run docs -- NAME [options]`: generates pages and pictures of docs/. Without a name it lists them. */
import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { format } from 'prettier';
import { documentOfRoutes } from '../../test/support/openapi.js';
import { apiReference } from './api.js';
import { renderDiagram } from './diagrams.js';
import { findingPages } from './findings.js';

const DOCS = new URL('../../docs/', import.meta.url);

const GENERATORS: Record<string, () => Promise<unknown>> = {
  api: () => writePage('api.md', apiReference(documentOfRoutes())),
  findings: writeFindings,
  diagrams: drawDiagrams,
  functions: () => import('./functions/main.js'),
  screenshots: () => import('./screenshots/main.js'),
};

async function writeFindings(): Promise<void> {
  const pages = findingPages();
  const folder = new URL('findings/', DOCS);
  await mkdir(folder, { recursive: true });
  for (const name of await readdir(folder)) if (!pages.has(name)) await rm(new URL(name, folder));
  for (const [name, text] of pages) await writePage(`findings/${name}`, text);
}

async function writePage(path: string, text: string): Promise<void> {
  const page = await format(text, { parser: 'markdown', printWidth: 120, proseWrap: 'preserve' });
  await writeFile(new URL(path, DOCS), page);
}

async function drawDiagrams(): Promise<void> {
  const folder = new URL('images/', DOCS);
  for (const name of (await readdir(folder)).filter((each) => each.endsWith('.mmd'))) {
    const source = await readFile(new URL(name, folder), 'utf8');
    await writeFile(new URL(name.replace(/mmd$/, 'svg'), folder), renderDiagram(source));
  }
}

// The generator reads the options that follow its name.
const [name = ''] = process.argv.splice(2, 1);
const generate = GENERATORS[name];
if (generate === undefined) {
  console.log(`npm run docs -- ${Object.keys(GENERATORS).join(' | ')}`);
  process.exit(1);
}
await generate();
