/** What a browser is told to refuse to the page of the admin app. */
import type { ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';
import helmet from 'helmet';

const self = "'self'";
const none = "'none'";

/** The styles that the kit writes at run time carry the nonce of the answer. */
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
  // Of the whole host, so it is for whoever puts https in front to say.
  strictTransportSecurity: false,
  xFrameOptions: { action: 'deny' },
} as const;

const overHttps = helmet(common);
/** Browsers pass over these without https, and complain in their console. */
const overHttp = helmet({ ...common, crossOriginOpenerPolicy: false, originAgentCluster: false });

/** `trust proxy` has to be set before: whether the browser came by https is what the request says. */
export const securityHeaders: RequestHandler = (req, res, next) => (req.secure ? overHttps : overHttp)(req, res, next);
