/**
 * Arranges the OpenAPI document in reading order, as blocks. The page /docs, the admin app and the pages of docs/api
 * show the same blocks.
 */
import type { OpenApiDocument } from './document.js';
import type { JsonSchema } from './json-schema.js';

interface Member {
  name: string;
  /** The type in words: `array of string or null`. Names of schemas are in angle brackets: `<Field>`. */
  type: string;
  required: boolean;
  description: string;
}

export interface OutlinedParameter extends Member {
  /** The location: `path`, `query` or `header`. */
  in: string;
}

export interface OutlinedOperation {
  id: string;
  /** The method: `GET`. */
  method: string;
  path: string;
  summary: string;
  description: string;
  parameters: OutlinedParameter[];
  /** Undefined if the operation takes no body. */
  body: { type: string; media: string[]; example: unknown } | undefined;
  answers: { status: string; type: string; refusal: boolean }[];
}

export interface Outline {
  tags: { name: string; description: string; operations: OutlinedOperation[] }[];
  shapes: OutlinedShape[];
}

export interface OutlinedShape {
  name: string;
  description: string;
  members: Member[];
  type: string;
}

/** Prose has code in backticks. A type has names of shapes in angle brackets. */
export type Inline = { prose: string } | { code: string } | { type: string };

export interface Table {
  kind: 'table';
  title: string;
  head: readonly string[];
  rows: Inline[][];
}

export type Block = { kind: 'paragraph'; content: Inline[] } | { kind: 'example'; json: string } | Table;

const paragraph = (...content: Inline[]): Block => ({ kind: 'paragraph', content });

/**
 * Returns the parameters, body and responses of an operation. Headers and errors are described only once, by
 * `headerTable` and `errorTable`.
 */
export function operationBlocks({ description, parameters, body, answers }: OutlinedOperation): Block[] {
  const blocks: Block[] = [];
  if (description !== '') blocks.push(paragraph({ prose: description }));
  const own = parameters.filter((parameter) => parameter.in !== 'header');
  if (own.length > 0) blocks.push(membersTable('Parameters', 'In', own));
  const headers = parameters.filter((parameter) => parameter.in === 'header').map(({ name }) => `\`${name}\``);
  if (headers.length > 0) blocks.push(paragraph({ prose: `Headers: ${headers.join(', ')}.` }));
  if (body !== undefined) {
    const media = body.media.map((type) => `\`${type}\``).join(', ');
    blocks.push(paragraph({ prose: 'Body: ' }, { type: body.type }, { prose: ` as ${media}.` }));
    if (body.example !== undefined) blocks.push({ kind: 'example', json: JSON.stringify(body.example, null, 2) });
  }
  const rows = answers.filter(({ refusal }) => !refusal).map(({ status, type }) => [{ prose: status }, { type }]);
  blocks.push({ kind: 'table', title: 'Responses', head: ['Status', 'Content'], rows });
  const errors = answers.filter(({ refusal }) => refusal).map(({ status }) => status);
  if (errors.length > 0) blocks.push(paragraph({ prose: `Errors: ${errors.join(', ')}.` }));
  return blocks;
}

export function shapeBlocks({ description, members, type }: OutlinedShape): Block[] {
  return [
    ...(description === '' ? [] : [paragraph({ prose: description })]),
    members.length === 0 ? paragraph({ type }) : membersTable('Members', 'Required', members),
  ];
}

function membersTable(title: string, second: string, members: readonly (Member | OutlinedParameter)[]): Table {
  const rows = members.map((member): Inline[] => [
    { code: member.name },
    { prose: 'in' in member ? member.in : member.required ? 'required' : 'optional' },
    { type: member.type },
    { prose: member.description },
  ]);
  return { kind: 'table', title, head: ['Name', second, 'Type', 'Description'], rows };
}

/** Returns the request headers. They have the same meaning for every operation. */
export function headerTable({ tags }: Outline): Table {
  const all = tags.flatMap(({ operations }) => operations.flatMap(({ parameters }) => parameters));
  const headers = new Map(
    all.filter((parameter) => parameter.in === 'header').map((parameter) => [parameter.name, parameter]),
  );
  const rows = [...headers.values()].map(({ name, description }) => [{ code: name }, { prose: description }]);
  return { kind: 'table', title: 'Request headers', head: ['Name', 'Description'], rows };
}

/** Returns a table with the codes of each error status. */
export function errorTable({ tags }: Outline): Table {
  const answers = tags.flatMap(({ operations }) => operations.flatMap((operation) => operation.answers));
  const codes = new Map(answers.filter(({ refusal }) => refusal).map(({ status, type }) => [status, type]));
  const rows = [...codes]
    .sort(([a], [b]) => Number(a) - Number(b))
    .map(([status, type]) => [{ prose: status }, { prose: type }]);
  return { kind: 'table', title: 'Errors', head: ['Status', 'Codes'], rows };
}

