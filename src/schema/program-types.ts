/* Generates type definitions of a state for a programming language. */
import { type Texts, bytes } from '../kernel/bytes.js';
import type { Resumable } from '../kernel/resumable.js';
import { type State, type CollectionNode, isFolder, primaryKeyOf, relationsTo, byName } from './model/state.js';
import { snapshotHash } from './snapshot/snapshot.js';
import type { Field, Relation } from './model/model.js';
import { collectionsInOrder, fieldsInOrder } from './model/order.js';

/* The value of a field as a program receives it over HTTP. */

/** `number` always fits a JavaScript number. `numeric` is text if it does not fit. */
type ValueKind = 'text' | 'number' | 'numeric' | 'boolean' | 'json' | 'texts' | 'anything';

const KINDS: Readonly<Record<string, ValueKind>> = {
  string: 'text',
  text: 'text',
  uuid: 'text',
  hash: 'text',
  binary: 'text',
  date: 'text',
  time: 'text',
  dateTime: 'text',
  timestamp: 'text',
  integer: 'number',
  float: 'number',
  bigInteger: 'numeric',
  decimal: 'numeric',
  boolean: 'boolean',
  csv: 'texts',
  json: 'json',
};

/** Returns `anything` for unsupported types. */
function valueKind({ type }: Pick<Field, 'type'>): ValueKind {
  if (Object.hasOwn(KINDS, type)) return KINDS[type] as ValueKind;
  return type.startsWith('geometry') ? 'json' : 'anything';
}

/** True if the value may be null when an item is read, as for aliases. */
const isNullable = ({ schema }: Field): boolean => schema === null || (schema.is_nullable && !schema.is_primary_key);

/* The part of the schema that programs see, for all languages. */

/* Safe names of collections and fields in programs. */

const IDENTIFIER = /^[A-Za-z_$][A-Za-z0-9_$]*$/;

/** Returns a member name, quoted if necessary. JSON does not escape some line terminators, which are escaped here. */
function memberName(name: string): string {
  return IDENTIFIER.test(name) && name !== '__proto__' ? name : textLiteral(name);
}

/** A string literal of TypeScript and JSON. */
const textLiteral = (text: string): string =>
  JSON.stringify(text).replaceAll(/[\u2028\u2029\u007f-\u009f]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });

/** Returns a string that fits in one line of a comment and cannot end the comment. */
const commentText = (text: string): string =>
  text
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .replaceAll('*/', '*\\/')
    .trim();

/** Type names that the generated program uses itself and that a collection name could also produce. */
const TAKEN: readonly string[] = ['Schema', 'Record', 'Array', 'Object', 'Json'];

