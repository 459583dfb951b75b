import type { IncomingMessage } from 'node:http';
import type { Request } from 'express';
import type { z } from 'zod';
import { type Access, type Caller, allows } from '../features/accounts/caller.js';
import { type RouteAction, type RouteCollections, defaultAction } from '../features/accounts/scope.js';
import type { Answer } from './answer/answer.js';
import type { Bodies, ReadBody } from './body/index.js';
import { hasBody } from './body/limited-bytes.js';
import { readShape } from './body/shape.js';
import { type ErrorCode, refused } from './errors.js';
import { collectionScopeOf, requireNamesInScope, requireScope } from './request/scope.js';
import { acknowledgeOf } from './request/headers.js';
import { readQuery } from './request/query.js';
import { isObject } from '../kernel/json.js';
import { type SchemaLocation, parseLocation } from '../schema/model/location.js';

/** The headers of write requests. */
const WRITE_HEADERS = ['Idempotency-Key', 'If-Match', 'X-Acknowledge', 'X-Reason'] as const;
export type WriteHeader = (typeof WRITE_HEADERS)[number];

/**
 * The headers of writes that do not change the schema themselves. Findings are acknowledged when the schema changes.
 */
export const NO_ACKNOWLEDGE: readonly WriteHeader[] = ['Idempotency-Key', 'If-Match', 'X-Reason'];

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** The facts about every request. */
interface Exchange {
  req: Request;
  requestId: string;
  /** The decoded path parameters. */
  params: Readonly<Record<string, string>>;
  /** The position of the newest event when the request arrived. 0 on public routes. */
  head: number;
  /** Milliseconds from the arrival until the caller was authenticated. */
  waited: number;
}

/** The argument of a handler. */
export interface Call<Query, Body = unknown, Who = Caller> extends Exchange {
  caller: Who;
  query: Query;
  /** Undefined on routes without a body. */
  body: Body;
}

/** A use of a route that needs a higher role than the route itself. */
interface Stricter<Query> {
  access: Exclude<Access, 'anyone'>;
  /** True if the query requests this use. */
  where: (query: Query) => boolean;
  /** Describes the condition for display: `without explain`. */
  words: string;
}

/** The body of a request. */
export interface BodySpec<Body> {
  /** `document` also accepts YAML and uploaded files. `form` accepts the fields of a form. */
  format: 'json' | 'document' | 'form';
  schema: z.ZodType;
  /** An example for the API reference. Without it, the example of the schema is shown. */
  example: unknown;
  isOptional: boolean;
  /** @throws RejectedError */
  read: (value: unknown) => Body;
}

interface BodyOptions {
  example?: unknown;
  optional?: boolean;
}

const bodySpec = <Body>(
  format: BodySpec<Body>['format'],
  schema: z.ZodType<Body>,
  { example, optional: isOptional = false }: BodyOptions,
): BodySpec<Body> => ({
  format,
  schema,
  example,
  isOptional,
  read: (value) => readShape(schema, isOptional && value === undefined ? {} : value),
});

/** Describes a JSON body. If the body is optional and absent, it is read as an empty object. */
export const jsonBody = <Body>(schema: z.ZodType<Body>, options: BodyOptions = {}): BodySpec<Body> =>
  bodySpec('json', schema, options);

/** Describes a body that can be JSON, YAML or an uploaded file. */
export const documentBody = <Body>(schema: z.ZodType<Body>, options: BodyOptions = {}): BodySpec<Body> =>
  bodySpec('document', schema, options);

/** Describes a body with the fields of a form (`application/x-www-form-urlencoded`). */
export const formBody = <Body>(schema: z.ZodType<Body>): BodySpec<Body> => bodySpec('form', schema, {});

/**
 * Describes a body that the handler reads itself, so that errors contain the locations of the operations. The schema is
 * only documentation.
 */
export const withoutParsing = (body: BodySpec<unknown>): BodySpec<unknown> => ({ ...body, read: (value) => value });

/** The schema of a JSON response, the media types of other content, or null for no content. */
type Content = z.ZodType | readonly (z.ZodType | string)[] | null;

