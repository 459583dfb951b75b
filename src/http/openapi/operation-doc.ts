/** What the document says of a route beside what the route itself says. */
import { z } from 'zod';
import type { ErrorCode } from '../errors.js';

export interface OperationDoc {
  /** Its operationId: what a generated client calls it. */
  id: string;
  summary: string;
  description?: string;
  /** The body, of a route that takes one. */
  body?: z.ZodType;
  /** An example of the body, where the shape has none. */
  example?: unknown;
  /** The JSON of 200. Without it, and without `media`: 204. */
  answer?: z.ZodType;
  /** What `dry_run` and `explain` answer, of a route that takes them; absent: a plan. */
  rehearsal?: z.ZodType;
  /** Media types of 200 that aren't JSON. */
  media?: readonly string[];
  /** It has a validator: If-None-Match, 304. */
  validated?: true;
  /** It is a change of the schema: its headers say who may repeat it, and what it became. */
  changes?: true;
  /** Codes that it may answer beside those that follow from the route. */
  refuses?: readonly ErrorCode[];
  /** JSON of a status that is no refusal, and not 200. */
  also?: Readonly<Record<number, z.ZodType>>;
}

export type OperationDocs = Readonly<Record<string, OperationDoc>>;

/** `{ "data": … }` */
export const data = (shape: z.ZodType): z.ZodType => z.strictObject({ data: shape });

/** The member of a body in which its sender says what they know of. */
export const acknowledge = z
  .array(z.strictObject({ code: z.string(), place: z.string() }))
  .max(1_000)
  .optional()
  .describe('As X-Acknowledge, in the body');

const counts = z.strictObject({ total_count: z.int().optional(), filter_count: z.int().optional() });

/** A page of a list, with the counts that were asked for. */
export const page = (shape: z.ZodType): z.ZodType => z.strictObject({ data: z.array(shape), meta: counts.optional() });

/** A body that is an object or a list of such. */
export const oneOrMany = (shape: z.ZodType): z.ZodType => z.union([shape, z.array(shape)]);
