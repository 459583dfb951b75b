/** The document of a change request, as far as it is a diff. */
import { isObject } from '../../../../kernel/json.js';
import type { Acknowledgement } from '../../../../schema/policy/index.js';
import type { Applying } from '../../../service/review-queries.js';
import type { ChangeRequest, SchemaDiff } from '../../../service/types.js';

/** Null: the document is another operation, or it was erased. */
export function askedFor(content: unknown): Partial<SchemaDiff> | null {
  const input = memberOf(content, 'input');
  const diff = memberOf(memberOf(input, 'body'), 'diff');
  return isObject(diff) ? diff : null;
}

/** The request as an apply onto the schema that has `hash`. Null where its document is not a diff. */
export function applyingOf(
  { document, online }: Pick<ChangeRequest, 'document' | 'online'>,
  hash: string,
): Applying | null {
  const { content } = document;
  const diff = askedFor(content);
  if (diff === null) return null;
  const acknowledged = memberOf(content, 'acknowledged');
  return {
    hash,
    diff: () => diff,
    online,
    purge: memberOf(content, 'purge') === true,
    ...(Array.isArray(acknowledged) && { acknowledge: acknowledged as Acknowledgement[] }),
  };
}

const memberOf = (value: unknown, member: string): unknown => (isObject(value) ? value[member] : undefined);