/** How the API reference describes a route. */
export interface Documentation {
  operationId: string;
  summary: string;
  description?: string;
  /** Responses other than errors, by status. Most routes return 200 or 204. */
  answers: Readonly<Partial<Record<200 | 201 | 202 | 204 | 302 | 503, Content>>>;
  /** The response to `dry_run` and `explain`, on routes that accept them. Default: a plan. */
  dryRunAnswer?: z.ZodType;
  /** True if the response has a validator, so that If-None-Match can lead to 304. */
  validated?: true;
  /** True if the route changes the schema. It then has the headers and errors of changes. */
  changes?: true;
  /** Error codes in addition to those that follow from the route. */
  errors?: readonly ErrorCode[];
}

interface Spec<Query, Body, A extends Access> extends Documentation {
  method: Method;
  path: string;
  /** The required role. A token is optional on routes for `anyone`. */
  access: A;
  /** The action that the scope of an API token must contain. By default, `defaultAction` decides. */
  action?: RouteAction;
  /** How the route honours a scope with collections. By default, it rejects tokens with such a scope. */
  collections?: RouteCollections;
  /** A use that needs a higher role. It is checked before the body is read. */
  stricter?: Stricter<Query>;
  /** A strict zod object, so that unknown parameters are rejected. */
  query: z.ZodType<Query>;
  /** If absent, the route takes no body. */
  body?: BodySpec<Body>;
  /** True if the route needs a writable database. By default, all methods except GET do. */
  needsPrimary?: boolean;
  /**
   * True if a request may change something, so that clients must not repeat it. By default, the value of
   * `needsPrimary`.
   */
  mayWrite?: boolean;
  /**
   * The supported headers of `WRITE_HEADERS`. By default, a write supports all. A write rejects the headers that it
   * does not support.
   */
  headers?: readonly WriteHeader[];
  /** True to serve users who were authenticated before, even while the database is unavailable. */
  whileDatabaseIsAway?: true;
  handle: (call: Call<Query, Body, A extends 'anyone' ? null : Caller>) => Answer | Promise<Answer>;
}

export interface Route extends Documentation {
  method: Method;
  path: string;
  access: Access;
  action: RouteAction;
  collections: RouteCollections;
  stricter: (Pick<Stricter<never>, 'access' | 'words'> & { action: RouteAction }) | undefined;
  query: z.ZodType;
  body: BodySpec<unknown> | undefined;
  whileDatabaseIsAway: boolean;
  /** True if the route is rejected on a standby. */
  needsPrimary: boolean;
  /** True if a request may change something. */
  mayWrite: boolean;
  headers: readonly WriteHeader[];
  /** Reads query and body, then responds. `caller` is null on public routes. */
  answer(exchange: Exchange, caller: Caller | null, bodies: Bodies): Promise<Answer>;
}

/** Defines a route: what it accepts, who may use it, how it responds, and its documentation. */
export function route<Query, const A extends Access, Body = undefined>(spec: Spec<Query, Body, A>): Route {
  const { handle, body, whileDatabaseIsAway = false, needsPrimary = spec.method !== 'get', ...rest } = spec;
  const { mayWrite = needsPrimary } = spec;
  const { headers = needsPrimary && spec.method !== 'get' ? WRITE_HEADERS : [] } = spec;
  const { action = defaultAction(spec.method, spec.access), collections = null } = spec;
  const stricter = spec.stricter && { action: defaultAction(spec.method, spec.stricter.access), ...spec.stricter };
  const about = { ...rest, action, collections, stricter, body, whileDatabaseIsAway, needsPrimary, mayWrite, headers };
  const read = requestReader(spec);
  return {
    ...about,
    async answer(exchange, caller, bodies) {
      if (caller === null && spec.access !== 'anyone') throw new Error(`${spec.path} was called without a user`);
      const who = (spec.access === 'anyone' ? null : caller) as A extends 'anyone' ? null : Caller;
      requireSupported(exchange, about);
      return read(exchange.req, bodies, {
        admits: (query) => requireStricter(about, query, { req: exchange.req, caller }),
        handle: async (input) => {
          if (caller !== null && collectionScopeOf(caller) !== undefined && collections !== 'none')
            await requireNames(about, caller, { ...exchange, ...input });
          return handle({ ...exchange, ...input, caller: who });
        },
      });
    },
  };
}

