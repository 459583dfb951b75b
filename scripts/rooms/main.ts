/** Writes the rules of lint for the rooms of src. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, roomRules } from './rooms.js';

writeFileSync(join(ROOT, '.oxlint/rooms.json'), `${JSON.stringify(roomRules(), null, 2)}\n`);
