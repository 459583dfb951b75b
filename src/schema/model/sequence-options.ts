/** Options of sequences and their defaults in PostgreSQL. */
import type { SequenceOptions } from './extras.js';

export interface SequenceBounds {
  min: string;
  max: string;
}

const RANGE_OF_BIGINT: SequenceBounds = { min: '-9223372036854775808', max: '9223372036854775807' };

const RANGES: Readonly<Record<string, SequenceBounds>> = {
  smallint: { min: '-32768', max: '32767' },
  integer: { min: '-2147483648', max: '2147483647' },
};

const rangeOf = (type: string): SequenceBounds => RANGES[type] ?? RANGE_OF_BIGINT;

const isUpwards = (increment: string): boolean => !increment.startsWith('-');

/** Returns the default limits of a sequence. */
export function defaultBounds(type: string, increment: string): SequenceBounds {
  const { min, max } = rangeOf(type);
  return isUpwards(increment) ? { min: '1', max } : { min, max: '-1' };
}

const defaultStart = ({ increment, min, max }: SequenceBounds & { increment: string }): string =>
  isUpwards(increment) ? min : max;

/** All options of a sequence, including defaults. */
export type AllSequenceOptions = Required<Omit<SequenceOptions, 'cycle'>> & { cycle: boolean };

/** Adds defaults for all absent options. @param usualType `bigint`, or the column's type for an identity */
export function everyOptionOf(options: SequenceOptions, usualType: SequenceType): AllSequenceOptions {
  const { type = usualType, increment = '1', cache = '1' } = options;
  const usual = defaultBounds(type, increment);
  const { min = usual.min, max = usual.max } = options;
  const { start = defaultStart({ increment, min, max }) } = options;
  return { type, start, increment, min, max, cache, cycle: options.cycle === true };
}

export type SequenceType = NonNullable<SequenceOptions['type']>;

/** Returns only the options that differ from the defaults, in the order of the document. */
export function unusualOptions(every: AllSequenceOptions, usualType: string): SequenceOptions {
  const { min, max } = defaultBounds(every.type, every.increment);
  const options: [keyof SequenceOptions, value: string, usual: string][] = [
    ['type', every.type, usualType],
    ['start', every.start, defaultStart(every)],
    ['increment', every.increment, '1'],
    ['min', every.min, min],
    ['max', every.max, max],
    ['cache', every.cache, '1'],
  ];
  const unusual = options.filter(([, value, usual]) => value !== usual).map(([name, value]) => [name, value]);
  return { ...Object.fromEntries(unusual), ...(every.cycle ? { cycle: true } : {}) };
}

type NumericOption = 'start' | 'increment' | 'min' | 'max' | 'cache';
type Fault = [member: NumericOption, message: string];

const NUMBERED: readonly NumericOption[] = ['start', 'increment', 'min', 'max', 'cache'];

/** Writes numbers like PostgreSQL: `007` becomes `7`. Invalid numbers remain unchanged. */
export function writtenOptions<T extends SequenceOptions>(options: T): T {
  const numbers = NUMBERED.flatMap((name) => {
    const value = options[name];
    return value === undefined || !INTEGER.test(value) ? [] : [[name, String(BigInt(value))]];
  });
  return { ...options, ...Object.fromEntries(numbers) };
}

const INTEGER = /^-?\d{1,30}$/;

/**
 * Returns the options that CREATE SEQUENCE would reject, with reasons.
 * @param usualType `bigint`, or the column's type for an identity
 */
export function sequenceFaults(options: SequenceOptions, usualType: SequenceType): Fault[] {
  const malformed = NUMBERED.flatMap((name): Fault[] => {
    const value = options[name];
    return value === undefined || isBigint(value) ? [] : [[name, 'must be a 64-bit integer, as a string']];
  });
  if (malformed.length > 0) return malformed;
  const { type, ...every } = everyOptionOf(options, usualType);
  const numbers = Object.fromEntries(NUMBERED.map((name) => [name, BigInt(every[name])])) as Numbers;
  return [...ownFaults(numbers), ...boundFaults(options, numbers, type)];
}

type Numbers = Record<NumericOption, bigint>;

const isWithin = (value: bigint, { min, max }: SequenceBounds): boolean => value >= BigInt(min) && value <= BigInt(max);

const isBigint = (value: string): boolean => INTEGER.test(value) && isWithin(BigInt(value), RANGE_OF_BIGINT);

function ownFaults({ increment, cache }: Numbers): Fault[] {
  const faults: Fault[] = [];
  if (increment === 0n) faults.push(['increment', 'must not be zero']);
  if (cache < 1n) faults.push(['cache', 'must be greater than zero']);
  return faults;
}

function boundFaults(options: SequenceOptions, { start, min, max }: Numbers, type: string): Fault[] {
  const range = rangeOf(type);
  const outside = (['min', 'max'] as const).filter((name) => !isWithin({ min, max }[name], range));
  if (outside.length > 0) {
    return outside.map((name): Fault => [name, `must be from ${range.min} to ${range.max}, the range of type ${type}`]);
  }
  if (min >= max) {
    return [
      options.max === undefined
        ? ['min', `must be less than max, ${max}`]
        : ['max', `must be greater than min, ${min}`],
    ];
  }
  if (start >= min && start <= max) return [];
  return [['start', `must be from min to max: ${min} to ${max}`]];
}
