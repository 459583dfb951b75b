/** Writes the schema as TypeScript for the Directus SDK, with an interface per collection. */
import type { Texts } from '../../kernel/bytes.js';
import { commentText, memberName, textLiteral } from './outline.js';
import type { ItemField, Outline } from './outline.js';
import { type ValueKind, isNullable, valueKind } from './values.js';

const TYPES: Readonly<Record<ValueKind, string>> = {
  text: 'string',
  number: 'number',
  numeric: 'string | number',
  boolean: 'boolean',
  texts: 'string[]',
  json: 'unknown',
  anything: 'unknown',
};

/** @param hash of the schema */
export function* typescriptOf(outline: Outline, hash: string): Texts {
  yield `// Schema ${hash}\n// Written by the service. Changes are made there.\n`;
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
  const value = target === null ? TYPES[valueKind(field)] : targetType({ field, target }, outline);
  const isSaid = value === 'unknown' || target?.kind === 'many' || !isNullable(field);
  return `${memberName(field.field)}: ${isSaid ? value : `${value} | null`};`;
}

type Related = ItemField & { target: NonNullable<ItemField['target']> };

/** The item, or its key if it is not fetched. */
function targetType({ field, target }: Related, { names, keyOf }: Outline): string {
  const items = target.collections.flatMap((collection) => names.get(collection) ?? []);
  const keyField = target.kind === 'one' ? field : keyOf(target.collections[0] ?? '');
  const key = keyField === undefined ? 'unknown' : TYPES[valueKind(keyField)];
  if (key === 'unknown' || target.kind === 'one') return key === 'unknown' ? key : [...items, key].join(' | ');
  return `(${[...items, key].join(' | ')})[]`;
}
