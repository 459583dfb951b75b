/** What may be done without asking: by the codes of findings, for a collection, and by how large a table is. */

/**
 * What is done about a finding, ascending. `off`: it is not shown. `note`, `warn`: it is shown. `acknowledge`: whoever makes
 * the change says that they know of it. `approve`: the change is one of an approved change request. `refuse`: it is not made.
 */
export const ACTIONS = ['off', 'note', 'warn', 'acknowledge', 'approve', 'refuse'] as const;
export type Action = (typeof ACTIONS)[number];

/** By code of a finding. */
export type Actions = Readonly<Record<string, Action>>;

/** What holds for some collections. */
export interface CollectionRule {
  /** Of their names: `*` stands for any characters, also none; all others for themselves. */
  pattern: string;
  findings: Actions;
}

/** The whole of it. A change of it is one event that says all of it. */
export interface Policy {
  /** Of all collections. A code that stands nowhere is shown by its level. */
  findings: Actions;
  /** The first whose pattern fits the collection and which has the code goes before `findings`. */
  collections: readonly CollectionRule[];
  /** What can be made online is, where its table has more rows; null: as one likes. */
  online_above_rows: number | null;
  /** How many people approve a change request before it is applied. At least 1. */
  approvals: number;
  /** Whether its author is one of them. */
  author_may_approve: boolean;
}

/** Of the finding that something was not made online. */
export const NOT_ONLINE = 'NOT_ONLINE';

/** As long as nobody has set one: nothing is refused. */
export const DEFAULT_POLICY: Policy = {
  findings: {},
  collections: [],
  online_above_rows: null,
  approvals: 1,
  author_may_approve: true,
};

/** Of its events: there is one policy. */
export const POLICY = 'policy';
export const POLICY_SUBJECT = { kind: POLICY, id: 'schema' } as const;

const STOPPING: ReadonlySet<Action> = new Set(['acknowledge', 'approve', 'refuse']);

/** Whether a change can be stopped by an action. */
export const isStopping = (action: Action): boolean => STOPPING.has(action);

/** Whether a policy says anything of a code. */
export const isNamed = ({ findings, collections }: Policy, code: string): boolean =>
  [findings, ...collections.map((each) => each.findings)].some((actions) => Object.hasOwn(actions, code));

/** Whether a policy stops any change at all. */
export const isEnforced = ({ findings, collections, online_above_rows }: Policy): boolean =>
  online_above_rows !== null ||
  [findings, ...collections.map((each) => each.findings)].some((actions) => Object.values(actions).some(isStopping));
