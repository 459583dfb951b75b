/**
 * Properties of adopted tables beyond fields and relations. They are stored so that a snapshot creates the same table
 * elsewhere. All SQL has the form that PostgreSQL writes (pg_get_*def) and is parsed again on input. Names without a
 * schema are those of the default schema, and names of tables are those of their collections.
 */
import { z } from 'zod';

const text = z.string();
const yes = z.literal(true);

/**
 * Options of CREATE SEQUENCE. Options with the default value are absent. Numbers are strings, because they have 64
 * bits.
 */
const sequenceOptions = z.strictObject({
  /** The type of the sequence. Absent means bigint or, for an identity, the type of the column. */
  type: z.enum(['smallint', 'integer', 'bigint']).optional(),
  start: text.optional(),
  increment: text.optional(),
  min: text.optional(),
  max: text.optional(),
  cache: text.optional(),
  cycle: yes.optional(),
});
export type SequenceOptions = z.infer<typeof sequenceOptions>;

export const columnExtras = z.strictObject({
  /** Digits of fractional seconds, for time and timestamp types. */
  precision: z.int().min(0).max(6).optional(),
  /** Name of a collation, written as in SQL: `"C"`, `public."de-x"`. */
  collation: text.optional(),
  /**
   * SQL of a default that `default_value` cannot express, such as `nextval(…)` of a serial column. `default_value` is
   * then null. Also used for the spelling of a value that PostgreSQL would write differently.
   */
  default: text.optional(),
  /** Marks an identity column that accepts no explicit values. */
  identity: z.literal('always').optional(),
  /** Marks a generated column that is not stored. */
  virtual: yes.optional(),
  /** The sequence of an identity column, if its options differ from the defaults. */
  sequence: z.strictObject({ name: text.optional(), ...sequenceOptions.shape }).optional(),
  /** Names of constraints and indexes that differ from the service's names. */
  primary_key_name: text.optional(),
  unique_name: text.optional(),
  index_name: text.optional(),
  not_null_name: text.optional(),
});
export type ColumnExtras = z.infer<typeof columnExtras>;

const named = z.strictObject({ name: text, definition: text });

/** Options of CREATE COLLATION. */
const collation = z.strictObject({
  provider: z.enum(['libc', 'icu', 'builtin']),
  /** The locale in the spelling of the provider. Absent for libc if the two members below differ. */
  locale: text.optional(),
  lc_collate: text.optional(),
  lc_ctype: text.optional(),
  /** Only for ICU. False means that strings with different spellings may be equal. */
  deterministic: z.literal(false).optional(),
  /** Tailoring rules, only for ICU: `&a < g`. */
  rules: text.optional(),
});
export type Collation = z.infer<typeof collation>;

const domain = z.strictObject({
  type: text,
  collation: text.optional(),
  not_null: yes.optional(),
  default: text.optional(),
  checks: z.array(named).optional(),
});
export type Domain = z.infer<typeof domain>;

/** The schema in PostgreSQL. Absent for the default schema. */
const needSchema = text.optional();

/**
 * An object outside the table that its columns use. The service creates the object if it is missing, and never drops
 * it.
 */
const need = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('extension'), name: text }),
  z.strictObject({ kind: z.literal('collation'), schema: needSchema, name: text, ...collation.shape }),
  z.strictObject({ kind: z.literal('enum'), schema: needSchema, name: text, labels: z.array(text) }),
  z.strictObject({ kind: z.literal('domain'), schema: needSchema, name: text, ...domain.shape }),
  z.strictObject({
    kind: z.literal('sequence'),
    schema: needSchema,
    name: text,
    /** The column that owns the sequence. */
    owned_by: text.optional(),
    ...sequenceOptions.shape,
  }),
]);
export type Need = z.infer<typeof need>;

export const tableExtras = z.strictObject({
  /**
   * A primary key that has several columns, or options that its column cannot express. `definition` contains such
   * options.
   */
  primary_key: z.strictObject({ name: text, columns: z.array(text), definition: text.optional() }).optional(),
  /**
   * Constraints, sorted by name. `definition` is from pg_get_constraintdef. `references` is the table that a foreign
   * key references.
   */
  constraints: z.array(named.extend({ references: text.optional() })).optional(),
  /** Indexes, sorted by name. `definition` is the part of pg_get_indexdef from USING on. */
  indexes: z.array(named.extend({ unique: yes.optional() })).optional(),
  /** The text after PARTITION BY: `RANGE (payment_date)`. */
  partition_by: text.optional(),
  /** The parent table and the bound: `FOR VALUES FROM (1) TO (2)`, `DEFAULT`. */
  partition_of: z.strictObject({ table: text, bound: text }).optional(),
  /** Objects that must exist before the table, in this order. */
  needs: z.array(need).optional(),
  /** Unmanaged objects that depend on the table. They stay unchanged and appear in no snapshot. */
  unmanaged: z
    .array(z.strictObject({ kind: z.enum(['constraint', 'index', 'default', 'generated']), name: text }))
    .optional(),
});
export type TableExtras = z.infer<typeof tableExtras>;

/**
 * Extensions of PostgreSQL's distribution that are marked trusted. A role that may create tables may install them. All
 * other extensions can access the server's files or run programs, so an administrator must install them.
 */
export const TRUSTED_EXTENSIONS: ReadonlySet<string> = new Set([
  'btree_gin',
  'btree_gist',
  'citext',
  'cube',
  'dict_int',
  'fuzzystrmatch',
  'hstore',
  'intarray',
  'isn',
  'lo',
  'ltree',
  'pg_trgm',
  'pgcrypto',
  'seg',
  'tablefunc',
  'tcn',
  'tsm_system_rows',
  'tsm_system_time',
  'unaccent',
  'uuid-ossp',
]);

/** Matches a default that consists of a nextval call. */
export const NEXTVAL = /^\s*nextval\s*\(/i;

/** Matches a default that contains a nextval call. */
export const MENTIONS_NEXTVAL = /nextval\s*\(/i;

/** True if a column is auto-increment because of a `nextval(…)` default, the older alternative to an identity. */
export function isSerial({ extras }: { extras?: ColumnExtras | undefined }): boolean {
  return extras?.default !== undefined && NEXTVAL.test(extras.default);
}

/** True if a column is an identity. */
export function isIdentity(column: { has_auto_increment: boolean; extras?: ColumnExtras | undefined }): boolean {
  return column.has_auto_increment && !isSerial(column);
}

/* Options of sequences and their defaults in PostgreSQL. */

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
