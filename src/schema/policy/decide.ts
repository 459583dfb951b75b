/** What a policy does about findings. */
import { type Action, ACTIONS, type Policy } from './model.js';
import { fits } from './pattern.js';

/** Of a finding, what a policy looks at. */
export interface Found {
  code: string;
  level: 'note' | 'warn' | 'danger';
  collection?: string | undefined;
  field?: string | undefined;
  /** What the level is by. */
  statistics?: { rows: number | null; bytes: number | null } | null;
  /** It is about something that can be made online, and is not. */
  online?: boolean;
}

/** What the policy does about it; never `off`: that is not shown. */
export type Judged<F extends Found> = F & { action: Exclude<Action, 'off'> };

/** A finding that somebody knows of, and wants the change for all that. */
export interface Acknowledgement {
  code: string;
  /** `articles`, `articles.title`; empty: it is about no collection. */
  place: string;
}

/** What is done about a code in a collection; undefined: the policy doesn't say. */
export function actionOf(policy: Policy, code: string, collection: string | undefined): Action | undefined {
  const own = policy.collections.find(
    ({ pattern, findings }) => Object.hasOwn(findings, code) && collection !== undefined && fits(pattern, collection),
  );
  const actions = own?.findings ?? policy.findings;
  return Object.hasOwn(actions, code) ? actions[code] : undefined;
}

/** With what the policy does about it; undefined: it is not shown. */
export function judged<F extends Found>(policy: Policy, finding: F): Judged<F> | undefined {
  const { code, collection, level } = finding;
  const byLevel = level === 'note' ? 'note' : 'warn';
  const action = mustBeOnline(policy, finding) ? 'refuse' : (actionOf(policy, code, collection) ?? byLevel);
  return action === 'off' ? undefined : { ...finding, level: levelFor(action, level), action };
}

/** Of a table of an unknown number of rows: by how many there could be in its bytes. */
function mustBeOnline({ online_above_rows }: Policy, { online, statistics }: Found): boolean {
  if (online_above_rows === null || online !== true) return false;
  if (statistics == null) return true;
  const rows = statistics.rows ?? (statistics.bytes ?? Infinity) / SMALLEST_ROW;
  return rows > online_above_rows;
}

/** Bytes that a row takes at least: its header, and where it is in its page. */
const SMALLEST_ROW = 28;

/** A `note` is one whatever it is about; what is warned of, or more, is no note. */
function levelFor(action: Action, level: Found['level']): Found['level'] {
  if (action === 'note') return 'note';
  return level === 'note' ? 'warn' : level;
}

/** As acknowledgements and errors name it: `articles.title`. */
export const placeOf = ({ collection, field }: Pick<Found, 'collection' | 'field'>): string =>
  [collection, field].filter((name) => name !== undefined).join('.');

/** The strictest first. */
export const byAction = (one: { action: Action }, other: { action: Action }): number =>
  ACTIONS.indexOf(other.action) - ACTIONS.indexOf(one.action);
