import { z } from 'zod';
import { actor } from '../../http/openapi/answers/history.js';
import { collection, field, withWarnings } from '../../http/openapi/answers/schema.js';

const text = z.string();

export const trashEntry = z
  .strictObject({
    position: z.int().positive().describe('Position of the event that deleted it, which identifies it'),
    kind: z.enum(['collection', 'field']),
    collection: text.describe('Its former name'),
    field: text.nullable(),
    identity: text.describe('Stays the same when it is renamed, deleted or restored'),
    batch: z.uuid(),
    deleted_at: z.iso.datetime(),
    kept_until: z.iso.datetime().describe('It may be purged after that time'),
    rows: z
      .int()
      .nullable()
      .describe(
        'Number of rows when it was deleted, as estimated by the PostgreSQL statistics. Null if there were none',
      ),
    bytes: z.int().nullable().describe('Size on disk when it was deleted'),
    publications: z
      .array(text)
      .describe(
        'Publications that contained the table. The deletion removed it from them, and a restore does not add it again',
      ),
    foreign_keys: z
      .array(z.strictObject({ name: text, definition: text }))
      .describe('Foreign keys of the table that were created outside the service. A restore does not recreate them'),
    kept_in: z
      .int()
      .nullable()
      .describe(
        'Number of the shared PostgreSQL schema `<SERVICE_SCHEMA>_trash_s<number>` that contains the table. Null if it is in `<SERVICE_SCHEMA>_trash_<position>`',
      ),
    deleted_by: actor.nullable(),
  })
  .meta({ id: 'TrashEntry' });

/** The warnings list the parts that were not restored. */
export const restored = withWarnings(z.union([collection, field]));
