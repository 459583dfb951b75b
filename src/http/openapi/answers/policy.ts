import { z } from 'zod';
import { LEVELS } from '../../../schema/findings/index.js';
import { policy, policyBody, OUTCOMES } from '../../policy.js';
import { acknowledge } from './envelopes.js';
import { finding } from './schema.js';

export const policyAt = z.strictObject({
  data: policy,
  meta: z.strictObject({
    position: z.int().min(0).describe('Position of the event that set it. 0: the default policy'),
    updated_at: z.iso.datetime().nullable(),
    codes: z
      .array(z.strictObject({ code: z.string(), title: z.string(), level: z.enum(LEVELS), shown_only: z.boolean() }))
      .describe('All codes that a policy may contain. `shown_only`: off, note or warn'),
  }),
});

export const policyTestBody = z.strictObject({
  diff: z.looseObject({}).optional().describe('With its hash, as returned by /schema/diff'),
  snapshot: z.looseObject({}).optional().describe('Instead of a diff'),
  policy: policyBody.optional().describe('A policy to test instead of the current one'),
  acknowledge,
});

export const policyTest = z
  .strictObject({
    outcome: z.enum(OUTCOMES).describe('The strictest action that a finding requires'),
    approvals: z.int().min(1).nullable().describe('Number of required approvals, if any'),
    findings: z.array(finding),
  })
  .meta({ id: 'PolicyTest' });
