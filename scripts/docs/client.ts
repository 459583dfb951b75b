/** Writes the types of the client, src/client/api.ts, from the routes and their OpenAPI document. */
import type { OpenApiDocument } from '../../src/http/openapi/document.js';
import type { Route } from '../../src/http/route.js';
import { STATUS } from '../../src/http/errors.js';

type Schema = Readonly<Record<string, unknown>>;

interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  description?: string;
  schema: Schema;
}

interface Operation {
  summary: string;
  description: string;
  parameters: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema }>; required: boolean };
  responses: Record<string, { $ref?: string; content?: Record<string, { schema: Schema }> }>;
}

export function clientTypes(routes: readonly Route[], { paths, components }: OpenApiDocument): string {
  const all = components['schemas'] ?? {};
  const shared = membersOfEvents(all);
  const schemas = Object.entries(all).map(
    ([name, schema]) => `  ${documented(schema)}${name}: ${eventType(schema, shared) ?? topLevel(schema)};`,
  );
  const operations = routes.map((route) => ({ route, described: operationOf(route, paths) }));
  return [
    '/* Generated from the routes by "npm run docs -- api". Do not edit. */',
    '',
    '/** The codes of errors. */',
    `export type ErrorCode = ${Object.keys(STATUS).map(quoted).join(' | ')};`,
    '',
    '/** The members that every event has. */',
    `interface LoggedEvent ${shared}`,
    '',
    '/** The documents in requests and responses. */',
    `export interface Schemas {\n${schemas.join('\n')}\n}`,
    '',
    '/** An event of GET /history/stream. */',
    "export type StreamMessage = { event: 'message'; id: string; data: Schemas['Event'] }",
    "  | { event: 'diverged'; id: string; data: unknown };",
    '',
    '/** Headers of requests. */',
    `export interface RequestHeaders {\n${requestHeaders(operations.map(({ described }) => described)).join('\n')}\n}`,
    '',
    '/** The defaults of the members of an operation. */',
    'interface Plain {',
    ...Object.entries(PLAIN).map(([name, type]) => `  ${name}: ${type};`),
    '}',
    '',
    'type Operation<T> = Omit<Plain, keyof T> & T;',
    '',
    '/** Parameters, bodies and responses of every operation. */',
    `export interface Operations {\n${operations.map(({ route, described }) => operationType(route, described)).join('\n')}\n}`,
    '',
    '/** The method and path of every operation; whether a repeated request does no harm, and how. */',
    'export const OPERATIONS = {',
    ...operations.map(({ route, described }) => `  ${route.operationId}: ${runtime(route, described)},`),
    '} as const satisfies Record<keyof Operations, Described>;',
    '',
    'interface Described {',
    '  method: string;',
    '  path: string;',
    '  /** `safe`: it changes nothing. `key`: an Idempotency-Key makes it take effect once. */',
    "  repeat: 'safe' | 'key' | 'no';",
    '  /** Statuses other than 2xx that are not errors. */',
    '  answers: readonly number[];',
    '}',
    '',
  ].join('\n');
}

const operationOf = ({ path, method }: Route, paths: OpenApiDocument['paths']): Operation =>
  paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method] as unknown as Operation;

function runtime({ method, path, mayWrite, headers }: Route, { responses }: Operation): string {
  const repeat = method === 'get' || !mayWrite ? 'safe' : headers.includes('Idempotency-Key') ? 'key' : 'no';
  const answers = Object.entries(responses).flatMap(([status, { content }]) =>
    status === '302' || (Number(status) >= 400 && content !== undefined) ? [Number(status)] : [],
  );
  return `{ method: '${method.toUpperCase()}', path: '${path}', repeat: '${repeat}', answers: [${answers.join(', ')}] }`;
}

/** Headers that change what the response contains have no place in typed results. */
const UNTYPED = new Set(['If-None-Match']);

/** The types of members that most operations have; the others state theirs. */
const PLAIN: Readonly<Record<string, string>> = {
  params: 'object',
  query: 'object',
  headers: 'object',
  body: 'never',
  planned: 'never',
  online: 'never',
};

