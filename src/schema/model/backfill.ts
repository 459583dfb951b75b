/* A backfill: the values that a change to a field writes to the rows in which the field is NULL. */
import type { Json } from '../../kernel/json.js';

/** `trim` removes spaces from both ends. The functions of text take the value of another field. */
export const TEXT_EXPRESSIONS = ['lower', 'upper', 'trim'] as const;
export const BACKFILL_EXPRESSIONS = ['now', 'gen_random_uuid', ...TEXT_EXPRESSIONS] as const;

export type TextExpression = (typeof TEXT_EXPRESSIONS)[number];

/** The data types of the columns that an expression without a field can fill. */
export const EXPRESSION_TYPES: Readonly<
  Record<Exclude<(typeof BACKFILL_EXPRESSIONS)[number], TextExpression>, ReadonlySet<string>>
> = {
  now: new Set(['timestamp with time zone', 'timestamp without time zone', 'date', 'time without time zone']),
  gen_random_uuid: new Set(['uuid']),
};

export type Backfill =
  /** The same value for every row, in the normal form of a default. */
  | { value: Json }
  /** The value of another field of the row. */
  | { field: string }
  | { expression: Exclude<(typeof BACKFILL_EXPRESSIONS)[number], TextExpression> }
  | { expression: TextExpression; field: string };

/** Returns the field that the values come from. Undefined if they come from no field. */
export const sourceOf = (backfill: Backfill): string | undefined => ('field' in backfill ? backfill.field : undefined);

/** Backfills by `memberKey` of their field. */
export type Backfills = ReadonlyMap<string, Backfill>;

/** Returns how an event fills existing rows. Undefined if it fills none. */
export function backfillOfEvent(event: { data: object } | undefined): Backfill | undefined {
  const data: { backfill?: Backfill } | undefined = event?.data;
  return data?.backfill;
}
