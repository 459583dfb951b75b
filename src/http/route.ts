/** A route as a record: what it answers to, who may call it, what it takes, and the function that answers. */
import type { IncomingMessage } from 'node:http';
import type { Request } from 'express';
import type { z } from 'zod';
import { type Access, type Caller, allows } from '../auth/caller.js';
import type { Answer } from './answer/answer.js';
import type { Bodies, ReadBody } from './body/index.js';
import { hasBody } from './body/limited-bytes.js';
import { refused } from './errors.js';
import { readQuery } from './request/query.js';

/** Of requests that write, beside the body: the key to send them again by, what must hold, what is known, and why. */
export const WRITE_HEADERS = ['Idempotency-Key', 'If-Match', 'X-Acknowledge', 'X-Reason'] as const;
export type WriteHeader = (typeof WRITE_HEADERS)[number];

/** Of writes that ask for no change of the schema by themselves: what is known of one is said where it is asked for. */
export const NO_ACKNOWLEDGE: readonly WriteHeader[] = ['Idempotency-Key', 'If-Match', 'X-Reason'];

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** What is known of every request. */
export interface Exchange {
  req: Request;
  requestId: string;
  /** Named parts of the path, decoded. */
  params: Readonly<Record<string, string>>;
  /** Position of the newest committed event when the request was received; 0 on routes for anyone. */
  head: number;
  /** Milliseconds until the caller was known. */
  waited: number;
}

/** What a handler is given. */
export interface Call<Query, Who = Caller> extends Exchange {
  caller: Who;
  query: Query;
  /** The parsed body; undefined on routes without one. */
  body: unknown;
}

/** What of a route is for fewer callers than the route. */
export interface Stricter<Query> {
  access: Exclude<Access, 'anyone'>;
  /** Whether the query asks for it. */
  where: (query: Query) => boolean;
  /** The same for people: `without explain`. */
  words: string;
}

interface Spec<Query, Who> {
  method: Method;
  path: string;
  /** Asked before the body is read. */
  stricter?: Stricter<Query>;
  /** A strict zod object; unknown parameters are refused. */
  query: z.ZodType<Query>;
  /** What kind of body the route takes; without, it takes none. */
  body?: 'json' | 'document';
  /** It may be left out. */
  optionalBody?: true;
  /** Whether it needs a database that takes changes; absent: everything but GET does. */
  needsPrimary?: boolean;
  /** The headers of `WRITE_HEADERS` that it carries out; absent: all, where it writes. A write refuses the others. */
  heeds?: readonly WriteHeader[];
  /** Also answered while the database is away, to users that were known before. */
  whileDatabaseIsAway?: true;
  handle: (call: Call<Query, Who>) => Answer | Promise<Answer>;
}

export interface Route {
  method: Method;
  path: string;
  access: Access;
  stricter: Pick<Stricter<never>, 'access' | 'words'> | undefined;
  query: z.ZodType;
  /** What kind of body the route takes. */
  body: 'json' | 'document' | undefined;
  optionalBody: boolean;
  whileDatabaseIsAway: boolean;
  /** On a standby it is refused. */
  needsPrimary: boolean;
  heeds: readonly WriteHeader[];
  /** Reads query and body, then answers. `caller` is null on routes for anyone. */
  answer(exchange: Exchange, caller: Caller | null, bodies: Bodies): Promise<Answer>;
}

/** A route for callers whose role is at least `access`. */
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

/** A route for anyone, with a token or without. */
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

/** Who sends such a header counts on it. */
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
  /** Throws where the caller may not ask for this. */
  admits?: (query: Query) => void;
  handle: (given: Given<Query>) => Answer | Promise<Answer>;
}

/** Reads query and body, and holds the body until `handle` has answered. */
function requestReader<Query>({
  query,
  body,
  optionalBody,
}: Pick<Spec<Query, never>, 'query' | 'body' | 'optionalBody'>) {
  // Most requests have no query: what that means is worked out once.
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