function operationType({ operationId }: Route, operation: Operation): string {
  const { summary, parameters, requestBody } = operation;
  const members = (place: 'path' | 'query') => parameters.filter((each) => each.in === place).map(parameter);
  const headers = parameters.filter(isTypedHeader).map(({ name }) => quoted(name));
  const { usual, planned, online } = answersOf(operation);
  const types = {
    params: objectOf(members('path')),
    query: objectOf(members('query')),
    headers: headers.length === 0 ? 'object' : `Pick<RequestHeaders, ${headers.join(' | ')}>`,
    body: requestBody === undefined ? 'never' : bodyTypeOf(requestBody),
    answer: usual,
    planned,
    online,
  };
  const stated = Object.entries(types).filter(([name, type]) => PLAIN[name] !== type);
  return [
    `  ${comment(summary)}${operationId}: Operation<{`,
    ...stated.map(([name, type]) => `    ${name}: ${type};`),
    '  }>;',
  ].join('\n');
}

function bodyTypeOf({ content, required }: NonNullable<Operation['requestBody']>): string {
  const [{ schema } = { schema: {} }] = [content['application/json'] ?? Object.values(content)[0]];
  return required ? typeOf(schema) : `${typeOf(schema)} | undefined`;
}

const objectOf = (members: readonly string[]): string =>
  members.length === 0 ? 'object' : `{ ${members.join('; ')} }`;

const isTypedHeader = (parameter: Parameter): boolean => parameter.in === 'header' && !UNTYPED.has(parameter.name);

/** Every header that an operation accepts, once. */
function requestHeaders(operations: readonly Operation[]): string[] {
  const all = operations.flatMap(({ parameters }) => parameters.filter(isTypedHeader));
  return [...new Map(all.map((each) => [each.name, `  ${parameter(each)};`])).values()];
}

function parameter({ name, in: place, description, schema }: Parameter): string {
  const isNumber = schema['type'] === 'integer';
  const type = place === 'path' ? (isNumber ? 'string | number' : 'string') : typeOf(schema);
  return `${comment(description)}${quotedName(name)}${place === 'path' ? '' : '?'}: ${place === 'query' ? `${type} | undefined` : type}`;
}

/** The responses of a request, of a dry run, and of an online change. */
function answersOf({ responses, parameters }: Operation): { usual: string; planned: string; online: string } {
  const takes = (name: string) => parameters.some((each) => each.in === 'query' && each.name === name);
  const found = Object.entries(responses).filter(
    ([status, { content, $ref }]) =>
      $ref === undefined && status !== '304' && (Number(status) < 400 || content !== undefined),
  );
  const usual: string[] = [];
  let planned = 'never';
  let online = 'never';
  for (const [status, { content }] of found) {
    if (status === '202' && takes('online')) online = answer(status, [bodyOf(content)]);
    else if (status === '200' && takes('dry_run')) {
      const { plan, others } = withoutPlan(content);
      planned = answer(status, [plan]);
      if (others.length > 0) usual.push(answer(status, others));
    } else usual.push(answer(status, [bodyOf(content)]));
  }
  // Some routes answer a dry run with the same document.
  return { usual: usual.length === 0 ? planned : usual.join(' | '), planned, online };
}

const answer = (status: string, bodies: readonly string[]): string =>
  `{ status: ${status}; headers: Headers; body: ${bodies.join(' | ')} }`;

/** The plan is the last alternative of the response to routes with dry runs. */
function withoutPlan(content: Operation['responses'][string]['content'] = {}): { plan: string; others: string[] } {
  const schema = content['application/json']?.schema ?? {};
  const all = Array.isArray(schema['anyOf']) ? (schema['anyOf'] as Schema[]).map(typeOf) : [typeOf(schema)];
  return { plan: all.at(-1) ?? 'never', others: all.slice(0, -1) };
}

const STREAMS: Readonly<Record<string, string>> = {
  'text/event-stream': 'AsyncIterable<StreamMessage>',
  'application/x-ndjson': "AsyncIterable<Schemas['Event']>",
};

