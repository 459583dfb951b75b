/** Reads the diff in the document of a change request. */
import { isObject } from '../../../../kernel/json.js';
import type { Acknowledgement } from '../../../../schema/policy.js';
import type { Policy } from '../../../service/operations-queries.js';
import type { ApplyInput } from '../../../service/review-queries.js';
import type { ChangeRequest, SchemaDiff } from '../../../service/types.js';
import { byCollection, type Item, itemsOf } from './items.js';
import type { Located } from './plan.js';

/** The part of a review that shows the changes. A change request has it too, although nothing of it can be excluded. */
export interface ShownChange {
  original: Partial<SchemaDiff>;
  items: readonly Item[];
  /** Grouped by collection. */
  groups: readonly (readonly [collection: string, items: readonly Item[]])[];
  /** Keys of excluded items and members. */
  leftOut: ReadonlySet<string>;
  leave: (keys: readonly string[], isOut: boolean) => void;
  problems: Located;
  applying: ApplyInput;
  /** The reason. */
  why: string;
}

/** Null if the document was erased or contains another operation. */
function requestedDiff(content: unknown): Partial<SchemaDiff> | null {
  const input = memberOf(content, 'input');
  const diff = memberOf(memberOf(input, 'body'), 'diff');
  return isObject(diff) ? diff : null;
}

/** The policy that the request proposes. Null if it changes the schema, or its document was erased. */
export function requestedPolicy({ operation, document: { content } }: ChangeRequest): Policy | null {
  const policy = operation === 'update-policy' ? memberOf(memberOf(content, 'input'), 'policy') : undefined;
  return isObject(policy) ? (policy as Policy) : null;
}

/** Returns the request as an apply to the schema with `hash`. Null if its document is not a diff. */
export function applyingOf(
  { document, online }: Pick<ChangeRequest, 'document' | 'online'>,
  hash: string,
): ApplyInput | null {
  const { content } = document;
  const diff = requestedDiff(content);
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

/** Returns the changes of the request as a review shows them. Null if its document is not a diff. */
export function shownChangeOf(request: Pick<ChangeRequest, 'document' | 'online' | 'reason'>): ShownChange | null {
  const input = memberOf(request.document.content, 'input');
  const hash = memberOf(memberOf(input, 'body'), 'hash');
  const applying = applyingOf(request, typeof hash === 'string' ? hash : '');
  const original = requestedDiff(request.document.content);
  if (applying === null || original === null) return null;
  const items = itemsOf(original);
  return { original, items, groups: byCollection(items), applying, why: request.reason ?? '', ...EVERYTHING };
}

/** Nothing of a change request can be excluded. */
const EVERYTHING: Pick<ShownChange, 'leftOut' | 'leave' | 'problems'> = {
  leftOut: new Set(),
  leave: () => undefined,
  problems: { at: new Map(), elsewhere: [] },
};

const memberOf = (value: unknown, member: string): unknown => (isObject(value) ? value[member] : undefined);
