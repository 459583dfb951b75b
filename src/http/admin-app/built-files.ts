/** The admin app as `npm run build` leaves it in dist/web: the files that are served, each by its exact name. */
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Coding } from '../answer/content-coding.js';

/** The same from src/http/admin-app and from dist/http/admin-app. */
const BUILT = fileURLToPath(new URL('../../../dist/web/', import.meta.url));

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
};

/** How the build marks a file that holds another one encoded. */
const ENDINGS: Readonly<Record<Coding, string>> = { br: '.br', gzip: '.gz' };

export interface BuiltFile {
  /** Its media type. */
  type: string;
  /** Its bytes; null: the build made none in this coding. */
  bytes(coding: Coding | null): Buffer | null;
}

export interface BuiltApp {
  /** The page, with `NONCE` where each answer has its own. */
  page: string;
  /** `assets/main-D3x9.js`; undefined when there is no such file. */
  file(name: string): BuiltFile | undefined;
  /** The SVG of an icon by its Material name, `shopping_cart`; undefined when there is none. */
  icon(name: string): string | undefined;
}

/** What stands in the built page for the nonce. */
export const NONCE = '%CSP_NONCE%';

/** The app as it is built now: another build while the service runs is taken up with the next question. Null: it was not built. */
export function createBuiltApp(directory = BUILT): () => BuiltApp | null {
  let known: { builtAt: number; app: BuiltApp } | null = null;
  return () => {
    const builtAt = statSync(join(directory, 'index.html'), { throwIfNoEntry: false })?.mtimeMs;
    if (builtAt === undefined) return null;
    if (known?.builtAt !== builtAt) known = { builtAt, app: readBuiltApp(directory) };
    return known.app;
  };
}

function readBuiltApp(directory: string): BuiltApp {
  const names = new Set(readdirSync(directory, { recursive: true, encoding: 'utf8' }).map(withSlashes));
  const kept = new Map<string, Buffer>();
  const read = (name: string): Buffer => {
    const bytes = kept.get(name) ?? readFileSync(join(directory, name));
    kept.set(name, bytes);
    return bytes;
  };
  const icons = once(() => JSON.parse(read('icons.json').toString()) as Record<string, string>);
  return {
    page: readFileSync(join(directory, 'index.html'), 'utf8'),
    file(name) {
      const type = TYPES[extname(name)];
      if (type === undefined || !names.has(name)) return undefined;
      return {
        type,
        bytes(coding) {
          if (coding === null) return read(name);
          const encoded = name + ENDINGS[coding];
          return names.has(encoded) ? read(encoded) : null;
        },
      };
    },
    icon(name) {
      const found = icons();
      const body = Object.hasOwn(found, name) ? found[name] : undefined;
      return body && `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24">${body}</svg>`;
    },
  };
}

const withSlashes = (name: string): string => name.replaceAll('\\', '/');

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
