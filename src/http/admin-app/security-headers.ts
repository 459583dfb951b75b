/** The security headers of the admin app. */
import type { ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';
import helmet from 'helmet';

const self = "'self'";
const none = "'none'";

/** Styles that the component library writes at run time carry the nonce of the response. */
const nonce = (_req: unknown, res: ServerResponse): string =>
  `'nonce-${String((res as ServerResponse & { locals?: Record<string, unknown> }).locals?.['nonce'])}'`;

const directives = {
  defaultSrc: [none],
  scriptSrc: [self],
  styleSrc: [self, nonce],
  imgSrc: [self],
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
  // HSTS applies to the whole host, so the operator of the TLS proxy decides about it.
  strictTransportSecurity: false,
  xFrameOptions: { action: 'deny' },
} as const;

const overHttps = helmet(common);
/** Browsers ignore these headers without https and log a warning. */
const overHttp = helmet({ ...common, crossOriginOpenerPolicy: false, originAgentCluster: false });

/** Requires `trust proxy`, because it depends on whether the browser used https. */
export const securityHeaders: RequestHandler = (req, res, next) => (req.secure ? overHttps : overHttp)(req, res, next);
