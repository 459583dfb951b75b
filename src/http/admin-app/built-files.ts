/** The admin app built by `npm run build` in dist/web. Each file is served under its exact name. */
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Coding } from '../answer/representation.js';

/** Resolves to the same folder from src/http/admin-app and dist/http/admin-app. */
const BUILT = fileURLToPath(new URL('../../../dist/web/', import.meta.url));

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
};

/** The suffixes of encoded files in the build. */
const ENDINGS: Readonly<Record<Coding, string>> = { br: '.br', gzip: '.gz' };

export interface BuiltFile {
  /** The media type. */
  type: string;
  bytes(coding: Coding | null): Buffer | null;
}

export interface BuiltApp {
  /** The page, with `NONCE` as a placeholder for the nonce of each response. */
  page: string;
  /** `assets/main-D3x9.js`; undefined if the file does not exist. */
  file(name: string): BuiltFile | undefined;
  /** The SVG of a Material icon such as `shopping_cart`; undefined if it does not exist. */
  icon(name: string): string | undefined;
}

/** The placeholder of the nonce in the built page. */
export const NONCE = '%CSP_NONCE%';

/** Reads the current build, and notices a new build while the service runs. Null if the app was not built. */
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
