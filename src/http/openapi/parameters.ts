/** Path and query parameters, from the shapes that read them. */
import { z } from 'zod';
import type { Components, JsonSchema } from './json-schema.js';

/** Descriptions of the named path segments. */
const PATH_PARTS: Readonly<Record<string, string>> = {
  collection: 'The name of a collection',
  field: 'The name of a field',
  position: 'A position of the log',
  name: 'The name of a projection',
  token: 'The id of a token',
};

/** In path order, one for each `:name`. */
export function pathParameters(path: string): JsonSchema[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    description: PATH_PARTS[name] ?? (path.startsWith('/users') ? 'The id of a user' : PATH_PARTS['collection']),
    schema: name === 'position' ? { type: 'integer', minimum: 1 } : { type: 'string' },
  }));
}

/** Empty for a route without a query. All are optional. */
export function queryParameters(query: z.ZodType, components: Components): JsonSchema[] {
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

/** A parameter is sent as text but documented with the type it is parsed to, if JSON has it. */
function schemaOf(shape: z.ZodType, components: Components): JsonSchema {
  const read = components.schemaOf(shape, 'output');
  const isKnown = Object.keys(read).some((member) => member !== 'description' && member !== 'default');
  const { default: _, ...schema } = isKnown ? read : { ...components.schemaOf(shape, 'input'), ...read };
  return schema;
}
