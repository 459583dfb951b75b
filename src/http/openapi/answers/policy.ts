import { z } from 'zod';
import { LEVELS } from '../../../schema/findings/index.js';
import { policy, policyBody, OUTCOMES } from '../../policy.js';
import { acknowledge } from './envelopes.js';
import { finding } from './schema.js';

export const policyAt = z.strictObject({
  data: policy,
  meta: z.strictObject({
    position: z.int().min(0).describe('Of the event that set it; 0: nobody has'),
    updated_at: z.iso.datetime().nullable(),
    codes: z
      .array(z.strictObject({ code: z.string(), title: z.string(), level: z.enum(LEVELS), shown_only: z.boolean() }))
      .describe('All that a policy can say something of; `shown_only`: off, note or warn'),
  }),
});

export const policyTestBody = z.strictObject({
  diff: z.looseObject({}).optional().describe('With its hash, as /schema/diff answers it'),
  snapshot: z.looseObject({}).optional().describe('In its place'),
  policy: policyBody.optional().describe('Tried in place of the one that is set'),
  acknowledge,
});

export const policyTest = z
  .strictObject({
    outcome: z.enum(OUTCOMES).describe('What the strictest finding asks for'),
    approvals: z.int().min(1).nullable().describe('Of how many people it would need, where it needs any'),
    findings: z.array(finding),
  })
  .meta({ id: 'PolicyTest' });
