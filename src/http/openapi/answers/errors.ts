/** The response format of errors. */
import { z } from 'zod';
import { STATUS } from '../../errors.js';

/** The code determines the further members of an error. */
export const errors = z
  .strictObject({
    errors: z
      .array(
        z.strictObject({
          message: z.string().describe('What is wrong, and what would be right'),
          extensions: z.looseObject({
            code: z.enum(Object.keys(STATUS)),
            path: z.string().optional().describe('Where in the request: `fields[2].type`'),
            collection: z.string().optional(),
            field: z.string().optional(),
            subject: z.looseObject({}).optional().describe('What the problem is about, and its names'),
          }),
        }),
      )
      .min(1),
  })
  .meta({ id: 'Errors' });

export type Errors = z.output<typeof errors>;
