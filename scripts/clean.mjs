/** Deletes earlier output in dist/, except the app, whose build detects changes itself. */
import { existsSync, readdirSync, rmSync } from 'node:fs';

const built = new URL('../dist/', import.meta.url);

for (const name of existsSync(built) ? readdirSync(built) : []) {
  if (name !== 'web') rmSync(new URL(name, built), { recursive: true });
}
