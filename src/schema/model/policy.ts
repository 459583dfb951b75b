/** A policy decides which changes are allowed without review: by finding code, collection and table size. */
import { isObject } from '../../kernel/json.js';

/**
 * The possible actions for a finding, in ascending order. `off` hides it, `note` and `warn` show it. `acknowledge`
 * requires an acknowledgement by the author. `approve` requires an approved change request. `refuse` rejects the
 * change.
 */
export const ACTIONS = ['off', 'note', 'warn', 'acknowledge', 'approve', 'refuse'] as const;
export type Action = (typeof ACTIONS)[number];

/** Actions keyed by finding code. */
type Actions = Readonly<Record<string, Action>>;

/** A rule for the collections whose names match a pattern. */
interface CollectionRule {
  /** A pattern of names. `*` matches any characters, including none. */
  pattern: string;
  findings: Actions;
}

/**
 * Requirements of a change to the policy itself. `free`: nothing. `acknowledge`: an acknowledgement if it loosens the
 * policy. `approve`: an approved change request.
 */
export const POLICY_CHANGES = ['free', 'acknowledge', 'approve'] as const;

/** The policy. Every change to it is an event with the complete policy. */
export interface Policy {
  /** Actions for all collections. If a code is not listed, its level decides. */
  findings: Actions;
  /** The first rule that matches the collection and contains the code overrides `findings`. */
  collections: readonly CollectionRule[];
  /** Tables with more rows must be changed online where possible. Null sets no limit. */
  online_above_rows: number | null;
  /** Number of approvals that a change request needs. At least 1. */
  approvals: number;
  /** True if the author of a change request may approve it. */
  author_may_approve: boolean;
  /** True if the service rejects changes without a reason. Events of earlier releases do not have this member. */
  requires_reason: boolean;
  policy_changes: (typeof POLICY_CHANGES)[number];
}

/** The code of the finding for a change that was not made online. */
export const NOT_ONLINE = 'NOT_ONLINE';

/** The codes of the findings of a requested purge. A deletion with `purge` has them too. */
export const PURGE_FINDINGS = ['LOSES_DATA', 'DATA_NOT_KEPT'] as const;

/** True for a purge that a user requested. All other purges follow the retention period that the deletion recorded. */
export const isEarlyPurge = ({ type, data }: { type: string; data: unknown }): boolean =>
  type === 'trash.purged' && !(isObject(data) && data['expired'] === true);

/** The codes of findings about a change to the policy. Only `policy_changes` decides about them. */
export const LOOSENS_POLICY = 'LOOSENS_POLICY';
export const CHANGES_POLICY = 'CHANGES_POLICY';

/** True if `policy_changes` decides about a code. `findings` must not contain such a code. */
export const isOfPolicy = (code: string): boolean => code === LOOSENS_POLICY || code === CHANGES_POLICY;

/** The policy before one is set. It rejects nothing. */
export const DEFAULT_POLICY: Policy = {
  findings: {},
  collections: [],
  online_above_rows: null,
  approvals: 1,
  author_may_approve: true,
  requires_reason: false,
  policy_changes: 'free',
};

/** The subject of policy events. There is one policy. */
const POLICY = 'policy';
export const POLICY_SUBJECT = { kind: POLICY, id: 'schema' } as const;

const STOPPING: ReadonlySet<Action> = new Set(['acknowledge', 'approve', 'refuse']);

/** True if an action can block a change. */
export const isStopping = (action: Action): boolean => STOPPING.has(action);

/** True if a policy mentions a code. */
export const isNamed = ({ findings, collections }: Policy, code: string): boolean =>
  [findings, ...collections.map((rule) => rule.findings)].some((actions) => Object.hasOwn(actions, code));

/** The details of a problem about a missing reason. */
export const REASON_REQUIRED = { rule: 'requires_reason' } as const;

/** True if the reason contains a visible character. */
export const hasReason = ({ reason }: { reason: string | null }): boolean => /[^\s\p{C}]/u.test(reason ?? '');

/** True if a policy can block any change. */
export const isEnforced = ({ findings, collections, ...policy }: Policy): boolean =>
  policy.requires_reason ||
  policy.online_above_rows !== null ||
  policy.policy_changes !== 'free' ||
  [findings, ...collections.map((rule) => rule.findings)].some((actions) => Object.values(actions).some(isStopping));
