/** Writes the schema as zod schemas of the items of each collection. */
import type { Texts } from '../../kernel/bytes.js';
import { textLiteral } from './outline.js';
import type { ItemField, Outline } from './outline.js';
import { type ValueKind, isNullable, valueKind } from './values.js';

const TYPES: Readonly<Record<ValueKind, string>> = {
  text: 'z.string()',
  number: 'z.number()',
  numeric: 'z.union([z.string(), z.number()])',
  boolean: 'z.boolean()',
  texts: 'z.array(z.string())',
  json: 'z.unknown()',
  anything: 'z.unknown()',
};

/** Yields the module for zod 4 in pieces, with its imports. @param hash of the snapshot */
export function* zodOf(outline: Outline, hash: string): Texts {
  yield `// Schema ${hash}\n// Written by the service. Changes are made there.\nimport { z } from 'zod';\n\n`;
  yield 'export const schemas = {\n';
  for (const { collection, fields } of outline.items) {
    yield `  [${textLiteral(collection)}]: z.object({\n`;
    for (const each of fields) yield `    [${textLiteral(each.field.field)}]: ${valueOf(each)},\n`;
    yield '  }),\n';
  }
  yield `};\n\nexport const SCHEMA_HASH = ${textLiteral(hash)};\n`;
}

/** Related items are objects, whichever of their fields were requested. */
function valueOf({ field, target }: ItemField): string {
  const key = TYPES[valueKind(field)];
  if (target?.kind === 'many') return 'z.array(z.unknown()).optional()';
  const value = target === null ? key : `z.union([${key}, z.record(z.string(), z.unknown())])`;
  return isNullable(field) ? `${value}.nullable()` : value;
}
