/** Converts `meta` of other systems: known members with values that we can store. */
import { isObject } from '../../kernel/json.js';
import { Wrong } from '../normal-form/checks.js';
import type { CheckTable } from '../normal-form/overlay.js';
import type { Import, Place } from './context.js';
import { quotedPath, warn, warnOfMember } from './reading.js';

/** Members that repeat other data, or only concern the other instance. */
const REPEATED: ReadonlySet<string> = new Set(['id', 'collection', 'field', 'system']);

export interface MetaInput {
  part: 'collections' | 'fields';
  table: CheckTable;
  place: Place;
}

/** Undefined if there is none. */
export function readMeta(
  given: unknown,
  { part, table, place }: MetaInput,
  into: Import,
): Record<string, unknown> | undefined {
  if (!isObject(given)) return undefined;
  const meta: Record<string, unknown> = {};
  for (const name of Object.keys(given)) {
    if (REPEATED.has(name)) continue;
    const check = table.get(name);
    if (check === undefined) {
      warnOfMember(into, part, `meta.${name}`);
      continue;
    }
    const value = check(given[name], true);
    if (value instanceof Wrong) warnOfValue(into, place, `meta.${name}`, value);
    else meta[name] = value;
  }
  return meta;
}

/** VALUE_LEFT_OUT, for each document with such a value. */
export function warnOfValue(into: Import, place: Place, member: string, { message }: Wrong): void {
  const owner = quotedPath(...[place.collection, place.field].filter((name) => name !== undefined));
  warn(into, 'VALUE_LEFT_OUT', place, `The value of ${member} of ${owner} was left out: it ${message}.`);
}
