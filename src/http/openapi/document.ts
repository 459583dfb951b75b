/**
 * Builds the OpenAPI document from the routes and request shapes, so that paths, parameters, roles, bodies and errors
 * cannot drift. Tests check the response shapes.
 */
import type { Route } from '../route.js';
import { HEADERS, headerParameters } from './headers.js';
import { type Components, createComponents, type JsonSchema } from './json-schema.js';
import type { OperationDoc } from './operation-doc.js';
import { OPERATIONS } from './operations/index.js';
import { pathParameters, queryParameters } from './parameters.js';
import { refusalResponses, responsesOf } from './responses.js';
import { tagOf, tagsOf } from './tags.js';

export interface OpenApiDocument {
  openapi: string;
  paths: Record<string, Record<string, JsonSchema>>;
  components: Record<string, Record<string, JsonSchema>>;
  [member: string]: unknown;
}

/** OpenAPI 3.1. */
export function openApiDocument(routes: readonly Route[], release: string): OpenApiDocument {
  const components = createComponents();
  const responses = refusalResponses(components);
  const paths: OpenApiDocument['paths'] = {};
  for (const route of routes) {
    const doc = OPERATIONS[`${route.method.toUpperCase()} ${route.path}`];
    if (doc === undefined) throw new Error(`nothing is said of ${route.method} ${route.path} in the document`);
    (paths[templateOf(route.path)] ??= {})[route.method] = operationOf(route, doc, components);
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
        bearer: { type: 'http', scheme: 'bearer', description: 'A static token, or an access token of a login' },
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

function operationOf(route: Route, doc: OperationDoc, components: Components): JsonSchema {
  const { access, path, body } = route;
  const description = [doc.description, neededFor(route)];
  return {
    operationId: doc.id,
    tags: [tagOf(path)],
    summary: doc.summary,
    description: description.filter((sentence) => sentence !== undefined).join(' '),
    ...(access === 'anyone' && { security: [] }),
    parameters: [...pathParameters(path), ...queryParameters(route.query, components), ...headerParameters(route, doc)],
    ...(body !== undefined && {
      requestBody: { ...requestBody(body, doc, components), required: !route.optionalBody },
    }),
    responses: responsesOf(route, doc, components),
  };
}

function neededFor({ access, stricter }: Route): string {
  if (access === 'anyone') return 'Needs no token.';
  return `Needs the role ${access}${stricter === undefined ? '' : `, ${stricter.words} ${stricter.access}`}.`;
}

function requestBody(kind: 'json' | 'document', { body, example }: OperationDoc, components: Components): JsonSchema {
  if (body === undefined) throw new Error('nothing is said of a body in the document');
  const content = { schema: components.schemaOf(body, 'input'), ...(example !== undefined && { example }) };
  const file = { type: 'object', properties: { file: { type: 'string', format: 'binary' } } };
  return {
    content: {
      'application/json': content,
      ...(kind === 'document' && { 'application/yaml': content, 'multipart/form-data': { schema: file } }),
    },
  };
}
