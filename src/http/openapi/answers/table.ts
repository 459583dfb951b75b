import { z } from 'zod';

const text = z.string();
const bytes = z.int().min(0);

export const databaseTable = z
  .strictObject({
    rows: z.number().nullable().describe("As PostgreSQL's statistics have them; null: there are none yet"),
    bytes: z
      .strictObject({ table: bytes.nullable(), indexes: bytes.nullable(), total: bytes.nullable() })
      .describe(
        'On disk, with all partitions. While somebody else has the table for itself: by statistics; null: there are none yet',
      ),
    analyzed_at: z.iso.datetime().nullable().describe('When the statistics were made'),
    indexes: z.array(
      z.strictObject({
        name: text,
        definition: text.nullable().describe('null: somebody else has the table for itself'),
        bytes: bytes.nullable(),
        scans: z.int().min(0).nullable().describe('How often it was used since the statistics were last reset'),
        primary: z.boolean(),
        unique: z.boolean(),
        valid: z.boolean().describe('Whether it is complete and used'),
      }),
    ),
    constraints: z.array(
      z.strictObject({
        name: text,
        kind: z.enum(['primary key', 'unique', 'foreign key', 'check', 'exclusion', 'not null', 'trigger']),
        definition: text.nullable().describe('null: somebody else has the table for itself'),
        valid: z.boolean().describe('False: rows from before it were not checked'),
      }),
    ),
    dependents: z
      .array(
        z.strictObject({
          kind: text.describe('`view`, `function`, `trigger`, `policy`, `foreign key` of an unmanaged table …'),
          name: text,
          by: z.enum(['catalog', 'text']).describe('`text`: a function whose body mentions the name'),
        }),
      )
      .describe('What others made on it or of it, and no snapshot holds'),
  })
  .meta({ id: 'DatabaseTable' });
