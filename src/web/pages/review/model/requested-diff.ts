/** Reads the diff in the document of a change request. */
import { isObject } from '../../../../kernel/json.js';
import { locationText } from '../../../../schema/model/location.js';
import { keyOf, type Acknowledgement, type Policy as SchemaPolicy } from '../../../../schema/policy.js';
import type { Policy } from '../../../service/operations-queries.js';
import type { ApplyInput } from '../../../service/review-queries.js';
import type { ChangeRequest, Finding, SchemaDiff } from '../../../service/types.js';
import { locale } from '../../../shared/language.js';
import { ACTION_WORDS, BY_LEVEL, POLICY_CHANGE_WORDS, POLICY_WORDS } from '../../../shared/policy-words.js';
import { byCollection, type Item, itemsOf } from './items.js';
import { messages } from './messages.js';
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

/* The findings that the policy blocks, their acknowledgements, and the changes of a proposed policy. */

/** The acknowledgement text of a finding: `LOSES_DATA:articles.title`. */
export const acknowledgementText = ({ code, ...place }: Finding): string => keyOf({ code, place: locationText(place) });

const STOPPING: ReadonlySet<string | undefined> = new Set(['acknowledge', 'approve', 'refuse']);

export interface Stop {
  key: string;
  finding: Finding;
  /** True if an acknowledgement is enough. */
  canBeKnown: boolean;
  isKnown: boolean;
}

/** Returns the findings that block the change, with each location of a code once. Rejections come first. */
export function stopsOf(findings: readonly Finding[], acknowledged: ReadonlySet<string>): Stop[] {
  const stops = new Map<string, Stop>();
  for (const finding of findings) {
    if (!STOPPING.has(finding.action)) continue;
    const key = acknowledgementText(finding);
    const canBeKnown = finding.action === 'acknowledge';
    if (!stops.has(key)) stops.set(key, { key, finding, canBeKnown, isKnown: canBeKnown && acknowledged.has(key) });
  }
  return [...stops.values()].sort((one, other) => Number(one.canBeKnown) - Number(other.canBeKnown));
}

/** Returns the acknowledgements to send: those of findings that the user acknowledged. */
export const acknowledgementsOf = (stops: readonly Stop[]): Acknowledgement[] =>
  stops
    .filter(({ isKnown }) => isKnown)
    .map(({ finding: { code, ...place } }) => ({ code, place: locationText(place) }));

/** A member of a policy that differs. */
export interface PolicyChange {
  /** The name of a member, of a code, or of a pattern with a code. */
  name: string;
  from: string;
  to: string;
}

/** Returns the members that differ, in the order of the policy page. */
export function policyChanges(from: SchemaPolicy, to: SchemaPolicy): PolicyChange[] {
  const [before, after] = [textsOf(from), textsOf(to)];
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].flatMap((name) => {
    const none = name in to.findings || name in from.findings ? BY_LEVEL : NO_RULE;
    const change = { name, from: before.get(name) ?? none, to: after.get(name) ?? none };
    return change.from === change.to ? [] : [change];
  });
}

const NO_RULE = messages.policy.noRule;

function textsOf(policy: SchemaPolicy): Map<string, string> {
  const { approvals, online_above_rows: rows, author_may_approve: mayApprove, policy_changes: changes } = policy;
  const { yes, no, codeIn, order } = messages.policy;
  const texts = new Map<string, string>([
    [POLICY_WORDS.approvals, String(approvals)],
    [POLICY_WORDS.online_above_rows, rows === null ? NO_RULE : rows.toLocaleString(locale)],
    [POLICY_WORDS.author_may_approve, mayApprove ? yes : no],
    [POLICY_WORDS.requires_reason, policy.requires_reason ? yes : no],
    [POLICY_WORDS.policy_changes, POLICY_CHANGE_WORDS[changes]],
  ]);
  for (const [code, action] of Object.entries(policy.findings)) texts.set(code, ACTION_WORDS[action]);
  for (const { pattern, findings } of policy.collections) {
    for (const [code, action] of Object.entries(findings)) {
      const name = codeIn(code, pattern);
      // Only the first rule for a pattern and a code applies.
      if (!texts.has(name)) texts.set(name, ACTION_WORDS[action]);
    }
  }
  const patterns = new Set(policy.collections.map(({ pattern }) => pattern));
  if (patterns.size > 1) texts.set(order, [...patterns].join(', '));
  return texts;
}
