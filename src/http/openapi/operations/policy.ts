import { policy, policyBody } from '../../policy/policy-body.js';
import { policyAt, policyTest, policyTestBody } from '../answers/policy.js';
import { data, type OperationDocs } from '../operation-doc.js';

export const POLICY_OPERATIONS: OperationDocs = {
  'GET /policy': {
    id: 'getPolicy',
    summary: 'What may be done without asking, now or at a moment',
    answer: policyAt,
    validated: true,
    refuses: ['NOT_FOUND'],
  },
  'PUT /policy': {
    id: 'setPolicy',
    summary: 'Set the policy as a whole: what it leaves out is as by default',
    description:
      'If-Match takes the ETag of GET /policy. A policy that is the same already appends nothing. Where `policy_changes` is `approve`, open a change request with `policy` instead (POST /changes).',
    body: policyBody,
    example: { findings: { LOSES_DATA: 'approve', INDEX_UNDER_LOCK: 'refuse' }, online_above_rows: 100_000 },
    answer: data(policy),
    refuses: ['POLICY_REFUSED', 'PRECONDITION_FAILED', 'IDEMPOTENCY_MISMATCH', 'LOCK_TIMEOUT'],
  },
  'POST /policy/test': {
    id: 'testPolicy',
    summary: 'What the policy, or another one, would do about a change: nothing is run',
    body: policyTestBody,
    example: { snapshot: { version: 1, collections: [], fields: [], relations: [] } },
    answer: data(policyTest),
    refuses: ['SCHEMA_CHANGED', 'IN_USE', 'ALREADY_EXISTS'],
  },
};
