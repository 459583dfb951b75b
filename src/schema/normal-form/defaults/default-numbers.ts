/** Default values of numeric columns. Numbers that JSON cannot represent exactly are decimal strings. */
import { Wrong } from '../checks.js';
import type { ColumnType } from '../types/field-types.js';

const INTEGER_RANGE: ReadonlyMap<string, readonly [bigint, bigint]> = new Map([
  ['smallint', [-(2n ** 15n), 2n ** 15n - 1n]],
  ['integer', [-(2n ** 31n), 2n ** 31n - 1n]],
  ['bigint', [-(2n ** 63n), 2n ** 63n - 1n]],
]);

const NOT_AN_INTEGER = new Wrong('must be an integer');
const NOT_A_NUMBER = new Wrong('must be a number');
const AS_STRING = new Wrong('has more digits than a JSON number keeps exactly: send it as a string');

/** JSON parsing may already have changed a number beyond 2^53. */
function isInexact(value: unknown): boolean {
  return typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER;
}

/** smallint and integer: a number. bigint: a number if exact, otherwise a decimal string. */
export function integerDefault(value: unknown, column: ColumnType): number | string | Wrong {
  if (isInexact(value)) return AS_STRING;
  if (typeof value === 'number' ? !Number.isInteger(value) : !isIntegerText(value)) return NOT_AN_INTEGER;
  const exact = BigInt(value as number | string);
  const [low, high] = INTEGER_RANGE.get(column.data_type) ?? [exact, exact];
  if (exact < low || exact > high) return new Wrong(`must be from ${low} to ${high} for ${column.data_type}`);
  const number = Number(exact);
  return Number.isSafeInteger(number) ? number : exact.toString();
}

function isIntegerText(value: unknown): boolean {
  return typeof value === 'string' && /^-?\d{1,30}$/.test(value);
}

const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,4})?$/i;
/** Longer numbers would be written in full. PostgreSQL's numeric(p) is also limited to 1,000 digits. */
const MAX_DIGITS = 1000;

/** Writes a number without exponent and superfluous zeros. Null if the text is no number. */
export function plainDecimal(text: string): string | null {
  if (text.length > MAX_DIGITS || !DECIMAL.test(text)) return null;
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
  const { integer, rest } = shiftPoint(mantissa.replace(/^[+-]/, ''), Number(exponent));
  if (integer === '' && rest === '') return '0';
  const plain = (text.startsWith('-') ? '-' : '') + integer.padStart(1, '0') + (rest === '' ? '' : `.${rest}`);
  // The result must be readable again.
  return plain.length > MAX_DIGITS ? null : plain;
}

/** Digits before and after the point after moving it `shift` digits to the right, without superfluous zeros. */
function shiftPoint(mantissa: string, shift: number): { integer: string; rest: string } {
  const [whole = '', fraction = ''] = mantissa.split('.');
  const left = whole.padStart(whole.length - shift, '0');
  const right = fraction.padEnd(shift, '0');
  const point = left.length + shift;
  const digits = left + right;
  return { integer: digits.slice(0, point).replace(/^0+/, ''), rest: digits.slice(point).replace(/0+$/, '') };
}

/** numeric: a number if its text is equal, otherwise a decimal string. */
export function decimalDefault(value: unknown, column: ColumnType): number | string | Wrong {
  if (isInexact(value)) return AS_STRING;
  const plain = typeof value === 'number' || typeof value === 'string' ? plainDecimal(String(value)) : null;
  if (plain === null) return NOT_A_NUMBER;
  const scale = column.numeric_scale ?? 0;
  const precision = column.numeric_precision;
  if (precision !== null && !fitsDecimal(plain, precision, scale)) {
    return new Wrong(`must fit numeric(${precision},${scale}): at most ${precision - scale} digits before the point`);
  }
  const number = Number(plain);
  return !isInexact(number) && plainDecimal(String(number)) === plain ? number : plain;
}

/** True if the value is in range after PostgreSQL rounds it to the scale. */
function fitsDecimal(plain: string, precision: number, scale: number): boolean {
  const [whole = '', fraction = ''] = plain.replace('-', '').split('.');
  const room = precision - scale;
  const digits = whole === '0' ? 0 : whole.length;
  if (digits !== room) return digits < room;
  const kept = BigInt(`0${whole}${fraction.slice(0, scale)}`);
  const rounded = fraction.slice(scale) >= '5' ? kept + 1n : kept;
  return rounded < 10n ** BigInt(precision);
}

/** real, double precision: a number. For real, the shortest one with the same 32-bit value. */
export function floatDefault(value: unknown, column: ColumnType): number | Wrong {
  const text = typeof value === 'string' ? plainDecimal(value) : null;
  const number = typeof value === 'number' ? value : Number(text ?? NaN);
  if (!Number.isFinite(number)) return NOT_A_NUMBER;
  if (column.data_type !== 'real') return number === 0 ? 0 : number;
  const single = Math.fround(number);
  const lost = !Number.isFinite(single) || (single === 0 && number !== 0);
  return lost ? new Wrong('must be in the range of real (about 1e-45 to 3.4e38)') : shortest(single);
}

function shortest(single: number): number {
  for (let digits = 1; digits < 9; digits++) {
    const candidate = Number(single.toPrecision(digits));
    if (Math.fround(candidate) === single) return candidate;
  }
  return Number(single.toPrecision(9));
}
