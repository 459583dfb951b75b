/**
 * Builds the OpenAPI document from the routes and request schemas, so that paths, parameters, roles, bodies and errors
 * always match the code. Tests check the response schemas.
 */
import { STATUS_CODES } from 'node:http';
import { z } from 'zod';
import type { BodySpec, Route, WriteHeader } from '../route.js';
import { type Components, createComponents, type JsonSchema } from './json-schema.js';
import { data, errors } from './answers/envelopes.js';
import { type ErrorCode, STATUS } from '../errors.js';
import { changeRequest } from '../../features/change-requests/routes-answers.js';
import { plan } from './answers/operating.js';

interface Header {
  description: string;
  schema: JsonSchema;
}

const text: JsonSchema = { type: 'string' };

/** Headers of write requests, if their routes use them. */
const WRITE_PARAMETERS: Readonly<Record<WriteHeader, Header>> = {
  'Idempotency-Key': {
    description:
      'A repeated request from the same user within 24 hours gets the first response and is not executed again',
    schema: { ...text, minLength: 1, maxLength: 255 },
  },
  'If-Match': {
    description: 'The hash that the schema must have (for the policy: the ETag of GET /policy). 412 if it has changed',
    schema: text,
  },
  'X-Acknowledge': {
    description:
      'Acknowledged findings, if the policy requires acknowledgements: `LOSES_DATA:articles.title`, separated by commas. In a name, write `%2E` for a dot, `%2C` for a comma, `%25` for a percent sign. The events record them. 400 if there is no such finding',
    schema: text,
  },
  'X-Reason': { description: 'The reason for the change. The events record it', schema: { ...text, maxLength: 1000 } },
};

/** Headers of requests whose response depends on the log. */
const POSITION_PARAMETERS: Readonly<Record<string, Header>> = {
  'X-Log-Position-At-Least': {
    description:
      'The position that the response must reflect, optionally with the hash of its event (`42-3f9a…`). The service ' +
      'waits for it. 503 if that takes too long, 409 `DIVERGED` if the log has another event there',
    schema: { ...text, pattern: '^\\d{1,15}(-[0-9a-f]{8,64})?$' },
  },
};

/** Headers of reads whose response has a validator. */
const READ_PARAMETERS: Readonly<Record<string, Header>> = {
  'If-None-Match': { description: 'The ETag of a stored response. 304 if it is still current', schema: text },
};

const HEADERS: Readonly<Record<string, Header>> = {
  'X-Request-Id': { description: 'The id of the request if it is valid, otherwise a new one', schema: text },
  'X-Log-Position': { description: 'The position of the log that the response reflects', schema: { type: 'integer' } },
  'X-Log-Lag': {
    description:
      'Only from a process that reads from a standby: the maximum number of seconds since the standby last received commits from the primary',
    schema: { type: 'number', minimum: 0 },
  },
  'X-Batch-Id': {
    description: 'The batch of the change. Absent if nothing changed',
    schema: { ...text, format: 'uuid' },
  },
  'X-Warnings': {
    description:
      'Codes of unrequested data losses, separated by commas. `DATA_NOT_KEPT`: deleted rows or values are not in the trash. `DATA_NOT_RESTORED`: values of a restored field had no matching row and were permanently deleted',
    schema: text,
  },
  ETag: { description: 'A strong validator of the response', schema: text },
};

