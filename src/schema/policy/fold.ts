/** policy × event → policy. Pure. */
import type { LogEvent, OtherEvent } from '../model/events.js';
import { DEFAULT_POLICY, POLICY_SUBJECT, type Policy } from '../model/policy.js';

/** Returns the policy after the events. Ignores other events. */
export function foldPolicy(events: Iterable<LogEvent>, from: Policy = DEFAULT_POLICY): Policy {
  let policy = from;
  for (const event of events) if (event.type === 'policy.updated') ({ policy } = event.data);
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
