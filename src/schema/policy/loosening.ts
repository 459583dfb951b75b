/** How a new policy differs from the one before: whether it asks for less anywhere. */
import type { Warning } from '../../kernel/warning.js';
import type { LogEvent } from '../model/events.js';
import {
  type Action,
  ACTIONS,
  CHANGES_POLICY,
  LOOSENS_POLICY,
  NOT_ONLINE,
  POLICY_CHANGES,
  type Policy,
  isStopping,
} from '../model/policy.js';

/** How much an action stops; what only shows a finding stops nothing. */
const strictness = (action: Action): number => (isStopping(action) ? ACTIONS.indexOf(action) : 0);

/**
 * Locations in the policy where `to` may let through what `from` stops: `approvals`, `findings.LOSES_DATA`. It may name a
 * location that loosens nothing, because patterns are compared as texts, but it never misses one.
 */
export function loosenedBy(from: Policy, to: Policy): string[] {
  const loosened: string[] = [];
  if (rowsOf(to) > rowsOf(from)) loosened.push('online_above_rows');
  if (to.approvals < from.approvals) loosened.push('approvals');
  if (to.author_may_approve && !from.author_may_approve) loosened.push('author_may_approve');
  if (POLICY_CHANGES.indexOf(to.policy_changes) < POLICY_CHANGES.indexOf(from.policy_changes))
    loosened.push('policy_changes');
  for (const code of codesOf(from)) {
    const [before, after] = [rulesOf(from, code), rulesOf(to, code)];
    if (after.otherwise < before.otherwise) loosened.push(`findings.${code}`);
    if (loosensCollections(before, after)) loosened.push(`collections (${code})`);
  }
  return loosened;
}

const rowsOf = ({ online_above_rows: rows }: Policy): number => rows ?? Infinity;

/** Each code that a policy can stop a change by. */
const codesOf = ({ findings, collections }: Policy): Set<string> =>
  new Set([findings, ...collections.map((rule) => rule.findings)].flatMap(Object.keys).concat(NOT_ONLINE));

interface RulesOfCode {
  /** In their order: the first whose pattern fits decides. */
  rules: readonly { pattern: string; strictness: number }[];
  /** For collections that no pattern fits. */
  otherwise: number;
}

function rulesOf({ findings, collections }: Policy, code: string): RulesOfCode {
  const rules = collections.flatMap(({ pattern, findings: own }) => {
    const action = own[code];
    return action === undefined ? [] : [{ pattern, strictness: strictness(action) }];
  });
  return { rules, otherwise: strictness(findings[code] ?? (code === NOT_ONLINE ? 'refuse' : 'off')) };
}

/**
 * A collection that a rule decided for is decided for by the same pattern afterwards, or by one that comes before it. Those
 * must not be milder. A collection without a rule may get one of a new pattern.
 */
function loosensCollections(before: RulesOfCode, after: RulesOfCode): boolean {
  const isMilder = ({ pattern, strictness: was }: RulesOfCode['rules'][number]): boolean => {
    const end = after.rules.findIndex((rule) => rule.pattern === pattern);
    const deciding = end < 0 ? after.rules : after.rules.slice(0, end + 1);
    return (end < 0 && after.otherwise < was) || deciding.some((rule) => rule.strictness < was);
  };
  const known = new Set(before.rules.map(({ pattern }) => pattern));
  const isNewAndMilder = ({ pattern, strictness: now }: RulesOfCode['rules'][number]): boolean =>
    !known.has(pattern) && now < before.otherwise;
  return before.rules.some(isMilder) || after.rules.some(isNewAndMilder);
}

/** What there is to know of a batch that changes the policy; nothing of any other. */
export function policyWarnings(policy: Policy, events: readonly LogEvent[]): Warning[] {
  return events.flatMap((event) => {
    if (event.type !== 'policy.updated') return [];
    const loosened = loosenedBy(policy, event.data.policy);
    return loosened.length === 0
      ? [{ code: CHANGES_POLICY, message: 'change the policy' }]
      : [{ code: LOOSENS_POLICY, message: `loosen the policy: ${loosened.join(', ')}` }];
  });
}