/** Headers of successful responses, as references to the components. */
function answerHeaders({ access, needsPrimary, changes, validated }: Route): JsonSchema {
  const names = [
    'X-Request-Id',
    ...(access === 'anyone' || needsPrimary ? [] : ['X-Log-Lag']),
    ...(changes || validated ? ['X-Log-Position'] : []),
    ...(changes ? ['X-Batch-Id', 'X-Warnings'] : []),
    ...(validated ? ['ETag'] : []),
  ];
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function headerParameters({ access, headers: supported, validated }: Route): JsonSchema[] {
  const headers = {
    ...(access !== 'anyone' && POSITION_PARAMETERS),
    ...Object.fromEntries(supported.map((name) => [name, WRITE_PARAMETERS[name]])),
    ...(validated && READ_PARAMETERS),
  };
  return Object.entries(headers).map(([name, header]) => ({ name, in: 'header', required: false, ...header }));
}

/* The responses of an operation, including every error status. */

type Responses = Record<string, JsonSchema>;

/** Maps each status to its description and shape. */
function responsesOf(route: Route, components: Components): Responses {
  const headers = answerHeaders(route);
  const usual: Responses = {};
  const others: Responses = {};
  for (const [status, shape] of Object.entries(answersOf(route))) {
    const content = shape === null ? {} : { content: contentOf(shape, components) };
    if (status === '200' || status === '204') usual[status] = { description: 'Done', headers, ...content };
    else others[status] = { description: STATUS_CODES[status] ?? '', ...content };
  }
  return {
    ...usual,
    ...(hasParameter(route, 'online') && { 202: acceptedResponse(headers, components) }),
    ...(route.validated && { 304: { description: 'The response that If-None-Match names is current', headers } }),
    ...errorResponses(route),
    ...others,
  };
}

type Answers = Route['answers'];

/** Returns the responses. Routes that accept `dry_run` may also respond with a plan. */
function answersOf(route: Route): Answers {
  const { answers, dryRunAnswer = plan } = route;
  const { 200: answer } = answers;
  if (!hasParameter(route, 'dry_run') || answer === dryRunAnswer) return answers;
  return { ...answers, 200: answer instanceof z.ZodType ? z.union([answer, dryRunAnswer]) : dryRunAnswer };
}

function contentOf(content: NonNullable<Answers[200]>, components: Components): JsonSchema {
  const all = content instanceof z.ZodType ? [content] : content;
  const entries = all.map((type) =>
    typeof type === 'string'
      ? [type, { schema: { type: 'string' } }]
      : ['application/json', { schema: components.schemaOf(type, 'output') }],
  );
  return Object.fromEntries(entries) as JsonSchema;
}

const acceptedResponse = (headers: JsonSchema, components: Components): JsonSchema => ({
  description: 'An online change: this is its change request',
  headers: { ...headers, Location: { description: 'Path of the change request', schema: { type: 'string' } } },
  content: contentOf(data(changeRequest), components),
});

const hasParameter = ({ query }: Route, parameter: 'online' | 'dry_run'): boolean =>
  query instanceof z.ZodObject && parameter in query.shape;

function errorResponses(route: Route): Responses {
  const { errors: others = [], changes } = route;
  const codes = new Set<ErrorCode>([...codesOf(route), ...(changes ? CHANGE_CODES : []), ...others]);
  const statuses = [...new Set([...codes].map((code) => STATUS[code]))].sort((a, b) => a - b);
  return Object.fromEntries(statuses.map((status) => [status, { $ref: `#/components/responses/${nameOf(status)}` }]));
}

const CHANGE_CODES: readonly ErrorCode[] = [
  'ALREADY_EXISTS',
  'PRECONDITION_FAILED',
  'DATABASE_REFUSED',
  'LOCK_TIMEOUT',
  'IN_USE',
  'ONLINE_NOT_POSSIBLE',
  'POLICY_REFUSED',
];

/** Returns the codes that every route of this kind may return. */
function codesOf({ path, access, body, needsPrimary }: Route): ErrorCode[] {
  return [
    'INVALID_QUERY',
    'NOT_ACCEPTABLE',
    'INTERNAL',
    'UNAVAILABLE',
    'OVERLOADED',
    ...BEFORE_ROUTING,
    ...(needsPrimary ? (['READ_ONLY'] as const) : []),
    ...(access === 'anyone' ? [] : (['UNAUTHENTICATED', 'DIVERGED', 'TOO_MANY_REQUESTS'] as const)),
    ...(access === 'anyone' ? [] : (['FORBIDDEN'] as const)),
    ...(path.includes(':') ? (['NOT_FOUND'] as const) : []),
    ...(body === undefined ? [] : (['INVALID_PAYLOAD', 'CONTENT_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const)),
  ];
}

/** The codes of requests that reach no route. */
const BEFORE_ROUTING: readonly ErrorCode[] = [
  'INVALID_REQUEST',
  'REQUEST_TIMEOUT',
  'EXPECTATION_FAILED',
  'HEADERS_TOO_LARGE',
];

/** Returns a name for a component: `NotFound`. */
const nameOf = (status: number): string => (STATUS_CODES[status] ?? `Status ${status}`).replaceAll(/[^A-Za-z]/g, '');

/** Creates one component per error status, with its codes. */
function refusalResponses(components: Components): Responses {
  const schema = components.schemaOf(errors, 'output');
  const statuses = [...new Set(Object.values(STATUS))];
  return Object.fromEntries(
    statuses.map((status) => {
      const codes = Object.keys(STATUS).filter((code) => STATUS[code as ErrorCode] === status);
      return [nameOf(status), { description: codes.join(', '), content: { 'application/json': { schema } } }];
    }),
  );
}

/* Create path and query parameters from the schemas that read them. */

/** Descriptions of the parts of a path. An `id` is described by the first segment of its path. */
const PATH_PARTS: Readonly<Record<string, string>> = {
  collection: 'The name of a collection',
  field: 'The name of a field',
  position: 'A position of the log',
  name: 'The name of a projection',
  token: 'The id of a token',
  users: 'The id of a user',
  changes: 'The id of a change request',
  sessions: 'The id of a session',
  webhooks: 'The id of a webhook',
  environments: 'The id of an environment',
};

/** Returns a parameter for each `:name`, in path order. */
function pathParameters(path: string): JsonSchema[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    description: PATH_PARTS[name === 'id' ? tagOf(path) : name] ?? PATH_PARTS['collection'],
    schema: name === 'position' ? { type: 'integer', minimum: 1 } : { type: 'string' },
  }));
}

/** Returns the query parameters, all of which are optional. Empty for a route without a query. */
function queryParameters(query: z.ZodType, components: Components): JsonSchema[] {
  if (!(query instanceof z.ZodObject)) return [];
  return Object.entries(query.shape as Record<string, z.ZodType>).map(([name, shape]) => {
    const { description, ...schema } = schemaOf(shape, components);
    return {
      name,
      in: 'query',
      required: false,
      ...(description !== undefined && { description }),
      // A list is one parameter with comma-separated items.
      ...(schema['type'] === 'array' && { style: 'form', explode: false }),
      schema,
    };
  });
}

/**
 * Returns the schema of a parameter. A parameter is sent as text but documented with the type to which it is parsed, if
 * JSON has that type.
 */
function schemaOf(shape: z.ZodType, components: Components): JsonSchema {
  const read = components.schemaOf(shape, 'output');
  const isKnown = Object.keys(read).some((member) => member !== 'description' && member !== 'default');
  const { default: _, ...schema } = isKnown ? read : { ...components.schemaOf(shape, 'input'), ...read };
  return schema;
}

/* The groups of operations in the document: the first path segment. */

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  collections: 'Tables, and folders that group them',
  fields: 'The columns and alias fields of a collection',
  relations: 'Foreign keys and other links between collections, identified by their many side',
  objects:
    'Views, materialized views, functions, procedures, aggregates, triggers, policies, row security, statistics objects, rules, privileges, table options, sequences and types, only with OBJECTS=on',
  schema: 'The whole schema: snapshot, diff, apply, adopt, drift',
  trash: 'Deleted objects that can be restored',
  policy: 'The rules for schema changes',
  changes: 'Change requests: proposals for review, and online changes',
  auth: 'Log in and log out',
  users: 'Users and their API tokens',
  sessions: 'Sessions of users',
  webhooks: 'Programs that receive events, and the deliveries to them',
  environments: 'Other instances of the service, and the comparison with their schemas',
  mcp: 'Tools for agents, over the Model Context Protocol',
  history: 'The event log: what changed, when, by whom and why, and the schema at any point in time',
  projections: 'Data that the service computes from the log: its progress and its correctness',
  server: 'The service itself',
  metrics: 'Metrics for monitoring',
  docs: 'This description as a page',
};

