/** Removes what an earlier build left in dist/, but for the app, which knows itself what it was made of. */
import { existsSync, readdirSync, rmSync } from 'node:fs';

const built = new URL('../dist/', import.meta.url);

for (const name of existsSync(built) ? readdirSync(built) : []) {
  if (name !== 'web') rmSync(new URL(name, built), { recursive: true });
}
