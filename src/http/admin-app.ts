/** The admin app built by `npm run build` in dist/web. Each file is served under its exact name. */
import helmet from 'helmet';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Coding, readAcceptEncoding } from './answer/representation.js';
import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Express, Request, RequestHandler, Response } from 'express';
import { type Answer, refusalAnswer } from './answer/answer.js';
import { requestIdOf } from './request/headers.js';
import type { RequestLog } from './request-log.js';
import { respond } from './answer/stream.js';

/** Resolves to the same folder from src/http and dist/http. */
const BUILT = fileURLToPath(new URL('../../dist/web/', import.meta.url));

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
};

/** Suffixes of the compressed files in the build, by content coding. */
const ENDINGS: Readonly<Record<Coding, string>> = { br: '.br', gzip: '.gz' };

interface BuiltFile {
  /** The media type. */
  type: string;
  bytes(coding: Coding | null): Buffer | null;
}

export interface BuiltApp {
  /** The page, with `NONCE` as a placeholder for the nonce of each response. */
  page: string;
  /** Returns a file by a name such as `assets/main-D3x9.js`. Undefined if it does not exist. */
  file(name: string): BuiltFile | undefined;
  /** Returns the SVG of a Material icon such as `shopping_cart`. Undefined if it does not exist. */
  icon(name: string): string | undefined;
}

/** The placeholder of the nonce in the built page. */
const NONCE = '%CSP_NONCE%';

/**
 * Returns a function that reads the current build. It notices a new build while the service runs. Null if the app was
 * not built.
 */
export function createBuiltApp(directory = BUILT): () => BuiltApp | null {
  let cached: { builtAt: number; app: BuiltApp } | null = null;
  return () => {
    const builtAt = statSync(join(directory, 'index.html'), { throwIfNoEntry: false })?.mtimeMs;
    if (builtAt === undefined) return null;
    if (cached?.builtAt !== builtAt) cached = { builtAt, app: readBuiltApp(directory) };
    return cached.app;
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
  const icons = createLazy(() => JSON.parse(read('icons.json').toString()) as Record<string, string>);
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
      const files = icons();
      const body = Object.hasOwn(files, name) ? files[name] : undefined;
      return body && `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24">${body}</svg>`;
    },
  };
}

const withSlashes = (name: string): string => name.replaceAll('\\', '/');

function createLazy<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

/* The admin app at /app: the page for every path without a dot, and its files. */

/* The security headers of the admin app. */

const self = "'self'";
const none = "'none'";

/** Returns the nonce of the response, which styles that the component library writes at run time must carry. */
const nonce = (_req: unknown, res: ServerResponse): string =>
  `'nonce-${String((res as ServerResponse & { locals?: Record<string, unknown> }).locals?.['nonce'])}'`;

const directives = {
  defaultSrc: [none],
  scriptSrc: [self],
  styleSrc: [self, nonce],
  // The app draws its own SVG as a PNG. Only scripts of the app can create `blob:` addresses.
  imgSrc: [self, 'blob:'],
  fontSrc: [self],
  connectSrc: [self],
  workerSrc: [self],
  formAction: [self],
  baseUri: [none],
  frameAncestors: [none],
};

const common = {
  contentSecurityPolicy: { useDefaults: false, directives },
  referrerPolicy: { policy: 'no-referrer' },
  // HSTS applies to the whole host, so the operator of the TLS proxy must decide about it.
  strictTransportSecurity: false,
  xFrameOptions: { action: 'deny' },
} as const;

const overHttps = helmet(common);
/** Browsers ignore these headers without https and log a warning. */
const overHttp = helmet({ ...common, crossOriginOpenerPolicy: false, originAgentCluster: false });

/** Sets the headers, which depend on the protocol of the browser. Behind a TLS proxy, `trust proxy` must be set. */
const securityHeaders: RequestHandler = (req, res, next) => (req.secure ? overHttps : overHttp)(req, res, next);

const HTML_TYPE = 'text/html; charset=utf-8';

