import type { Resumable } from '../kernel/resumable.js';
import {
  type Action,
  ACTIONS,
  LOOSENS_POLICY,
  NOT_ONLINE,
  type Policy,
  isOfPolicy,
  DEFAULT_POLICY,
  POLICY_SUBJECT,
  CHANGES_POLICY,
  POLICY_CHANGES,
  isStopping,
} from './model/policy.js';
import type { JudgedNames, NamesBefore } from './fold/former-names.js';
import type { LogEvent, OtherEvent } from './model/events.js';
import type { Warning } from '../kernel/problem.js';

/* Decides the action of a policy for each finding. */

/**
 * Matches a name against a pattern, in which `*` matches any characters including none. It does not use a regular
 * expression, because matching could take exponential time in the number of stars.
 */
export const matchesPattern = (pattern: string, name: string): boolean => compilePattern(pattern)(name);

/** Compiles the pattern for many names. */
function compilePattern(pattern: string): (name: string) => boolean {
  const [first = '', ...parts] = pattern.split('*');
  const last = parts.pop();
  return last === undefined ? (name) => name === pattern : (name) => matchesParts(name, first, parts, last);
}

function matchesParts(name: string, first: string, parts: readonly string[], last: string): boolean {
  if (name.length < first.length + last.length || !name.startsWith(first) || !name.endsWith(last)) return false;
  const end = name.length - last.length;
  let at = first.length;
  for (const part of parts) {
    const position = name.indexOf(part, at);
    if (position < 0 || position + part.length > end) return false;
    at = position + part.length;
  }
  return true;
}

/** The properties of a finding that a policy uses. */
interface FindingFacts {
  code: string;
  level: 'note' | 'warn' | 'danger';
  collection?: string | undefined;
  field?: string | undefined;
}

/** A finding with the action that the policy chose. It is never `off`, because findings with `off` are hidden. */
export type FindingWithAction<F extends FindingFacts> = F & { action: Exclude<Action, 'off'> };

/** A finding that a user knows and accepts. */
export interface Acknowledgement {
  code: string;
  /** Has the form of `placeText`: `articles`, `articles.title`. Empty without a collection. */
  place: string;
}

/** Returns the action for a code in a collection. Undefined if the policy does not list the code. */
export const actionOf = (policy: Policy, code: string, collection: string | undefined): Action | undefined =>
  isOfPolicy(code)
    ? actionOnItself(policy, code)
    : (actionOfRule(policy, code, collection) ??
      (Object.hasOwn(policy.findings, code) ? policy.findings[code] : undefined));

/** Returns the action of the first rule whose pattern matches the collection. Undefined if no rule lists the code. */
const actionOfRule = (policy: Policy, code: string, collection: string | undefined): Action | undefined =>
  collection === undefined
    ? undefined
    : rulesByCode(policy)
        .get(code)
        ?.find(({ fits }) => fits(collection))?.action;

/** Returns the action for a finding about a change to the policy itself. */
function actionOnItself({ policy_changes }: Policy, code: string): Action {
  if (policy_changes === 'approve') return 'approve';
  if (code !== LOOSENS_POLICY) return 'note';
  return policy_changes === 'acknowledge' ? 'acknowledge' : 'warn';
}

type RulesByCode = ReadonlyMap<string, readonly { fits: (name: string) => boolean; action: Action }[]>;

const READ = new WeakMap<Policy, RulesByCode>();

/** Compiles the patterns of a policy once, because it evaluates thousands of findings. */
function rulesByCode(policy: Policy): RulesByCode {
  const read = READ.get(policy) ?? readRules(policy);
  READ.set(policy, read);
  return read;
}

function readRules({ collections }: Policy): RulesByCode {
  const rules = new Map<string, { fits: (name: string) => boolean; action: Action }[]>();
  for (const { pattern, findings } of collections) {
    const fits = compilePattern(pattern);
    for (const [code, action] of Object.entries(findings))
      rules.set(code, [...(rules.get(code) ?? []), { fits, action }]);
  }
  return rules;
}

