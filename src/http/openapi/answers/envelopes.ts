/** The envelopes of documents in responses and requests. */
import { z } from 'zod';

/** `{ "data": … }` */
export const data = <S extends z.ZodType>(shape: S) => z.strictObject({ data: shape });

const counts = z.strictObject({ total_count: z.int().optional(), filter_count: z.int().optional() });

/** A page of a list with the requested counts. */
export const page = <S extends z.ZodType>(shape: S) =>
  z.strictObject({ data: z.array(shape), meta: counts.optional() });

/** A body that is an object or a list of objects. */
export const oneOrMany = <S extends z.ZodType>(shape: S) => z.union([shape, z.array(shape)]);

/** A document alone or in `{ "data": … }`. */
export const wrapped = <S extends z.ZodType>(shape: S) => z.union([shape, data(shape)]);

/** The member of a body that acknowledges findings. */
export const acknowledge = z
  .array(z.strictObject({ code: z.string(), place: z.string() }))
  .max(1_000)
  .optional()
  .describe('As X-Acknowledge, in the body');