/** Returns tags, operations and schemas in document order. */
export function outlineOf(document: OpenApiDocument): Outline {
  const { paths, components } = document;
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
  const tags = document['tags'] as { name: string; description: string }[];
  return {
    tags: tags.map(({ name, description }) => ({
      name,
      description,
      operations: all
        .filter(({ operation }) => (operation['tags'] as string[]).includes(name))
        .map((operation) => outlinedOperation(operation, components)),
    })),
    shapes: Object.entries(components['schemas'] ?? {}).map(([name, schema]) => ({
      name,
      description: textOf(schema['description']),
      members: membersOf(schema),
      type: schema['properties'] === undefined ? typeOf(schema) : 'object',
    })),
  };
}

interface LocatedOperation {
  method: string;
  path: string;
  operation: JsonSchema;
}

function outlinedOperation(
  { method, path, operation }: LocatedOperation,
  components: OpenApiDocument['components'],
): OutlinedOperation {
  const parameters = operation['parameters'] as {
    name: string;
    in: string;
    schema: JsonSchema;
    description?: string;
  }[];
  return {
    id: textOf(operation['operationId']),
    method,
    path,
    summary: textOf(operation['summary']),
    description: textOf(operation['description']),
    parameters: parameters.map(({ name, in: location, schema, description = '' }) => ({
      name,
      in: location,
      type: typeOf(schema),
      required: location === 'path',
      description,
    })),
    body: bodyOf(operation['requestBody'] as JsonSchema | undefined, components['schemas'] ?? {}),
    answers: Object.entries(operation['responses'] as Record<string, JsonSchema>).map(([status, response]) => ({
      status,
      type: answerOf(response, components['responses'] ?? {}),
      refusal: response['$ref'] !== undefined,
    })),
  };
}

type Content = Record<string, { schema: JsonSchema; example?: unknown }>;

/** Returns the body with the example of the operation, or otherwise that of the schema. */
function bodyOf(body: JsonSchema | undefined, shapes: Record<string, JsonSchema>): OutlinedOperation['body'] {
  if (body === undefined) return undefined;
  const content = body['content'] as Content;
  const json = content['application/json'];
  const schema = json?.schema ?? {};
  return { type: typeOf(schema), media: Object.keys(content), example: json?.example ?? exampleOf(schema, shapes) };
}

/** Returns the example of the first schema that has one. */
function exampleOf(schema: JsonSchema, shapes: Record<string, JsonSchema>): unknown {
  const [first = schema] = unionOf(schema) ?? [];
  const shape = shapes[textOf(first['$ref']).replace('#/components/schemas/', '')];
  return ((shape?.['examples'] ?? []) as unknown[])[0];
}

const unionOf = (schema: JsonSchema) => (schema['oneOf'] ?? schema['anyOf']) as JsonSchema[] | undefined;

function answerOf(response: JsonSchema, refusals: Record<string, JsonSchema>): string {
  const name = textOf(response['$ref']).replace('#/components/responses/', '');
  if (name !== '') return textOf(refusals[name]?.['description']);
  const content = response['content'] as Content | undefined;
  if (content === undefined) return textOf(response['description']);
  return Object.entries(content)
    .map(([media, { schema }]) => (media === 'application/json' ? typeOf(schema) : media))
    .join('; ');
}

function membersOf(schema: JsonSchema): Member[] {
  const required = (schema['required'] ?? []) as string[];
  return Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>).map(([name, member]) => ({
    name,
    type: typeOf(member),
    required: required.includes(name),
    description: textOf(member['description']),
  }));
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Returns a short text for a schema. */
function typeOf(schema: JsonSchema): string {
  const { $ref, const: constant, enum: choices, items, properties } = schema;
  const union = unionOf(schema);
  if (typeof $ref === 'string') return `<${$ref.slice($ref.lastIndexOf('/') + 1)}>`;
  if (union !== undefined) return [...new Set(union.map(typeOf))].join(' or ');
  if (constant !== undefined) return JSON.stringify(constant);
  if (Array.isArray(choices)) return choices.map((choice) => JSON.stringify(choice)).join(' or ');
  if (items !== undefined) return `array of ${typeOf(items as JsonSchema)}`;
  if (properties !== undefined) return objectType(schema);
  const types = [schema['type'] ?? []].flat() as string[];
  const format = textOf(schema['format']);
  const named = types.map((type) => (format === '' || type === 'null' ? type : `${type} (${format})`));
  return named.join(' or ') || 'any JSON';
}

/** Returns a string for an object. A small object is shown completely. */
function objectType(schema: JsonSchema): string {
  const members = membersOf(schema);
  if (members.length > 4) return 'object';
  return `{ ${members.map(({ name, type, required }) => `${name}${required ? '' : '?'}: ${type}`).join(', ')} }`;
}
