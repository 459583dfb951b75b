/** Sets the policy. One event contains the whole policy. */
import { jsonEqual } from '../../kernel/json.js';
import type { Problem } from '../../kernel/problem.js';
import { type Policy, policyUpdated } from '../../schema/policy/index.js';
import type { Revise } from '../types.js';

/** The name of the command in the log. */
export const UPDATE_POLICY = 'update-policy';

/**
 * Appends nothing if the policy is unchanged. @param expects the policy that the caller believes to be current, if any
 */
export const updatingPolicy =
  (policy: Policy, expects: (now: Policy) => boolean): Revise =>
  (_client, { policy: now, before }) => {
    if (!expects(now)) return Promise.resolve({ kind: 'refused', problems: [preconditionFailed()] });
    const events = jsonEqual(now, policy) ? [] : [policyUpdated(policy)];
    return Promise.resolve({ kind: 'revised', events, statements: [], after: before.state, also: [] });
  };

const preconditionFailed = (): Problem => ({
  code: 'PRECONDITION_FAILED',
  message: 'The policy is not the one that If-Match names: read it again and decide again.',
});
