/** Part of `npm run lint`: prints what the rules of language and of pauses report in src and test. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkPauses } from './pauses.js';
import { checkLanguage } from './rules.js';

/** Its comments are the descriptions of the API reference. */
const GENERATED = 'src/client/api.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

for (const folder of ['src', 'test']) {
  for (const name of readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })) {
    if (!/\.(tsx?|mjs)$/.test(name)) continue;
    const path = `${folder}/${name}`;
    if (path === GENERATED) continue;
    const source = readFileSync(join(ROOT, path), 'utf8');
    for (const { line, text } of [...checkLanguage(path, source), ...checkPauses(path, source)]) {
      console.error(`${path}:${line}: ${text}`);
      process.exitCode = 1;
    }
  }
}
