/** Writes the lint rules for the rooms of src, and prints the size of the code. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { figures } from './figures.js';
import { ROOT, roomRules } from './rooms.js';

writeFileSync(join(ROOT, '.oxlint/rooms.json'), `${JSON.stringify(roomRules(), null, 2)}\n`);
console.table(figures());
