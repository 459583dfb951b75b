import { z } from 'zod';
import { snapshot } from '../../schema/normal-form/shapes.js';

const text = z.string();

const momentOrPosition = z.union([
  z.int().min(0),
  text.describe('A position (`42`, or `42-3f9a…` with the hash of its event), a time with its zone, a day, or `now`'),
]);

/** A location, as a conflict describes it. */
const mergePlace = z
  .strictObject({
    part: z.enum(['collections', 'fields', 'relations']),
    collection: text,
    field: text.optional(),
    path: z
      .array(z.union([text, z.int()]))
      .optional()
      .describe('The member; absent: all of it'),
  })
  .meta({ id: 'MergePlace' });

export const merge = z
  .strictObject({
    base: z.union([momentOrPosition, snapshot]).describe('What theirs started from'),
    ours: momentOrPosition.optional().describe('The schema now, where it is left out'),
    theirs: snapshot,
    resolve: z
      .array(z.strictObject({ place: mergePlace, take: z.enum(['ours', 'theirs']) }))
      .optional()
      .describe('What was decided about conflicts of an earlier answer'),
  })
  .meta({ id: 'Merge' });
