import { z } from 'zod';
import type { ErrorCode } from '../errors.js';

export interface OperationDoc {
  id: string;
  summary: string;
  description?: string;
  body?: z.ZodType;
  example?: unknown;
  /** The JSON of 200. Without it and without `media`, the status is 204. */
  answer?: z.ZodType;
  /** The response to `dry_run` and `explain`, on routes that accept them. Default: a plan. */
  rehearsal?: z.ZodType;
  /** Media types of 200 other than JSON. */
  media?: readonly string[];
  /** The response has a validator: If-None-Match, 304. */
  validated?: true;
  /** The route changes the schema, so it has the headers of changes. */
  changes?: true;
  /** Further error codes, beyond those that follow from the route. */
  refuses?: readonly ErrorCode[];
  /** The JSON of other successful statuses. */
  also?: Readonly<Record<number, z.ZodType>>;
}

export type OperationDocs = Readonly<Record<string, OperationDoc>>;

/** `{ "data": … }` */
export const data = (shape: z.ZodType): z.ZodType => z.strictObject({ data: shape });

/** The member of a body that acknowledges findings. */
export const acknowledge = z
  .array(z.strictObject({ code: z.string(), place: z.string() }))
  .max(1_000)
  .optional()
  .describe('As X-Acknowledge, in the body');

const counts = z.strictObject({ total_count: z.int().optional(), filter_count: z.int().optional() });

/** A page of a list with the requested counts. */
export const page = (shape: z.ZodType): z.ZodType => z.strictObject({ data: z.array(shape), meta: counts.optional() });

/** A body that is an object or a list of objects. */
export const oneOrMany = (shape: z.ZodType): z.ZodType => z.union([shape, z.array(shape)]);
