/** The parameters of a path and of a query, from the shapes that read them. */
import { z } from 'zod';
import type { Components, JsonSchema } from './json-schema.js';

/** What the named parts of paths are. */
const PATH_PARTS: Readonly<Record<string, string>> = {
  collection: 'The name of a collection',
  field: 'The name of a field',
  position: 'A position of the log',
  name: 'The name of a projection',
  token: 'The id of a token',
};

/** In the order of the path, `:name` for each. */
export function pathParameters(path: string): JsonSchema[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    description: PATH_PARTS[name] ?? (path.startsWith('/users') ? 'The id of a user' : PATH_PARTS['collection']),
    schema: name === 'position' ? { type: 'integer', minimum: 1 } : { type: 'string' },
  }));
}

/** Empty for a route that takes none. None is required. */
export function queryParameters(query: z.ZodType, components: Components): JsonSchema[] {
  if (!(query instanceof z.ZodObject)) return [];
  return Object.entries(query.shape as Record<string, z.ZodType>).map(([name, shape]) => {
    const { description, ...schema } = schemaOf(shape, components);
    return {
      name,
      in: 'query',
      required: false,
      ...(description !== undefined && { description }),
      // Lists stand in one parameter, with commas between the items.
      ...(schema['type'] === 'array' && { style: 'form', explode: false }),
      schema,
    };
  });
}

/**
 * A parameter comes as text and is read as a number, a flag or a list: that is what clients are told, where JSON has it.
 */
function schemaOf(shape: z.ZodType, components: Components): JsonSchema {
  const read = components.schemaOf(shape, 'output');
  const isKnown = Object.keys(read).some((member) => member !== 'description' && member !== 'default');
  const { default: _, ...schema } = isKnown ? read : { ...components.schemaOf(shape, 'input'), ...read };
  return schema;
}