const NONE: ReadonlySet<string> = new Set();
const NO_OTHERS: JudgedNames = { own: NONE, above: NONE };
const NOT_RENAMED: NamesBefore = () => NO_OTHERS;

/**
 * Returns the actions of the policy for all names of a collection. Undefined stands for a name without an action. Only
 * rules with a pattern cover the tables below a table, so that partitions can have milder rules than other tables.
 */
export function actionsOf(
  policy: Policy,
  code: string,
  { collection, before = NOT_RENAMED }: { collection: string | undefined; before?: NamesBefore | undefined },
): (Action | undefined)[] {
  if (collection === undefined) return [actionOf(policy, code, undefined)];
  const { own, above } = before(collection);
  return [
    ...[collection, ...own].map((name) => actionOf(policy, code, name)),
    ...[...above].flatMap((name) => actionOfRule(policy, code, name) ?? []),
  ];
}

/**
 * Returns the finding with its action. Undefined if hidden. The rules of all names of the collection, and those of the
 * tables above it, apply, and the strictest action counts.
 */
export function judgeFinding<F extends FindingFacts>(
  policy: Policy,
  finding: F,
  before = NOT_RENAMED,
): FindingWithAction<F> | undefined {
  const { code, collection, level } = finding;
  const actions = actionsOf(policy, code, { collection, before }).map((each) => each ?? defaultAction(code, level));
  const action = ACTIONS[Math.max(...actions.map((each) => ACTIONS.indexOf(each)))] as Action;
  return action === 'off' ? undefined : { ...finding, level: levelFor(action, level), action };
}

/** NOT_ONLINE is rejected by default, because this finding exists only if the policy requests it. */
function defaultAction(code: string, level: FindingFacts['level']): Action {
  if (code === NOT_ONLINE) return 'refuse';
  return level === 'note' ? 'note' : 'warn';
}

/** Returns the visible findings with their actions. */
export function* judgeAll<F extends FindingFacts>(
  policy: Policy,
  findings: readonly F[],
  before = NOT_RENAMED,
): Resumable<FindingWithAction<F>[]> {
  const shown: FindingWithAction<F>[] = [];
  for (const finding of findings) {
    const one = judgeFinding(policy, finding, before);
    if (one !== undefined) shown.push(one);
    yield;
  }
  return shown;
}

/** The action `note` lowers the level to `note`. Every stricter action raises a note to a warning. */
function levelFor(action: Action, level: FindingFacts['level']): FindingFacts['level'] {
  if (action === 'note') return 'note';
  return level === 'note' ? 'warn' : level;
}

/** An acknowledgement as text: `LOSES_DATA:articles.title`. */
export const keyOf = ({ code, place }: Acknowledgement): string => `${code}:${place}`;

/** Sorts by strictness, strictest first. */
export const byAction = (one: { action: Action }, other: { action: Action }): number =>
  ACTIONS.indexOf(other.action) - ACTIONS.indexOf(one.action);

/* Folds the policy from events. Pure. */

/** Adds the members that policies of earlier releases do not have. */
export const completePolicy = (policy: Omit<Policy, 'requires_reason'>): Policy => ({ ...DEFAULT_POLICY, ...policy });

/** Returns the policy after the events. Ignores other events. */
export function foldPolicy(events: Iterable<LogEvent>, from: Policy = DEFAULT_POLICY): Policy {
  let policy = from;
  for (const event of events) if (event.type === 'policy.updated') policy = completePolicy(event.data.policy);
  return policy;
}

/** Contains the complete policy, which replaces the previous one. */
export const policyUpdated = (policy: Policy): OtherEvent => ({
  type: 'policy.updated',
  version: 1,
  collection: null,
  field: null,
  subject: POLICY_SUBJECT,
  data: { policy },
});

/** Compares a new policy with the previous one and finds weaker requirements. */

/** Ranks how strongly an action blocks. Actions that only show a finding do not block. */
const strictnessOf = (action: Action): number => (isStopping(action) ? ACTIONS.indexOf(action) : 0);

