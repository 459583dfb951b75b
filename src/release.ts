/** The release of this service, as package.json says. */
import { readFileSync } from 'node:fs';

/** One level up from src and from dist alike. */
const PACKAGE = new URL('../package.json', import.meta.url);

/** Without a `v`: `0.1.0`. Reads the file each time. */
export function readRelease(): string {
  return (JSON.parse(readFileSync(PACKAGE, 'utf8')) as { version: string }).version;
}
