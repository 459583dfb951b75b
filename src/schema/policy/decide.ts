/** What a policy does about findings. */
import type { Resumable } from '../../kernel/resumable.js';
import { type Action, ACTIONS, NOT_ONLINE, type Policy } from '../model/policy.js';
import type { NamesBefore } from '../fold/former-names.js';
import { fitting } from './pattern.js';

/** Of a finding, what a policy looks at. */
export interface FindingFacts {
  code: string;
  level: 'note' | 'warn' | 'danger';
  collection?: string | undefined;
  field?: string | undefined;
}

/** What the policy does about it; never `off`: that is not shown. */
export type Judged<F extends FindingFacts> = F & { action: Exclude<Action, 'off'> };

/** A finding that somebody knows of, and wants the change for all that. */
export interface Acknowledgement {
  code: string;
  /** As `placeText` says it: `articles`, `articles.title`; empty: it is about no collection. */
  place: string;
}

/** What is done about a code in a collection; undefined: the policy doesn't say. */
export const actionOf = (policy: Policy, code: string, collection: string | undefined): Action | undefined =>
  actionsOf(policy)(code, collection);

type ActionOf = (code: string, collection: string | undefined) => Action | undefined;

const READ = new WeakMap<Policy, ActionOf>();

/** Thousands of findings are asked about: a policy is read once. */
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
 * With what the policy does about it; undefined: it is not shown. A collection that gets another name is what it was: what
 * the policy says of the old name holds too, and the stricter counts.
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

/** What is found because the policy asks for it is refused unless it says otherwise. */
function usual(code: string, level: FindingFacts['level']): Action {
  if (code === NOT_ONLINE) return 'refuse';
  return level === 'note' ? 'note' : 'warn';
}

/** What is shown of the findings, with what is done about them. */
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

/** A `note` is one whatever it is about; what is warned of, or more, is no note. */
function levelFor(action: Action, level: FindingFacts['level']): FindingFacts['level'] {
  if (action === 'note') return 'note';
  return level === 'note' ? 'warn' : level;
}

/** An acknowledgement as one text: `LOSES_DATA:articles.title`. */
export const keyOf = ({ code, place }: Acknowledgement): string => `${code}:${place}`;

/** The strictest first. */
export const byAction = (one: { action: Action }, other: { action: Action }): number =>
  ACTIONS.indexOf(other.action) - ACTIONS.indexOf(one.action);
