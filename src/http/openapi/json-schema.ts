/** Converts zod schemas to JSON Schema. Schemas with an id become components, and other schemas reference them. */
import { z } from 'zod';

export type JsonSchema = Record<string, unknown>;

/** `input` is for requests, `output` for responses. */
type Direction = 'input' | 'output';

export interface Components {
  /** Returns the JSON Schema of a zod schema, with references to the components. */
  schemaOf(shape: z.ZodType, direction: Direction): JsonSchema;
  /** Returns the components that have been referenced so far, by name. */
  schemas(): Record<string, JsonSchema>;
}

/** Create one per document, because it collects the components of one document. */
export function createComponents(): Components {
  const components = new Map<string, JsonSchema>();
  return {
    schemaOf(shape, direction) {
      const { $defs = {}, properties } = generate(z.strictObject({ shape }), direction);
      for (const [name, schema] of Object.entries($defs)) {
        if (!UNNAMED.test(name)) addComponent(components, name, rewriteReferences(schema));
      }
      return rewriteReferences(properties?.['shape'] ?? {});
    },
    schemas: () => Object.fromEntries([...components].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

const DEFINITIONS = '#/$defs/';

/** Matches the name of a recursive schema without an id, which means arbitrary JSON. */
const UNNAMED = /^__schema\d+$/;

interface GeneratedSchema {
  $defs?: Record<string, JsonSchema>;
  properties?: Record<string, JsonSchema>;
}

function generate(shape: z.ZodType, io: Direction): GeneratedSchema {
  const override = ({ jsonSchema }: { jsonSchema: object }) => simplify(jsonSchema as JsonSchema);
  return z.toJSONSchema(shape, { io, unrepresentable: 'any', override }) as GeneratedSchema;
}

/** Removes additions of zod that no reader needs: the pattern of a format, and the bounds of a double. */
function simplify(schema: JsonSchema): void {
  if (schema['format'] !== undefined) delete schema['pattern'];
  if (schema['maximum'] === Number.MAX_SAFE_INTEGER) delete schema['maximum'];
  if (schema['minimum'] === Number.MIN_SAFE_INTEGER) delete schema['minimum'];
}

function addComponent(components: Map<string, JsonSchema>, name: string, schema: JsonSchema): void {
  const before = components.get(name);
  if (before !== undefined && JSON.stringify(before) !== JSON.stringify(schema)) {
    throw new Error(`the document has two schemas named ${name}`);
  }
  components.set(name, schema);
}

/** Rewrites references to `$defs` as references to the components. */
function rewriteReferences<T>(schema: T): T {
  if (Array.isArray(schema)) return schema.map((item: unknown) => rewriteReferences(item)) as T;
  if (typeof schema !== 'object' || schema === null) return schema;
  if ('$ref' in schema && UNNAMED.test(String(schema.$ref).replace(DEFINITIONS, ''))) return {} as T;
  return Object.fromEntries(
    Object.entries(schema).map(([member, value]: [string, unknown]) => [
      member,
      member === '$ref' ? String(value).replace(DEFINITIONS, '#/components/schemas/') : rewriteReferences(value),
    ]),
  ) as T;
}
