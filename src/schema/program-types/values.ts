/** The value of a field as a program receives it over HTTP. */
import type { Field } from '../model/model.js';

/** `number`: fits a JavaScript number. `numeric`: is text if it does not fit. */
export type ValueKind = 'text' | 'number' | 'numeric' | 'boolean' | 'json' | 'texts' | 'anything';

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

/** `anything` for unsupported types. */
export function valueKind({ type }: Pick<Field, 'type'>): ValueKind {
  if (Object.hasOwn(KINDS, type)) return KINDS[type] as ValueKind;
  return type.startsWith('geometry') ? 'json' : 'anything';
}

/** True if the value may be null when an item is read, as for aliases. */
export const isNullable = ({ schema }: Field): boolean =>
  schema === null || (schema.is_nullable && !schema.is_primary_key);
