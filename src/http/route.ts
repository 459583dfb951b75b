import type { IncomingMessage } from 'node:http';
import type { Request } from 'express';
import type { z } from 'zod';
import { type Access, type Caller, allows } from '../auth/caller.js';
import type { Answer } from './answer/answer.js';
import type { Bodies, ReadBody } from './body/index.js';
import { hasBody } from './body/limited-bytes.js';
import { refused } from './errors.js';
import { readQuery } from './request/query.js';

/** Headers of write requests: idempotency key, precondition, acknowledgements, reason. */
const WRITE_HEADERS = ['Idempotency-Key', 'If-Match', 'X-Acknowledge', 'X-Reason'] as const;
export type WriteHeader = (typeof WRITE_HEADERS)[number];

/** For writes that do not change the schema themselves. Findings are acknowledged where the change is made. */
export const NO_ACKNOWLEDGE: readonly WriteHeader[] = ['Idempotency-Key', 'If-Match', 'X-Reason'];

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** Members of every request. */
interface Exchange {
  req: Request;
  requestId: string;
  /** The decoded path parameters. */
  params: Readonly<Record<string, string>>;
  /** The position of the newest event when the request arrived; 0 on public routes. */
  head: number;
  /** Milliseconds until the caller was authenticated. */
  waited: number;
}

/** The argument of a handler. */
export interface Call<Query, Who = Caller> extends Exchange {
  caller: Who;
  query: Query;
  /** The parsed body; undefined on routes without one. */
  body: unknown;
}

/** A part of a route that needs a higher role. */
interface Stricter<Query> {
  access: Exclude<Access, 'anyone'>;
  /** Checks whether the query requests it. */
  where: (query: Query) => boolean;
  /** For display: `without explain`. */
  words: string;
}

interface Spec<Query, Who> {
  method: Method;
  path: string;
  /** Checked before the body is read. */
  stricter?: Stricter<Query>;
  /** A strict zod object, so unknown parameters are rejected. */
  query: z.ZodType<Query>;
  /** The kind of body; if absent, the route takes none. */
  body?: 'json' | 'document';
  /** The body is optional. */
  optionalBody?: true;
  /** True if it needs a writable database. Default: all methods except GET. */
  needsPrimary?: boolean;
  /** The supported headers of `WRITE_HEADERS`. Default: all for writes. A write rejects the others. */
  heeds?: readonly WriteHeader[];
  /** Also served while the database is unavailable, to users who were authenticated before. */
  whileDatabaseIsAway?: true;
  handle: (call: Call<Query, Who>) => Answer | Promise<Answer>;
}

export interface Route {
  method: Method;
  path: string;
  access: Access;
  stricter: Pick<Stricter<never>, 'access' | 'words'> | undefined;
  query: z.ZodType;
  body: 'json' | 'document' | undefined;
  optionalBody: boolean;
  whileDatabaseIsAway: boolean;
  /** Rejected on a standby. */
  needsPrimary: boolean;
  heeds: readonly WriteHeader[];
  /** Reads query and body, then responds. `caller` is null on public routes. */
  answer(exchange: Exchange, caller: Caller | null, bodies: Bodies): Promise<Answer>;
}

/** A route for callers with at least the role `access`. */
export function route<Query>(spec: Spec<Query, Caller> & { access: Exclude<Access, 'anyone'> }): Route {
  const read = requestReader(spec);
  const about = described(spec, spec.access);
  return {
    ...about,
    async answer(exchange, caller, bodies) {
      if (caller === null) throw new Error(`${spec.path} was called without a caller`);
      requireHeeded(exchange, about);
      return read(exchange.req, bodies, {
        admits: (query) => requireStricter(spec.stricter, query, caller),
        handle: (given) => spec.handle({ ...exchange, ...given, caller }),
      });
    },
  };
}

function requireStricter<Query>(stricter: Stricter<Query> | undefined, query: Query, { role }: Caller): void {
  if (stricter === undefined || !stricter.where(query) || allows(role, stricter.access)) return;
  const { access, words } = stricter;
  throw refused('FORBIDDEN', `This needs the role ${access} ${words}; yours is ${role}.`);
}

/** A public route; a token is optional. */
export function openRoute<Query>(spec: Spec<Query, null>): Route {
  const read = requestReader(spec);
  const about = described(spec, 'anyone');
  return {
    ...about,
    async answer(exchange, _caller, bodies) {
      requireHeeded(exchange, about);
      return read(exchange.req, bodies, { handle: (given) => spec.handle({ ...exchange, ...given, caller: null }) });
    },
  };
}

const INSTEAD: Partial<Record<WriteHeader, string>> = {
  'X-Acknowledge': 'what is known of a change is said with it, and of a change request where it is proposed',
};

/** A client that sends such a header relies on it. */
function requireHeeded({ req }: Exchange, { method, needsPrimary, heeds }: Omit<Route, 'answer'>): void {
  if (!needsPrimary || method === 'get' || heeds.length === WRITE_HEADERS.length) return;
  const unheeded = WRITE_HEADERS.find((name) => !heeds.includes(name) && req.headers[name.toLowerCase()] !== undefined);
  if (unheeded === undefined) return;
  const message = `${unheeded} is not carried out here: ${INSTEAD[unheeded] ?? 'send the request without it'}.`;
  throw refused('INVALID_PAYLOAD', message, { path: unheeded });
}

function described<Query>(spec: Omit<Spec<Query, never>, 'handle'>, access: Access): Omit<Route, 'answer'> {
  const { method, path, stricter, query, body, optionalBody = false } = spec;
  const { whileDatabaseIsAway = false, needsPrimary = method !== 'get' } = spec;
  const { heeds = needsPrimary && method !== 'get' ? WRITE_HEADERS : [] } = spec;
  return { method, path, access, stricter, query, body, optionalBody, whileDatabaseIsAway, needsPrimary, heeds };
}

interface Given<Query> {
  query: Query;
  body: unknown;
}

interface Reading<Query> {
  /** Throws if the caller lacks permission for this query. */
  admits?: (query: Query) => void;
  handle: (given: Given<Query>) => Answer | Promise<Answer>;
}

/** Reads query and body, and keeps the body until `handle` has responded. */
function requestReader<Query>({
  query,
  body,
  optionalBody,
}: Pick<Spec<Query, never>, 'query' | 'body' | 'optionalBody'>) {
  // Most requests have no query, so its result is computed once.
  const empty = query.safeParse({});
  return async (req: IncomingMessage, bodies: Bodies, { admits, handle }: Reading<Query>): Promise<Answer> => {
    const url = req.url ?? '/';
    const read = empty.success && !url.includes('?') ? empty.data : readQuery(url, query);
    admits?.(read);
    if (body === undefined || (optionalBody === true && !hasBody(req))) return handle({ query: read, body: undefined });
    const found: ReadBody = await bodies[body](req);
    try {
      return await handle({ query: read, body: found.value });
    } finally {
      found.release();
    }
  };
}
