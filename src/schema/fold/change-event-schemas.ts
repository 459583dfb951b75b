/** Schemas of the payloads of change request events. A released schema never changes. */
import { z } from 'zod';

const text = z.string();
const textOrNull = text.nullable();

const proposal = { title: text, plan: text, base: z.int().nonnegative() };
export const changeOpenedV1 = z.strictObject({
  operation: text,
  document: text,
  online: z.boolean(),
  collections: z.array(text),
  proposal: z.strictObject(proposal).optional(),
  reverts: text.optional(),
});
export const changeUpdatedV1 = z
  .strictObject({
    ...proposal,
    reason: textOrNull,
    document: text,
    online: z.boolean(),
    collections: z.array(text),
  })
  .partial();
export const changeApprovedV1 = z.strictObject({
  plan: text,
  complete: z.boolean(),
  comment: text.optional(),
  online: z.boolean(),
  credential: z.enum(['password', 'token']),
  findings: z.record(text, z.array(text)),
  kept: z.array(text),
});
export const changePreparingV1 = z.strictObject({
  collections: z.array(text),
  steps: z.array(z.strictObject({ key: text, kind: text, collection: text, field: textOrNull, summary: text })),
  warnings: z
    .array(z.strictObject({ code: text, collection: text.optional(), field: text.optional(), message: text }))
    .optional(),
  apply: z.boolean().optional(),
});
export const changePreparedV1 = z.strictObject({
  steps: z.array(z.strictObject({ key: text, milliseconds: z.number().nonnegative() })),
});
