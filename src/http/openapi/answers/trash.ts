import { z } from 'zod';
import { collection, field, withWarnings } from './schema.js';

const text = z.string();

export const trashEntry = z
  .strictObject({
    position: z.int().positive().describe('Of the event that deleted it: what names it'),
    kind: z.enum(['collection', 'field']),
    collection: text.describe('The name that it had'),
    field: text.nullable(),
    identity: text.describe('Stays the same through renames, deletion and return'),
    batch: z.uuid(),
    deleted_at: z.iso.datetime(),
    kept_until: z.iso.datetime().describe('From then on it may be purged'),
    rows: z
      .int()
      .nullable()
      .describe("When it was deleted, as PostgreSQL's statistics had them; null: there were none"),
    bytes: z.int().nullable().describe('On disk, when it was deleted'),
    publications: z.array(text).describe('That a table was in: it left them, and joins none by itself'),
    foreign_keys: z
      .array(z.strictObject({ name: text, definition: text }))
      .describe('Of a table, made by hand: none comes back'),
    deleted_by: z.strictObject({ id: text, name: text }).nullable(),
  })
  .meta({ id: 'TrashEntry' });

/** Names of parts that did not come back are in the warnings. */
export const restored = withWarnings(z.union([collection, field]));
