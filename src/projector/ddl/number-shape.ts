/** The range and precision of number types, to decide whether a type change loses data. */
import type { ColumnSchema } from '../../schema/model/model.js';

/** Digits after the decimal point; Infinity if unlimited. */
export function scaleOf({ data_type, numeric_precision, numeric_scale }: ColumnSchema): number {
  if (data_type === 'numeric') return numeric_precision === null ? Infinity : (numeric_scale ?? 0);
  return WHOLE_DIGITS.has(data_type) ? 0 : Infinity;
}

/** The decimal logarithm of the largest value: numeric(10,5) ends below 10⁵. */
export function magnitude(schema: ColumnSchema): number {
  const { data_type, numeric_precision } = schema;
  if (data_type === 'numeric') return numeric_precision === null ? Infinity : numeric_precision - scaleOf(schema);
  return MAGNITUDES.get(data_type) ?? Infinity;
}

/**
 * Checks whether a conversion can round values without an error. `from` is null for numbers stored as text or JSON.
 */
export function roundsNumbers(from: ColumnSchema | null, to: ColumnSchema): boolean {
  if (from?.data_type === to.data_type && isFloating(to)) return false;
  if (from === null) return !WHOLE_DIGITS.has(to.data_type) && Number.isFinite(digitsHeld(to));
  if (isFloating(from)) return to.data_type !== 'double precision';
  return scaleOf(to) < scaleOf(from) || (isFloating(to) && digitsHeld(to) < digitsHeld(from));
}

const isFloating = ({ data_type }: ColumnSchema): boolean => data_type === 'real' || data_type === 'double precision';

/** The number of significant digits that always survive. */
function digitsHeld({ data_type, numeric_precision }: ColumnSchema): number {
  if (data_type === 'numeric') return numeric_precision ?? Infinity;
  return WHOLE_DIGITS.get(data_type) ?? (data_type === 'real' ? 6 : 15);
}

const WHOLE_DIGITS = new Map([
  ['smallint', 5],
  ['integer', 10],
  ['bigint', 19],
]);

const MAGNITUDES = new Map([
  ['smallint', 4.6],
  ['integer', 9.4],
  ['bigint', 19],
  ['real', 38.6],
  ['double precision', 308.3],
]);
