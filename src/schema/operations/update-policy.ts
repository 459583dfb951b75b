/** update-policy: replaces the policy. It changes no schema. */
import { jsonEqual } from '../../kernel/json.js';
import { ok } from '../../kernel/problem.js';
import type { OtherEvent } from '../model/events.js';
import type { Policy } from '../model/policy.js';
import { policyUpdated } from '../policy.js';
import type { Operation } from './operation.js';

export interface UpdatePolicy {
  policy: Policy;
  /** The policy in force. Absent if it has not been read. */
  current?: Policy;
}

export const updatePolicy: Operation<'update-policy', Pick<UpdatePolicy, 'policy'>, UpdatePolicy, OtherEvent> = {
  name: 'update-policy',

  parse: (input) => ok(input),

  decide(_state, { policy, current }) {
    return ok(jsonEqual(policy, current) ? [] : [policyUpdated(policy)]);
  },
};
