/** The words for members of a policy, on its page and in change requests. */
import type { Policy } from '../service/operations-queries.js';

export const POLICY_WORDS = {
  approvals: 'Required approvals',
  online_above_rows: 'Online above this row count',
  author_may_approve: 'Authors can approve their own requests',
  requires_reason: 'Every change needs a reason',
  policy_changes: 'Changes to this policy',
} as const;

export const POLICY_CHANGE_WORDS: Readonly<Record<Policy['policy_changes'], string>> = {
  free: 'free',
  acknowledge: 'must be acknowledged if they loosen it',
  approve: 'require approval',
};

export const ACTION_WORDS: Readonly<Record<Policy['findings'][string], string>> = {
  off: 'hidden',
  note: 'shown as a note',
  warn: 'shown as a warning',
  acknowledge: 'must be acknowledged',
  approve: 'requires approval',
  refuse: 'rejected',
};

/** The action for a finding that a policy does not mention. */
export const BY_LEVEL = 'default for its level';