/**
 * Locations in the policy where `to` may allow what `from` blocks: `approvals`, `findings.LOSES_DATA`. It may name a
 * location that loosens nothing, because patterns are compared as strings, but it never misses one.
 */
export function findLoosened(from: Policy, to: Policy): string[] {
  const members = {
    online_above_rows: rowsOf(to) > rowsOf(from),
    approvals: to.approvals < from.approvals,
    author_may_approve: to.author_may_approve && !from.author_may_approve,
    requires_reason: from.requires_reason && !to.requires_reason,
    policy_changes: POLICY_CHANGES.indexOf(to.policy_changes) < POLICY_CHANGES.indexOf(from.policy_changes),
  };
  const loosened = Object.entries(members).flatMap(([member, isLooser]) => (isLooser ? [member] : []));
  for (const code of codesOf(from)) {
    const [before, after] = [rulesOf(from, code), rulesOf(to, code)];
    if (after.otherwise < before.otherwise) loosened.push(`findings.${code}`);
    if (loosensCollections(before, after)) loosened.push(`collections (${code})`);
  }
  return loosened;
}

const rowsOf = ({ online_above_rows: rows }: Policy): number => rows ?? Infinity;

/** Returns the codes for which a policy can block a change. */
const codesOf = ({ findings, collections }: Policy): Set<string> =>
  new Set([findings, ...collections.map((rule) => rule.findings)].flatMap(Object.keys).concat(NOT_ONLINE));

interface RulesOfCode {
  /** Listed in the order of the policy. The first rule whose pattern matches decides. */
  rules: readonly { pattern: string; strictness: number }[];
  /** The strictness for collections whose name matches no pattern. */
  otherwise: number;
}

function rulesOf({ findings, collections }: Policy, code: string): RulesOfCode {
  const rules = collections.flatMap(({ pattern, findings: own }) => {
    const action = own[code];
    return action === undefined ? [] : [{ pattern, strictness: strictnessOf(action) }];
  });
  return { rules, otherwise: strictnessOf(findings[code] ?? (code === NOT_ONLINE ? 'refuse' : 'off')) };
}

/**
 * For each pattern in `before`, compares the rules in `after` up to and including the same pattern, or all of them if
 * the pattern is gone. None of these rules may be milder. A new pattern may also match a collection that no rule
 * matched before, so it is compared with the default of `before`.
 */
function loosensCollections(before: RulesOfCode, after: RulesOfCode): boolean {
  const isMilder = ({ pattern, strictness: was }: RulesOfCode['rules'][number]): boolean => {
    const end = after.rules.findIndex((rule) => rule.pattern === pattern);
    const deciding = end < 0 ? after.rules : after.rules.slice(0, end + 1);
    return (end < 0 && after.otherwise < was) || deciding.some((rule) => rule.strictness < was);
  };
  const patterns = new Set(before.rules.map(({ pattern }) => pattern));
  const isNewAndMilder = ({ pattern, strictness: now }: RulesOfCode['rules'][number]): boolean =>
    !patterns.has(pattern) && now < before.otherwise;
  return before.rules.some(isMilder) || after.rules.some(isNewAndMilder);
}

/** Returns the warnings of a batch that changes the policy. Empty for all other batches. */
export function policyWarnings(policy: Policy, events: readonly LogEvent[]): Warning[] {
  return events.flatMap((event) => {
    if (event.type !== 'policy.updated') return [];
    const loosened = findLoosened(policy, event.data.policy);
    return loosened.length === 0
      ? [{ code: CHANGES_POLICY, message: 'change the policy' }]
      : [{ code: LOOSENS_POLICY, message: `loosen the policy: ${loosened.join(', ')}` }];
  });
}

/** Policies decide which schema changes are allowed without review, and block others. */
export {
  ACTIONS,
  DEFAULT_POLICY,
  POLICY_CHANGES,
  POLICY_SUBJECT,
  PURGE_FINDINGS,
  REASON_REQUIRED,
  hasReason,
  isEarlyPurge,
  isEnforced,
  isNamed,
  isOfPolicy,
  isStopping,
  type Action,
  type Policy,
} from './model/policy.js';
