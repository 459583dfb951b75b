/** Decides the action of a policy for each finding. */
import type { Resumable } from '../../kernel/resumable.js';
import { type Action, ACTIONS, LOOSENS_POLICY, NOT_ONLINE, type Policy, isOfPolicy } from '../model/policy.js';
import type { NamesBefore } from '../fold/former-names.js';

/**
 * Matches a name against a pattern, in which `*` matches any characters including none. Not a regular expression, whose
 * time could grow exponentially with the number of stars.
 */
export const fits = (pattern: string, name: string): boolean => fitting(pattern)(name);

/** Compiles the pattern for many names. */
function fitting(pattern: string): (name: string) => boolean {
  const [first = '', ...parts] = pattern.split('*');
  const last = parts.pop();
  return last === undefined ? (name) => name === pattern : (name) => fitsParts(name, first, parts, last);
}

function fitsParts(name: string, first: string, parts: readonly string[], last: string): boolean {
  if (name.length < first.length + last.length || !name.startsWith(first) || !name.endsWith(last)) return false;
  const end = name.length - last.length;
  let at = first.length;
  for (const part of parts) {
    const found = name.indexOf(part, at);
    if (found < 0 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}

/** The properties of a finding that a policy uses. */
export interface FindingFacts {
  code: string;
  level: 'note' | 'warn' | 'danger';
  collection?: string | undefined;
  field?: string | undefined;
}

/** The action of the policy. Never `off`, because such findings are hidden. */
export type Judged<F extends FindingFacts> = F & { action: Exclude<Action, 'off'> };

/** A finding that a user knows and accepts. */
export interface Acknowledgement {
  code: string;
  /** In the form of `placeText`: `articles`, `articles.title`. Empty without a collection. */
  place: string;
}

/** Returns the action for a code in a collection. Undefined if the policy does not mention it. */
export const actionOf = (policy: Policy, code: string, collection: string | undefined): Action | undefined =>
  isOfPolicy(code) ? actionOnItself(policy, code) : actionsOf(policy)(code, collection);

/** About a change of the policy. */
function actionOnItself({ policy_changes }: Policy, code: string): Action {
  if (policy_changes === 'approve') return 'approve';
  if (code !== LOOSENS_POLICY) return 'note';
  return policy_changes === 'acknowledge' ? 'acknowledge' : 'warn';
}

type ActionOf = (code: string, collection: string | undefined) => Action | undefined;

const READ = new WeakMap<Policy, ActionOf>();

/** Compiles a policy once, because it judges thousands of findings. */
function actionsOf(policy: Policy): ActionOf {
  const read = READ.get(policy) ?? readActions(policy);
  READ.set(policy, read);
  return read;
}

function readActions({ findings, collections }: Policy): ActionOf {
  const general = new Map(Object.entries(findings));
  const special = new Map<string, { fits: (name: string) => boolean; action: Action }[]>();
  for (const rule of collections) {
    const fits = fitting(rule.pattern);
    for (const [code, action] of Object.entries(rule.findings))
      special.set(code, [...(special.get(code) ?? []), { fits, action }]);
  }
  return (code, collection) => {
    const own = collection === undefined ? undefined : special.get(code)?.find(({ fits }) => fits(collection));
    return own?.action ?? general.get(code);
  };
}

const NONE: ReadonlySet<string> = new Set();
const NOT_RENAMED: NamesBefore = () => NONE;

/**
 * Returns the finding with its action. Undefined if hidden. For a renamed collection the rules of both names apply, and
 * the stricter action counts.
 */
export function judged<F extends FindingFacts>(
  policy: Policy,
  finding: F,
  before = NOT_RENAMED,
): Judged<F> | undefined {
  const { code, collection, level } = finding;
  const names = collection === undefined ? [undefined] : [collection, ...before(collection)];
  const actions = names.map((name) => actionOf(policy, code, name) ?? usual(code, level));
  const action = ACTIONS[Math.max(...actions.map((each) => ACTIONS.indexOf(each)))] as Action;
  return action === 'off' ? undefined : { ...finding, level: levelFor(action, level), action };
}

/** Findings that exist only because the policy requests them are rejected by default. */
function usual(code: string, level: FindingFacts['level']): Action {
  if (code === NOT_ONLINE) return 'refuse';
  return level === 'note' ? 'note' : 'warn';
}

/** Returns the visible findings with their actions. */
export function* judgedAll<F extends FindingFacts>(
  policy: Policy,
  findings: readonly F[],
  before = NOT_RENAMED,
): Resumable<Judged<F>[]> {
  const shown: Judged<F>[] = [];
  for (const finding of findings) {
    const one = judged(policy, finding, before);
    if (one !== undefined) shown.push(one);
    yield;
  }
  return shown;
}

/** A `note` has this level whatever its location. A finding with a stricter action is never a note. */
function levelFor(action: Action, level: FindingFacts['level']): FindingFacts['level'] {
  if (action === 'note') return 'note';
  return level === 'note' ? 'warn' : level;
}

/** An acknowledgement as text: `LOSES_DATA:articles.title`. */
export const keyOf = ({ code, place }: Acknowledgement): string => `${code}:${place}`;

/** Strictest first. */
export const byAction = (one: { action: Action }, other: { action: Action }): number =>
  ACTIONS.indexOf(other.action) - ACTIONS.indexOf(one.action);
