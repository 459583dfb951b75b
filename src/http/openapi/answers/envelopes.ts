/** The envelopes of documents in responses and requests, and the format of errors. */
import { z } from 'zod';
import { STATUS } from '../../errors.js';

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
  .describe('Like X-Acknowledge, in the body');

/** The code determines the further members of an error. */
export const errors = z
  .strictObject({
    errors: z
      .array(
        z.strictObject({
          message: z.string().describe('The problem, and how to solve it'),
          extensions: z.looseObject({
            code: z.enum(Object.keys(STATUS)),
            path: z.string().optional().describe('Location in the request: `fields[2].type`'),
            collection: z.string().optional(),
            field: z.string().optional(),
            subject: z.looseObject({}).optional().describe('The subject of the problem, with its names'),
          }),
        }),
      )
      .min(1),
  })
  .meta({ id: 'Errors' });

export type Errors = z.output<typeof errors>;