function bodyOf(content: Operation['responses'][string]['content'] = {}): string {
  const types = Object.entries(content).map(([type, { schema }]) =>
    type === 'application/json' ? typeOf(schema) : (STREAMS[type] ?? 'string'),
  );
  return types.length === 0 ? 'undefined' : [...new Set(types)].join(' | ');
}

/* JSON Schema as TypeScript. */

const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

const quotedName = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name));

const literal = (value: unknown): string => (typeof value === 'string' ? quoted(value) : JSON.stringify(value));

const union = (types: readonly string[]): string => [...new Set(types)].join(' | ');

const SCALARS: Readonly<Record<string, string>> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
};

function typeOf(schema: Schema): string {
  const { $ref, const: value, enum: values, anyOf, oneOf, type } = schema;
  if (typeof $ref === 'string') return `Schemas[${quoted($ref.replace('#/components/schemas/', ''))}]`;
  if ('const' in schema) return literal(value);
  if (Array.isArray(values)) return union(values.map(literal));
  const alternatives = anyOf ?? oneOf;
  if (Array.isArray(alternatives)) return union((alternatives as Schema[]).map((each) => grouped(typeOf(each))));
  if (Array.isArray(type)) return union((type as string[]).map((each) => typeOf({ ...schema, type: each })));
  if (type === 'array') return arrayType(schema);
  if (type === 'object') return objectType(schema);
  return SCALARS[String(type)] ?? 'unknown';
}

/** With a line per member. */
function topLevel(schema: Schema): string {
  const type = typeOf({ ...schema, description: undefined });
  return schema['type'] === 'object' && schema['properties'] !== undefined ? objectType(schema, ';\n    ') : type;
}

type Properties = Readonly<Record<string, Schema>>;

/** The members of the first event, without those whose types depend on the type of the event. */
function membersOfEvents(schemas: Properties): string {
  const event = Object.values(schemas).find(
    (schema) => 'previous_hash' in ((schema['properties'] ?? {}) as Properties),
  );
  if (event === undefined) throw new Error('No schema of an event was found.');
  return sharedMembers(event);
}

function sharedMembers(schema: Schema): string {
  const { type: _type, data: _data, ...properties } = schema['properties'] as Properties;
  return objectType({ ...schema, properties }, ';\n  ');
}

/** Undefined if the schema is not that of an event with these members. */
function eventType(schema: Schema, shared: string): string | undefined {
  const { type, data } = (schema['properties'] ?? {}) as Properties;
  if (type === undefined || data === undefined || sharedMembers(schema) !== shared) return undefined;
  return `LoggedEvent & {\n    type: ${typeOf(type)};\n    data: ${typeOf(data)} }`;
}

const grouped = (type: string): string => (type.includes(' | ') ? `(${type})` : type);

function arrayType({ items = {}, prefixItems }: Schema): string {
  if (Array.isArray(prefixItems)) return `[${(prefixItems as Schema[]).map(typeOf).join(', ')}]`;
  return `(${typeOf(items as Schema)})[]`;
}

function objectType(
  { properties = {}, required = [], additionalProperties: others }: Schema,
  separator = '; ',
): string {
  const members = Object.entries(properties as Record<string, Schema>).map(
    ([name, schema]) =>
      `${documented(schema)}${quotedName(name)}${(required as string[]).includes(name) ? '' : '?'}: ${typeOf(schema)}`,
  );
  if (others === false) return members.length === 0 ? 'Record<string, never>' : `{ ${members.join(separator)} }`;
  const isTyped = typeof others === 'object' && others !== null && members.length === 0;
  const rest = isTyped ? typeOf(others as Schema) : 'unknown';
  return `{ ${[...members, `[member: string]: ${rest}`].join(separator)} }`;
}

const documented = ({ description }: Schema): string => comment(description as string | undefined);

const comment = (text: string | undefined): string =>
  text === undefined ? '' : `/** ${text.replaceAll('*/', '*\\/').replace(/\.$/, '')}. */ `;
