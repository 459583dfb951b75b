/** The findings that the policy blocks, their acknowledgements, and the changes of a proposed policy. */
import { locationText } from '../../../../schema/model/location.js';
import { keyOf, type Acknowledgement, type Policy } from '../../../../schema/policy.js';
import type { Finding } from '../../../service/types.js';
import { ACTION_WORDS, BY_LEVEL, POLICY_CHANGE_WORDS, POLICY_WORDS } from '../../../shared/policy-words.js';
import { locale } from '../../../shared/language.js';

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
export function policyChanges(from: Policy, to: Policy): PolicyChange[] {
  const [before, after] = [textsOf(from), textsOf(to)];
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].flatMap((name) => {
    const none = name in to.findings || name in from.findings ? BY_LEVEL : NO_RULE;
    const change = { name, from: before.get(name) ?? none, to: after.get(name) ?? none };
    return change.from === change.to ? [] : [change];
  });
}

const NO_RULE = 'no rule';

function textsOf(policy: Policy): Map<string, string> {
  const { approvals, online_above_rows: rows, author_may_approve: mayApprove, policy_changes: changes } = policy;
  const texts = new Map<string, string>([
    [POLICY_WORDS.approvals, String(approvals)],
    [POLICY_WORDS.online_above_rows, rows === null ? NO_RULE : rows.toLocaleString(locale)],
    [POLICY_WORDS.author_may_approve, mayApprove ? 'yes' : 'no'],
    [POLICY_WORDS.requires_reason, policy.requires_reason ? 'yes' : 'no'],
    [POLICY_WORDS.policy_changes, POLICY_CHANGE_WORDS[changes]],
  ]);
  for (const [code, action] of Object.entries(policy.findings)) texts.set(code, ACTION_WORDS[action]);
  for (const { pattern, findings } of policy.collections) {
    for (const [code, action] of Object.entries(findings)) {
      const name = `${code} in ${pattern}`;
      // Only the first rule for a pattern and a code applies.
      if (!texts.has(name)) texts.set(name, ACTION_WORDS[action]);
    }
  }
  const patterns = new Set(policy.collections.map(({ pattern }) => pattern));
  if (patterns.size > 1) texts.set('Order of the patterns', [...patterns].join(', '));
  return texts;
}