/**
 * Rejects names of collections outside the scope of the caller's token, in the path, in the body and in
 * acknowledgements.
 */
async function requireNames(
  { path, headers }: Pick<Route, 'path' | 'headers'>,
  caller: Caller,
  { req, params, body }: Pick<Exchange, 'req' | 'params'> & { body: unknown },
): Promise<void> {
  const collection = path.startsWith('/collections/:id') ? params['id'] : params['collection'];
  if (collection !== undefined) await requireNamesInScope(caller, { collection });
  if (typeof body === 'object') await requireNamesInScope(caller, body);
  const inHeader = headers.includes('X-Acknowledge') ? acknowledgeOf(req) : undefined;
  await requireNamesInScope(caller, readLocations([...(inHeader ?? []), ...acknowledgementsIn(body)]));
}

/** Returns the acknowledgements in a body. The route checks their form later. */
const acknowledgementsIn = (body: unknown): { [member: string]: unknown }[] =>
  isObject(body) && Array.isArray(body['acknowledge']) ? body['acknowledge'].filter(isObject) : [];

/**
 * Returns the locations of acknowledgements. The response shows whether an acknowledgement matches a finding, and a
 * change within the scope can have findings about other collections.
 */
const readLocations = (acknowledgements: readonly { readonly place?: unknown }[]): SchemaLocation[] =>
  acknowledgements.flatMap(({ place }) => (typeof place === 'string' ? (parseLocation(place) ?? []) : []));

function requireStricter<Query>(
  {
    stricter,
    collections,
  }: Pick<Route, 'collections'> & {
    stricter: (Stricter<Query> & { action: RouteAction }) | undefined;
  },
  query: Query,
  { req, caller }: { req: Request; caller: Caller | null },
): void {
  if (stricter === undefined || !stricter.where(query)) return;
  if (caller !== null && allows(caller.role, stricter.access))
    return requireScope(req, caller, { action: stricter.action, collections });
  const { access, words } = stricter;
  throw refused(
    'FORBIDDEN',
    `This request requires the role ${access} ${words}, and your role is ${caller?.role ?? 'none'}.`,
  );
}

const INSTEAD: Partial<Record<WriteHeader, string>> = {
  'X-Acknowledge': 'send acknowledgements with a change, or when you open a change request',
};

/** Rejects headers that the route does not support, because a client that sends such a header relies on its effect. */
function requireSupported(
  { req }: Exchange,
  { method, mayWrite, headers }: Pick<Route, 'method' | 'mayWrite' | 'headers'>,
): void {
  if (!mayWrite || method === 'get' || headers.length === WRITE_HEADERS.length) return;
  const name = WRITE_HEADERS.find(
    (header) => !headers.includes(header) && req.headers[header.toLowerCase()] !== undefined,
  );
  if (name === undefined) return;
  const message = `${name} has no effect here: ${INSTEAD[name] ?? 'send the request without it'}.`;
  throw refused('INVALID_PAYLOAD', message, { path: name });
}

interface RequestInput<Query, Body> {
  query: Query;
  body: Body;
}

interface Reading<Query, Body> {
  /** Throws RejectedError if the caller lacks permission for this query. */
  admits: (query: Query) => void;
  handle: (input: RequestInput<Query, Body>) => Answer | Promise<Answer>;
}

/** Reads query and body, and keeps the body until `handle` has responded. */
function requestReader<Query, Body>({ query, body }: Pick<Spec<Query, Body, Access>, 'query' | 'body'>) {
  // Most requests have no query, so the result for an empty query is computed only once.
  const empty = query.safeParse({});
  return async (req: IncomingMessage, bodies: Bodies, { admits, handle }: Reading<Query, Body>): Promise<Answer> => {
    const url = req.url ?? '/';
    const read = empty.success && !url.includes('?') ? empty.data : readQuery(url, query);
    admits(read);
    if (body === undefined) return handle({ query: read, body: undefined as Body });
    if (body.isOptional && !hasBody(req)) return handle({ query: read, body: body.read(undefined) });
    const readBody: ReadBody = await bodies[body.format](req);
    try {
      return await handle({ query: read, body: body.read(readBody.value) });
    } finally {
      readBody.release();
    }
  };
}
