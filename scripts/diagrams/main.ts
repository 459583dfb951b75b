/** Draws docs/images/*.mmd into the .svg beside each: `npm run docs:diagrams`. */
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { renderDiagram } from './render.js';

const IMAGES = fileURLToPath(new URL('../../docs/images/', import.meta.url));

for (const name of readdirSync(IMAGES).filter((each) => each.endsWith('.mmd'))) {
  writeFileSync(IMAGES + name.replace(/mmd$/, 'svg'), renderDiagram(readFileSync(IMAGES + name, 'utf8')));
  console.log(name);
}
