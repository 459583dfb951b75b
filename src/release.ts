/** The release of this service, from package.json. */
import { readFileSync } from 'node:fs';

/** One level above both src and dist. */
const PACKAGE = new URL('../package.json', import.meta.url);

/** Returns the release without a leading `v`: `0.1.0`. Reads the file each time. */
export function readRelease(): string {
  return (JSON.parse(readFileSync(PACKAGE, 'utf8')) as { version: string }).version;
}
