import { z } from 'zod';

const time = z.iso.datetime();

const FAILURES = [
  'unreachable',
  'token_rejected',
  'not_this_service',
  'other_release',
  'same_instance',
  'not_comparable',
  'failed',
] as const;

export type FailureCode = (typeof FAILURES)[number];

export const comparison = z
  .strictObject({
    ahead: z
      .int()
      .nullable()
      .describe('Changes in this service that the environment lacks, without conflicts. Null if unknown'),
    behind: z
      .int()
      .nullable()
      .describe('Changes in the environment that this service lacks, without conflicts. Null if unknown'),
    conflicts: z.int().describe('Conflicting changes'),
    error: z
      .strictObject({ code: z.enum(FAILURES), message: z.string() })
      .nullable()
      .describe('Why the schemas cannot be compared. Null if they were compared'),
    checked_at: time,
  })
  .meta({ id: 'EnvironmentComparison' });

export type Comparison = z.output<typeof comparison>;

export const environment = z
  .strictObject({
    id: z.uuid(),
    name: z.string(),
    url: z.string().describe('The address of the other instance'),
    has_token: z.boolean().describe('False after a restore from a backup, which contains no tokens'),
    base: z
      .strictObject({ log: z.enum(['own', 'environment']), position: z.int() })
      .nullable()
      .describe('The last schema that both had in common: a position of the log of this service or of the environment'),
    comparison: comparison.nullable().describe('The last result. Null until the first comparison has ended'),
    created_at: time,
  })
  .meta({ id: 'Environment' });