/** Returns the group of a path: `collections` for `/collections/:collection`. Empty for the root. */
const tagOf = (path: string): string => path.split('/')[1] ?? '';

/** Returns the groups in the order of the routes. */
function tagsOf(routes: readonly Route[]): { name: string; description: string }[] {
  const names = [...new Set(routes.map(({ path }) => tagOf(path)))];
  return names.map((name) => ({ name, description: DESCRIPTIONS[name] ?? name }));
}

export interface OpenApiDocument {
  openapi: string;
  paths: Record<string, Record<string, JsonSchema>>;
  components: Record<string, Record<string, JsonSchema>>;
  [member: string]: unknown;
}

/** Returns the document in OpenAPI 3.1. */
export function openApiDocument(routes: readonly Route[], release: string): OpenApiDocument {
  const components = createComponents();
  const responses = refusalResponses(components);
  const paths: OpenApiDocument['paths'] = {};
  for (const route of routes) {
    (paths[templateOf(route.path)] ??= {})[route.method] = operationOf(route, components);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Data Platform Service',
      version: release,
      description: 'Manages a PostgreSQL schema over HTTP, with every change as an event in an append-only log.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'This service' }],
    security: [{ bearer: [] }],
    tags: tagsOf(routes),
    paths,
    components: {
      schemas: components.schemas(),
      responses: usedIn(paths, responses),
      headers: HEADERS as unknown as Record<string, JsonSchema>,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An API token, or the access token of a session' },
      },
    },
  };
}

