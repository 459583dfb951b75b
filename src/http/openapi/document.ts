/** The OpenAPI document, made from the routes as they are: paths, methods, parameters, roles and bodies can't drift. */
import { z } from 'zod';
import type { Route } from '../route.js';
import { COMPONENTS, type JsonSchema, ref } from './components.js';
import { ANSWER_HEADERS, CHANGE_HEADERS, HEADERS, changeParameters } from './headers.js';
import { OPERATIONS, type OperationDoc } from './operations.js';

/** OpenAPI 3.1. A route that OPERATIONS doesn't know is shown with what the route itself tells. */
export function openApiDocument(routes: readonly Route[], release: string): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    (paths[path] ??= {})[route.method] = operation(route, OPERATIONS[`${route.method.toUpperCase()} ${route.path}`]);
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Data Platform Service', version: release },
    security: [{ bearer: [] }],
    paths,
    components: {
      schemas: COMPONENTS,
      headers: HEADERS,
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
    },
  };
}

function operation(route: Route, doc: OperationDoc | undefined): object {
  const { access, body } = route;
  return {
    ...(doc && { summary: doc.summary }),
    ...(access === 'anyone' ? { security: [] } : { description: `Needs the role ${access}.` }),
    parameters: [
      ...pathParameters(route.path),
      ...queryParameters(route.query),
      ...(doc?.changes === true ? changeParameters() : []),
    ],
    ...(body !== undefined && { requestBody: requestBody(body, doc?.body ?? {}) }),
    responses: {
      ...successes(doc),
      default: {
        description: 'Refused',
        ...ANSWER_HEADERS,
        content: { 'application/json': { schema: ref('Errors') } },
      },
    },
  };
}

function pathParameters(path: string): object[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}

function queryParameters(query: z.ZodType): object[] {
  const { properties = {} } = z.toJSONSchema(query, { io: 'input' });
  return Object.entries(properties).map(([name, schema]) => ({ name, in: 'query', required: false, schema }));
}

function requestBody(kind: 'json' | 'document', body: JsonSchema | z.ZodType): object {
  const schema = body instanceof z.ZodType ? withoutDialect(z.toJSONSchema(body, { io: 'input' })) : body;
  const types = kind === 'json' ? ['application/json'] : ['application/json', 'application/yaml'];
  const content = Object.fromEntries(types.map((type) => [type, { schema }]));
  if (kind === 'document') {
    const file = { type: 'object', properties: { file: { type: 'string', format: 'binary' } } };
    Object.assign(content, { 'multipart/form-data': { schema: file } });
  }
  return { required: true, content };
}

/** The document says once which dialect it is written in. */
function withoutDialect(schema: Record<string, unknown>): JsonSchema {
  return Object.fromEntries(Object.entries(schema).filter(([member]) => member !== '$schema'));
}

function successes({ answer, changes }: Partial<OperationDoc> = {}): object {
  const done = { description: 'Done', ...(changes === true ? CHANGE_HEADERS : ANSWER_HEADERS) };
  if (answer === undefined) return { 204: done };
  const content =
    answer === 'text' ? { 'text/plain': { schema: { type: 'string' } } } : { 'application/json': { schema: answer } };
  return { 200: { ...done, content } };
}
