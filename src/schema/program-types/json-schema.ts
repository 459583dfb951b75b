/** Writes the schema as JSON Schema (2020-12), with a definition for the items of each collection. */
import type { Texts } from '../../kernel/bytes.js';
import { textLiteral } from './outline.js';
import type { ItemField, Outline } from './outline.js';
import { type ValueKind, isNullable, valueKind } from './values.js';

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
export function* jsonSchemaOf(outline: Outline, hash: string): Texts {
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
