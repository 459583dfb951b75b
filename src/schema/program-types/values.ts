/** What a field holds, as a program sees it over HTTP. */
import type { Field } from '../model/model.js';

/** `number`: one that fits JavaScript. `numeric`: as text where it doesn't. */
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

/** `anything` for types that the service doesn't know. */
export function valueKind({ type }: Pick<Field, 'type'>): ValueKind {
  if (Object.hasOwn(KINDS, type)) return KINDS[type] as ValueKind;
  return type.startsWith('geometry') ? 'json' : 'anything';
}

/** Whether its value may be null when an item is read, as that of an alias may. */
export const isNullable = ({ schema }: Field): boolean =>
  schema === null || (schema.is_nullable && !schema.is_primary_key);