/** Returns a unique type name for each collection: `blog_posts` becomes `BlogPosts`. */
export function typeNames(collections: Iterable<string>): ReadonlyMap<string, string> {
  // Number of uses per name. Names never contain the underscore before a number, so numbered names are unique.
  const taken = new Map(TAKEN.map((name) => [name, 1]));
  const names = new Map<string, string>();
  for (const collection of [...collections].sort(byName)) {
    const words = collection.split(/[^A-Za-z0-9]+/);
    const joined = words.map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`).join('');
    const name = /^[A-Za-z]/.test(joined) ? joined : `Collection${joined}`;
    const number = (taken.get(name) ?? 0) + 1;
    taken.set(name, number);
    names.set(collection, number === 1 ? name : `${name}_${number}`);
  }
  return names;
}

interface ItemType {
  collection: string;
  /** The name of the generated type. */
  name: string;
  singleton: boolean;
  note: string | null;
  fields: ItemField[];
}

interface ItemField {
  field: Field;
  /** The collections of the related items. Null if the field holds a value. */
  target: { kind: 'one' | 'many'; collections: readonly string[] } | null;
}

interface Outline {
  items: ItemType[];
  /** Type names, by collection. */
  names: ReadonlyMap<string, string>;
  /** Returns the primary key of a collection. Undefined if it has no table. */
  keyOf(collection: string): Field | undefined;
}

/** Contains only tables, because folders have no items. */
function* outlineOf(state: State): Resumable<Outline> {
  const nodes = collectionsInOrder(state).filter((node) => !isFolder(node));
  const names = typeNames(nodes.map(({ collection: { collection } }) => collection));
  const items: ItemType[] = [];
  for (const node of nodes) {
    const { collection, meta } = node.collection;
    const toMany = aliasesOf(state, node);
    const fields: ItemField[] = [];
    for (const field of fieldsInOrder(node)) {
      const target = targetOf(field, node.relations.get(field.field), toMany);
      // Skips aliases without a relation, because they hold no value.
      if (field.schema !== null || target !== null) fields.push({ field, target });
      yield;
    }
    items.push({ collection, name: names.get(collection) ?? '', singleton: meta.singleton, note: meta.note, fields });
    yield;
  }
  const keyOf = (collection: string): Field | undefined => {
    const node = state.collections.get(collection);
    return node === undefined ? undefined : primaryKeyOf(node)[0];
  };
  return { items, names, keyOf };
}

/** Returns the collections whose items an alias field lists, by field. */
function aliasesOf(state: State, { collection: { collection } }: CollectionNode): ReadonlyMap<string, string> {
  const aliases = new Map<string, string>();
  for (const { one_collection, one_field, many_collection } of relationsTo(state, collection)) {
    if (one_collection === collection && one_field !== null) aliases.set(one_field, many_collection);
  }
  return aliases;
}

function targetOf(
  { field, schema }: Field,
  relation: Relation | undefined,
  toMany: ReadonlyMap<string, string>,
): ItemField['target'] {
  const many = toMany.get(field);
  if (schema === null) return many === undefined ? null : { kind: 'many', collections: [many] };
  if (relation === undefined) return null;
  const { one_collection, one_allowed_collections } = relation;
  return { kind: 'one', collections: one_collection === null ? (one_allowed_collections ?? []) : [one_collection] };
}

/* Writes the schema as JSON Schema (2020-12), with a definition for the items of each collection. */

const TYPES: Readonly<Record<ValueKind, readonly string[] | null>> = {
  text: ['string'],
  number: ['number'],
  numeric: ['string', 'number'],
  boolean: ['boolean'],
  texts: ['array'],
  json: null,
  anything: null,
};

/** Yields the document in pieces, one line per field. @param hash of the snapshot */
function* jsonSchemaOf(outline: Outline, hash: string): Texts {
  yield `{ "$comment": ${textLiteral(`Schema ${hash}`)},\n"$schema": "https://json-schema.org/draft/2020-12/schema",\n"$defs": {`;
  let before = '\n';
  for (const { collection, note, fields } of outline.items) {
    const title = note === null ? '' : `"description": ${textLiteral(note)}, `;
    yield `${before}${textLiteral(collection)}: { ${title}"type": "object", "properties": {`;
    let comma = '\n  ';
    for (const each of fields) {
      yield `${comma}${textLiteral(each.field.field)}: ${JSON.stringify(valueOf(each))}`;
      comma = ',\n  ';
    }
    const required = fields
      .filter(({ target }) => target?.kind !== 'many')
      .map(({ field }) => textLiteral(field.field));
    yield ` }, "required": [${required.join(', ')}] }`;
    before = ',\n';
  }
  yield '\n} }\n';
}

function valueOf({ field, target }: ItemField): object {
  const note = field.meta.note === null ? {} : { description: field.meta.note };
  if (target?.kind === 'many') return { type: 'array', ...note };
  const types = TYPES[valueKind(field)];
  if (types === null) return note;
  // Related items are objects, whichever of their fields were requested.
  const all = [...types, ...(target === null ? [] : ['object']), ...(isNullable(field) ? ['null'] : [])];
  const items = valueKind(field) === 'texts' ? { items: { type: 'string' } } : {};
  return { type: all.length === 1 ? (all[0] as string) : all, ...items, ...note };
}

/* Writes the schema as TypeScript for the Directus SDK, with an interface per collection. */

const TYPESCRIPT_TYPES: Readonly<Record<ValueKind, string>> = {
  text: 'string',
  number: 'number',
  numeric: 'string | number',
  boolean: 'boolean',
  texts: 'string[]',
  json: 'unknown',
  anything: 'unknown',
};

/** @param hash of the schema */
function* typescriptOf(outline: Outline, hash: string): Texts {
  yield `// Schema ${hash}\n// Generated by the service. Do not edit this file: change the schema in the service.\n`;
  for (const { name, note, fields } of outline.items) {
    yield `\n${comment(note, '')}export interface ${name} {\n`;
    for (const each of fields) yield `${comment(each.field.meta.note, '  ')}  ${memberOf(each, outline)}\n`;
    yield '}\n';
  }
  yield '\n/** For createDirectus<Schema>(). */\nexport interface Schema {\n';
  for (const { collection, name, singleton } of outline.items)
    yield `  ${memberName(collection)}: ${singleton ? name : `${name}[]`};\n`;
  yield `}\n\nexport const SCHEMA_HASH = ${textLiteral(hash)};\n`;
}

const comment = (note: string | null, indent: string): string =>
  note === null || commentText(note) === '' ? '' : `${indent}/** ${commentText(note)} */\n`;

function memberOf({ field, target }: ItemField, outline: Outline): string {
  const value = target === null ? TYPESCRIPT_TYPES[valueKind(field)] : targetType({ field, target }, outline);
  const isSaid = value === 'unknown' || target?.kind === 'many' || !isNullable(field);
  return `${memberName(field.field)}: ${isSaid ? value : `${value} | null`};`;
}

type RelatedField = ItemField & { target: NonNullable<ItemField['target']> };

/** Returns the type of the item, or of its key if the item is not fetched. */
function targetType({ field, target }: RelatedField, { names, keyOf }: Outline): string {
  const items = target.collections.flatMap((collection) => names.get(collection) ?? []);
  const keyField = target.kind === 'one' ? field : keyOf(target.collections[0] ?? '');
  const key = keyField === undefined ? 'unknown' : TYPESCRIPT_TYPES[valueKind(keyField)];
  if (key === 'unknown' || target.kind === 'one') return key === 'unknown' ? key : [...items, key].join(' | ');
  return `(${[...items, key].join(' | ')})[]`;
}

/* Writes the schema as zod schemas of the items of each collection. */

const ZOD_TYPES: Readonly<Record<ValueKind, string>> = {
  text: 'z.string()',
  number: 'z.number()',
  numeric: 'z.union([z.string(), z.number()])',
  boolean: 'z.boolean()',
  texts: 'z.array(z.string())',
  json: 'z.unknown()',
  anything: 'z.unknown()',
};

/** Yields the module for zod 4 in pieces, with its imports. @param hash of the snapshot */
function* zodOf(outline: Outline, hash: string): Texts {
  yield `// Schema ${hash}\n// Generated by the service. Do not edit this file: change the schema in the service.\nimport { z } from 'zod';\n\n`;
  yield 'export const schemas = {\n';
  for (const { collection, fields } of outline.items) {
    yield `  [${textLiteral(collection)}]: z.object({\n`;
    for (const each of fields) yield `    [${textLiteral(each.field.field)}]: ${zodTypeOf(each)},\n`;
    yield '  }),\n';
  }
  yield `};\n\nexport const SCHEMA_HASH = ${textLiteral(hash)};\n`;
}

/** Related items are objects, whichever of their fields were requested. */
function zodTypeOf({ field, target }: ItemField): string {
  const key = ZOD_TYPES[valueKind(field)];
  if (target?.kind === 'many') return 'z.array(z.unknown()).optional()';
  const value = target === null ? key : `z.union([${key}, z.record(z.string(), z.unknown())])`;
  return isNullable(field) ? `${value}.nullable()` : value;
}

export const LANGUAGES = ['ts', 'zod', 'json-schema'] as const;
export type Language = (typeof LANGUAGES)[number];

const WRITERS: Readonly<Record<Language, (outline: Outline, hash: string) => Texts>> = {
  ts: typescriptOf,
  zod: zodOf,
  'json-schema': jsonSchemaOf,
};

/** Equal schemas produce equal bytes. The first line contains the hash. */
export function* programTypes(state: State, language: Language, release: string): Resumable<Buffer> {
  const outline = yield* outlineOf(state);
  return yield* bytes(WRITERS[language](outline, yield* snapshotHash(state, release)));
}
