/** update-policy: replaces the policy. It changes no schema. */
import { jsonEqual } from '../../kernel/json.js';
import { canonicalJson } from '../../kernel/canonical.js';
import { ok, refuse } from '../../kernel/problem.js';
import { sha256 } from '../../kernel/sha256.js';
import type { OtherEvent } from '../model/events.js';
import type { Policy } from '../model/policy.js';
import { completePolicy, policyUpdated } from '../policy.js';
import type { Operation } from './operation.js';

export interface UpdatePolicy {
  policy: Policy;
  /** The policy in force. Absent if it was not read. */
  current?: Policy;
  /** The hash of the policy that the client last read. */
  expected?: string | undefined;
}

/** Returns the hash in the ETag of a policy. */
export const policyHash = (policy: Policy): string => sha256(canonicalJson(policy));

export const updatePolicy: Operation<'update-policy', Pick<UpdatePolicy, 'policy'>, UpdatePolicy, OtherEvent> = {
  name: 'update-policy',

  parse: ({ policy }) => ok({ policy: completePolicy(policy) }),

  decide(_state, { policy, current, expected }) {
    if (expected !== undefined && current !== undefined && expected !== policyHash(current)) {
      const message = 'The policy has changed since you read it (If-Match). Read it again.';
      return refuse({ code: 'PRECONDITION_FAILED', message });
    }
    return ok(jsonEqual(policy, current) ? [] : [policyUpdated(policy)]);
  },
};
