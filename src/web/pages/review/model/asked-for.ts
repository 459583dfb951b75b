/** What a change request asks for, where that is a diff. */
import { isObject } from '../../../../kernel/json.js';
import type { SchemaDiff } from '../../../service/types.js';

/** Null: it is another operation, or it was erased. */
export function askedFor(content: unknown): Partial<SchemaDiff> | null {
  const input = memberOf(content, 'input');
  const diff = memberOf(memberOf(input, 'body'), 'diff');
  return isObject(diff) ? diff : null;
}

const memberOf = (value: unknown, member: string): unknown => (isObject(value) ? value[member] : undefined);
