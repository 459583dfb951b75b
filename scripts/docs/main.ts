/** `npm run docs -- NAME [options]`: generates pages and pictures of docs/. Without a name it lists them. */
import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { format } from 'prettier';
import { allRoutes, documentOfRoutes } from '../../test/support/openapi.js';
import { apiPages } from './api.js';
import { clientTypes } from './client.js';
import { renderDiagram } from './diagrams.js';
import { findingPages } from './findings.js';

const DOCS = new URL('../../docs/', import.meta.url);
const CLIENT = new URL('../../src/client/api.ts', import.meta.url);

const GENERATORS: Record<string, () => Promise<unknown>> = {
  // Without prettier, whose aligned columns double the size of wide tables.
  api: () => Promise.all([writeFolder('api', apiPages(documentOfRoutes())), writeFile(CLIENT, clientFile())]),
  findings: async () => writeFolder('findings', await formatted(findingPages())),
  diagrams: drawDiagrams,
  functions: () => import('./functions/main.js'),
  screenshots: () => import('./screenshots/main.js'),
};

const clientFile = (): string => clientTypes(allRoutes(), documentOfRoutes());

async function formatted(pages: ReadonlyMap<string, string>): Promise<Map<string, string>> {
  const options = { parser: 'markdown', printWidth: 120, proseWrap: 'preserve' } as const;
  return new Map(
    await Promise.all([...pages].map(async ([file, text]) => [file, await format(text, options)] as const)),
  );
}

/** Deletes the other pages of the folder. */
async function writeFolder(name: string, pages: ReadonlyMap<string, string>): Promise<void> {
  const folder = new URL(`${name}/`, DOCS);
  await mkdir(folder, { recursive: true });
  for (const file of await readdir(folder)) if (!pages.has(file)) await rm(new URL(file, folder));
  for (const [file, text] of pages) await writeFile(new URL(file, folder), text);
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
