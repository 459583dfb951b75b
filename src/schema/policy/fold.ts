/** policy × event → policy. Pure. */
import type { LogEvent } from '../model/events.js';
import { DEFAULT_POLICY, POLICY_SUBJECT, type Policy } from '../model/policy.js';

/** The policy after the events. Those that aren't about it are passed over. */
export function foldPolicy(events: Iterable<LogEvent>, from: Policy = DEFAULT_POLICY): Policy {
  let policy = from;
  for (const event of events) if (event.type === 'policy.updated') ({ policy } = event.data);
  return policy;
}

/** The whole policy: it takes the place of the one before. */
export const policyUpdated = (policy: Policy): LogEvent => ({
  type: 'policy.updated',
  version: 1,
  collection: null,
  field: null,
  subject: POLICY_SUBJECT,
  data: { policy },
});