/** The header for files whose names contain a hash of their content. */
const FOR_EVER = ['Cache-Control', 'public, max-age=31536000, immutable'] as const;

/** Registers `/app` and its paths, and redirects browsers there from `/`. */
export function mountAdminApp(app: Express, log: RequestLog): void {
  const current = createBuiltApp();
  const handle = (route: string, answerTo: (req: Request, res: Response) => Answer): RequestHandler => {
    return (req, res, next) => {
      if (req.method !== 'GET' && req.method !== 'HEAD') return next();
      const started = performance.now();
      const requestId = requestIdOf(req);
      const answer = answerTo(req, res);
      respond(req, res, requestId, answer);
      log({ method: req.method, route, status: answer.status, started, requestId, position: undefined, caller: null });
    };
  };
  app.route('/').all((req, res, next) => (wantsPage(req) ? handle('/', () => REDIRECT)(req, res, next) : next()));
  const answerTo = (req: Request, res: Response): Answer => {
    const built = current();
    return built === null ? notBuilt() : appAnswer(built, req, res);
  };
  app.route(['/app', '/app/*path']).all(setNonce, securityHeaders, handle('/app', answerTo));
}

const REDIRECT: Answer = { status: 302, headers: ['Location', '/app', 'Cache-Control', 'no-store'], body: null };

/** True for browsers, which accept HTML explicitly. API clients accept anything or JSON. */
const wantsPage = (req: Request): boolean => (req.headers.accept ?? '').includes('text/html');

/** Creates the nonce of a response, which both the security headers and the page contain. */
const setNonce: RequestHandler = (_req, res, next) => {
  res.locals['nonce'] = randomBytes(16).toString('base64');
  next();
};

function notBuilt(): Answer {
  return refusalAnswer([
    {
      code: 'ROUTE_NOT_FOUND',
      message: 'The admin app has not been built. Run `npm run build`, then restart the service.',
    },
  ]);
}

function appAnswer(built: BuiltApp, req: Request, res: Response): Answer {
  const path = req.path.replace(/^\/app\/?/, '');
  const [, icon] = /^icons\/\w+\/([\w-]+)\.svg$/.exec(path) ?? [];
  if (icon !== undefined) return iconAnswer(built.icon(icon));
  if (!path.startsWith('assets/')) return pageAnswer(built.page, String(res.locals['nonce']));
  const file = built.file(path);
  if (file !== undefined) return fileAnswer(file, req);
  return refusalAnswer([
    { code: 'ROUTE_NOT_FOUND', message: 'This file of the admin app does not exist. Reload the page.' },
  ]);
}

/** Returns the page. It is not cached, because each response has its own nonce and names the files of this release. */
function pageAnswer(page: string, nonce: string): Answer {
  const body = page.replaceAll(NONCE, nonce);
  const headers = ['Content-Type', HTML_TYPE, 'Content-Length', String(Buffer.byteLength(body))];
  return { status: 200, headers: [...headers, 'Cache-Control', 'no-store'], body };
}

/**
 * Returns an icon. For an unknown name the response is empty, because an error would appear in the browser's console.
 */
function iconAnswer(svg: string | undefined): Answer {
  if (svg === undefined) return { status: 204, headers: FOR_EVER, body: null };
  const headers = ['Content-Type', 'image/svg+xml', 'Content-Length', String(Buffer.byteLength(svg))];
  return { status: 200, headers: [...headers, ...FOR_EVER], body: svg };
}

function fileAnswer({ type, bytes }: BuiltFile, req: Request): Answer {
  const accepted = req.headers['accept-encoding'];
  const coding = accepted === undefined ? null : readAcceptEncoding(accepted).coding;
  const encoded = coding === null ? null : bytes(coding);
  const body = encoded ?? bytes(null);
  const length = ['Content-Length', String(body?.length ?? 0), 'Vary', 'Accept-Encoding'];
  const content = encoded === null ? [] : ['Content-Encoding', String(coding)];
  return { status: 200, headers: ['Content-Type', type, ...length, ...content, ...FOR_EVER], body };
}