function usedIn(paths: object, responses: Record<string, JsonSchema>): Record<string, JsonSchema> {
  const text = JSON.stringify(paths);
  return Object.fromEntries(Object.entries(responses).filter(([name]) => text.includes(`/responses/${name}"`)));
}

/** `/fields/:collection` → `/fields/{collection}` */
const templateOf = (path: string): string => path.replaceAll(/:(\w+)/g, '{$1}');

function operationOf(route: Route, components: Components): JsonSchema {
  const { operationId, summary, access, path, body } = route;
  const description = [route.description, describeAccess(route)];
  return {
    operationId,
    tags: [tagOf(path)],
    summary,
    description: description.filter((sentence) => sentence !== undefined).join(' '),
    ...(access === 'anyone' && { security: [] }),
    parameters: [...pathParameters(path), ...queryParameters(route.query, components), ...headerParameters(route)],
    ...(body !== undefined && { requestBody: requestBody(body, components) }),
    responses: responsesOf(route, components),
  };
}

function describeAccess({ access, action, collections, stricter }: Route): string {
  if (access === 'anyone') return 'Requires no token.';
  const role = `Requires the role ${access}${stricter === undefined ? '' : `; ${stricter.words}, the role ${stricter.access}`}.`;
  if (action === null) return role;
  if (action === 'unscoped') return `${role} Scoped tokens cannot be used.`;
  const needed = action === 'personal' ? 'operate' : action;
  const people = action === 'personal' ? ' Pipeline tokens cannot be used.' : '';
  const more =
    stricter === undefined || stricter.action === action
      ? ''
      : `; ${stricter.words}, the action \`${stricter.action}\``;
  return `${role} A scoped token needs the action \`${needed}\`${more}.${people} ${COLLECTIONS[collections ?? 'rejected']}`;
}

const COLLECTIONS = {
  rejected: 'Tokens that are limited to collections cannot be used.',
  none: 'Tokens that are limited to collections can be used.',
  filtered: 'A token that is limited to collections reads only these.',
  judged: 'A token that is limited to collections can change only these.',
} as const;

function requestBody(body: BodySpec<unknown>, components: Components): JsonSchema {
  const { format, schema, example, isOptional } = body;
  const content = { schema: components.schemaOf(schema, 'input'), ...(example !== undefined && { example }) };
  const file = { type: 'object', properties: { file: { type: 'string', format: 'binary' } } };
  if (format === 'form') return { content: { 'application/x-www-form-urlencoded': content }, required: !isOptional };
  return {
    content: {
      'application/json': content,
      ...(format === 'document' && { 'application/yaml': content, 'multipart/form-data': { schema: file } }),
    },
    required: !isOptional,
  };
}
