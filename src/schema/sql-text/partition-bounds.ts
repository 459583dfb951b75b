/**
 * Reads and compares partition bounds without the database. PostgreSQL compares values by their type and collation, so
 * two values that this file does not understand are neither equal nor different.
 */
import type { ColumnSchema } from '../model/model.js';
import { type CollectionNode, extrasOf } from '../model/state.js';
import { type Node, integerOf, list, member, onlyElement, readTypeName, stringOf } from './expression.js';
import { parseText } from './check-sql-text.js';

/** Null is the value NULL, which only occurs in lists. */
type Value = bigint | string | null;

/** MINVALUE and MAXVALUE have a rank below and above all values. */
interface Datum {
  rank: -1 | 0 | 1;
  /** Undefined if only the database can read the value. */
  value?: Value | undefined;
}

export type PartitionBound =
  | { kind: 'default' }
  | { kind: 'hash'; modulus: number; remainder: number }
  | { kind: 'list'; values: ReadonlySet<Value> }
  | { kind: 'range'; lower: Datum[]; upper: Datum[] };

interface KeyColumn {
  /** False if values can only be equal, because their order depends on a collation. */
  isOrdered: boolean;
  /** The name of the type. Casts to it do not change a value. */
  typeName?: string;
  /** Returns undefined if only the database can read the constant. */
  read: (constant: Node) => Value | undefined;
}

export interface PartitionKey {
  kind: 'hash' | 'list' | 'range';
  columns: KeyColumn[];
}

/* Read the partition key of a table. */

const KINDS: ReadonlyMap<unknown, PartitionKey['kind']> = new Map<unknown, PartitionKey['kind']>([
  ['PARTITION_STRATEGY_HASH', 'hash'],
  ['PARTITION_STRATEGY_LIST', 'list'],
  ['PARTITION_STRATEGY_RANGE', 'range'],
]);

/** Undefined if the table is not partitioned. */
export function readPartitionKey(table: CollectionNode): PartitionKey | undefined {
  const { partition_by: text } = extrasOf(table);
  if (text === undefined) return undefined;
  const statement = parseText('partition key', text);
  const key = typeof statement === 'string' ? undefined : member(member(statement, 'CreateStmt'), 'partspec');
  const kind = KINDS.get(key?.['strategy']);
  if (kind === undefined) return undefined;
  return { kind, columns: list(key?.['partParams']).map((element) => readKeyColumn(table, element)) };
}

const NOT_READABLE: KeyColumn = { isOrdered: false, read: () => undefined };

function readKeyColumn(table: CollectionNode, element: unknown): KeyColumn {
  const { name, opclass, collation } = member(element, 'PartitionElem') ?? {};
  const schema = table.fields.get(String(name))?.schema ?? null;
  // An operator class may compare in any way.
  if (schema === null || opclass !== undefined) return NOT_READABLE;
  const type = valueType(table, schema.data_type);
  const ownCollation = list(collation).map(stringOf).at(-1) ?? schema.extras?.collation ?? '';
  return type === undefined ? NOT_READABLE : createKeyColumn(schema, type, ownCollation);
}

const createKeyColumn = (schema: ColumnSchema, type: ValueType, collation: string): KeyColumn => ({
  isOrdered: type.isOrdered ?? BYTEWISE.test(collation),
  typeName: schema.data_type,
  read(constant) {
    const text = quotedText(constant) ?? (type.isQuoted === true ? undefined : unquotedText(constant));
    return text === undefined ? undefined : type.read(text, schema);
  },
});

function valueType(table: CollectionNode, name: string): ValueType | undefined {
  const isEnum = (extrasOf(table).needs ?? []).some((need) => need.kind === 'enum' && need.name === name);
  return isEnum ? LABEL : VALUE_TYPES.get(name);
}

/** Collations that compare strings byte by byte. */
const BYTEWISE = /^(pg_catalog\.)?"?(C|POSIX)"?$/;

/* Read values. Each function returns undefined for a string that it does not understand. */

interface ValueType {
  read: (text: string, schema: ColumnSchema) => Value | undefined;
  /** Absent if the order depends on the collation. */
  isOrdered?: boolean;
  /** True if a number or a boolean is not a value of the type. */
  isQuoted?: true;
}

/** Reading a number takes longer than in proportion to its digits. */
const MAX_DIGITS = 1_000;
const DIGITS = `\\d{1,${MAX_DIGITS}}`;
const INTEGER_TEXT = new RegExp(`^[+-]?${DIGITS}$`);
const NUMERIC_TEXT = new RegExp(`^([+-]?)(${DIGITS})(?:\\.(\\d*))?$`);

const INTEGER: ValueType = {
  isOrdered: true,
  read: (text) => (INTEGER_TEXT.test(text) ? BigInt(text) : undefined),
};

/** Fraction digits that are compared. */
const FRACTION = 100;

function readNumeric(text: string, { numeric_precision, numeric_scale }: ColumnSchema): Value | undefined {
  const [, sign, whole = '', digits = ''] = NUMERIC_TEXT.exec(text) ?? [];
  const fraction = digits.replace(/0+$/, '');
  // PostgreSQL would round the value.
  const scale = numeric_precision === null ? FRACTION : (numeric_scale ?? 0);
  if (whole === '' || scale < 0 || fraction.length > Math.min(scale, FRACTION)) return undefined;
  const value = BigInt(whole + fraction.padEnd(FRACTION, '0'));
  return sign === '-' ? -value : value;
}

function readText(text: string, { max_length }: ColumnSchema): Value | undefined {
  return max_length !== null && text.length > max_length ? undefined : text;
}

const LABEL: ValueType = { isOrdered: false, isQuoted: true, read: (text) => text };
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const BOOLEANS: ReadonlyMap<string, bigint> = new Map([
  ['false', 0n],
  ['f', 0n],
  ['true', 1n],
  ['t', 1n],
]);

/* Points in time are microseconds. */

const INFINITE: ReadonlyMap<string, bigint> = new Map([
  ['infinity', 10n ** 30n],
  ['-infinity', -(10n ** 30n)],
]);

const DAY = /^\d{4}-\d\d-\d\d$/;
const TIME = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?([+-]\d\d(?::?\d\d)?|Z)?)?$/;

const readDate = (text: string): Value | undefined =>
  INFINITE.get(text) ?? (DAY.test(text) ? microsecondsOf(text, '00:00:00') : undefined);

/** The service's sessions use UTC, so that is the zone of a string without an offset. */
function readTimestamp(text: string, { extras }: ColumnSchema): Value | undefined {
  const [, day = '', time = '00:00:00', digits = '', zone = 'Z'] = TIME.exec(text) ?? [];
  const fraction = digits.replace(/0+$/, '');
  const isRounded = fraction.length > (extras?.precision ?? 6);
  const start = isRounded ? undefined : microsecondsOf(day, time);
  return start === undefined ? INFINITE.get(text) : start + BigInt(fraction.padEnd(6, '0')) - offsetOf(zone);
}

/** Returns the microseconds of an offset such as `+05:30`. */
function offsetOf(zone: string): bigint {
  if (zone === 'Z') return 0n;
  const [hours, minutes] = [zone.slice(1, 3), zone.slice(3).replace(':', '')];
  const offset = (BigInt(hours) * 60n + BigInt(minutes)) * 60_000_000n;
  return zone.startsWith('-') ? -offset : offset;
}

/** Undefined if the day or the time does not exist. */
function microsecondsOf(day: string, time: string): bigint | undefined {
  const date = new Date(`${day}T${time}Z`);
  const isReal = !Number.isNaN(date.getTime()) && date.toISOString().startsWith(`${day}T${time}`);
  return isReal ? BigInt(date.getTime()) * 1000n : undefined;
}

const readLocalTimestamp: ValueType['read'] = (text, schema) =>
  // PostgreSQL ignores an offset.
  TIME.exec(text)?.[4] === undefined ? readTimestamp(text, schema) : undefined;

const VALUE_TYPES: ReadonlyMap<string, ValueType> = new Map<string, ValueType>([
  ['smallint', INTEGER],
  ['integer', INTEGER],
  ['bigint', INTEGER],
  ['numeric', { isOrdered: true, read: readNumeric }],
  ['boolean', { isOrdered: true, read: (text) => BOOLEANS.get(text) }],
  ['date', { isOrdered: true, isQuoted: true, read: readDate }],
  ['timestamp without time zone', { isOrdered: true, isQuoted: true, read: readLocalTimestamp }],
  ['timestamp with time zone', { isOrdered: true, isQuoted: true, read: readTimestamp }],
  ['uuid', { isOrdered: true, isQuoted: true, read: (text) => (UUID.test(text) ? text.toLowerCase() : undefined) }],
  ['text', { isQuoted: true, read: readText }],
  ['character varying', { isQuoted: true, read: readText }],
  // Trailing blanks are not part of the value.
  ['character', { isQuoted: true, read: (text, schema) => readText(text.replace(/ +$/, ''), schema) }],
  ['citext', LABEL],
]);

/* Read bounds. */

/** Undefined if the text is not a bound. */
export function readPartitionBound(text: string, { columns }: PartitionKey): PartitionBound | undefined {
  const statement = parseText('partition bound', text);
  const command = member(
    onlyElement(typeof statement === 'string' ? [] : member(statement, 'AlterTableStmt')?.['cmds']),
    'AlterTableCmd',
  );
  const bound = member(member(member(command, 'def'), 'PartitionCmd'), 'bound');
  if (bound?.['is_default'] === true) return { kind: 'default' };
  // The parser omits zeros.
  const number = (name: string): number => (typeof bound?.[name] === 'number' ? bound[name] : 0);
  const datums = (name: string): Datum[] =>
    list(bound?.[name]).map((value, index) => readDatum(value, columns[index] ?? NOT_READABLE));
  switch (bound?.['strategy']) {
    case 'h':
      return { kind: 'hash', modulus: number('modulus'), remainder: number('remainder') };
    case 'l':
      return { kind: 'list', values: new Set(list(bound['listdatums']).flatMap((value) => readValue(value, columns))) };
    case 'r':
      return { kind: 'range', lower: datums('lowerdatums'), upper: datums('upperdatums') };
    default:
      return undefined;
  }
}

const LIMITS: ReadonlyMap<unknown, -1 | 1> = new Map<unknown, -1 | 1>([
  ['minvalue', -1],
  ['maxvalue', 1],
]);

function readDatum(value: unknown, { typeName, read }: KeyColumn): Datum {
  const limit = LIMITS.get(stringOf(onlyElement(member(value, 'ColumnRef')?.['fields'])));
  if (limit !== undefined) return { rank: limit };
  const cast = member(value, 'TypeCast');
  const constant = member(cast?.['arg'] ?? value, 'A_Const');
  if (constant?.['isnull'] === true) return { rank: 0, value: null };
  const isReadable = cast === undefined || isCastTo(member(cast, 'typeName'), typeName);
  return { rank: 0, value: constant !== undefined && isReadable ? read(constant) : undefined };
}

/** Returns no value if only the database can read it. A list has one key column. */
function readValue(datum: unknown, [column = NOT_READABLE]: readonly KeyColumn[]): Value[] {
  const { value } = readDatum(datum, column);
  return value === undefined ? [] : [value];
}

function isCastTo(typeName: Node | undefined, type: string | undefined): boolean {
  const parsed = readTypeName(typeName);
  return parsed !== null && parsed.name === type && !parsed.isArray && parsed.parameters.length === 0;
}

/** The parser omits empty strings, zeros and false. */
function quotedText(constant: Node): string | undefined {
  const text = member(constant, 'sval');
  return text === undefined ? undefined : typeof text['sval'] === 'string' ? text['sval'] : '';
}

function unquotedText(constant: Node): string | undefined {
  const [decimal, boolean] = [member(constant, 'fval')?.['fval'], member(constant, 'boolval')];
  if (boolean !== undefined) return String(boolean['boolval'] === true);
  return typeof decimal === 'string' ? decimal : integerOf(constant)?.toString();
}

/* Compare bounds. */

/** Undefined if only the database can compare them. */
function compareDatums(a: Datum, b: Datum, { isOrdered }: KeyColumn): number | undefined {
  if (a.rank !== b.rank || a.rank !== 0) return a.rank - b.rank;
  const [one, other] = [a.value, b.value];
  if (one === undefined || other === undefined) return undefined;
  if (one === other) return 0;
  return isOrdered && isPlain(one) && isPlain(other) ? (one < other ? -1 : 1) : undefined;
}

/** True if the order of code units is the order of bytes in every encoding of a database. */
const isPlain = (value: Value): value is bigint | string =>
  typeof value === 'bigint' || (value !== null && /^[\x20-\x7e]*$/.test(value));

function compareDatumLists(a: readonly Datum[], b: readonly Datum[], { columns }: PartitionKey): number | undefined {
  for (const [index, column] of columns.entries()) {
    const [one, other] = [a[index], b[index]];
    if (one === undefined || other === undefined) return undefined;
    const order = compareDatums(one, other, column);
    // After MINVALUE or MAXVALUE, PostgreSQL ignores the other columns.
    if (order !== 0 || one.rank !== 0) return order;
  }
  return 0;
}

/** Returns why a bound is invalid for the key, or null. */
export function partitionBoundFault(bound: PartitionBound, key: PartitionKey): string | null {
  if (bound.kind === 'default')
    return key.kind === 'hash' ? 'a table that is partitioned by HASH cannot have a default partition' : null;
  if (bound.kind !== key.kind) return `the table is partitioned by ${key.kind.toUpperCase()}: use ${FORMS[key.kind]}`;
  if (bound.kind === 'hash') return hashFault(bound);
  return bound.kind === 'range' ? rangeFault(bound, key) : null;
}

const FORMS = {
  hash: 'FOR VALUES WITH (MODULUS …, REMAINDER …)',
  list: 'FOR VALUES IN (…)',
  range: 'FOR VALUES FROM (…) TO (…)',
} as const;

type BoundOf<K extends PartitionBound['kind']> = Extract<PartitionBound, { kind: K }>;

function hashFault({ modulus, remainder }: BoundOf<'hash'>): string | null {
  if (modulus <= 0) return 'the modulus must be greater than 0';
  return remainder < 0 || remainder >= modulus ? 'the remainder must be less than the modulus, and not negative' : null;
}

function rangeFault({ lower, upper }: BoundOf<'range'>, key: PartitionKey): string | null {
  const { length } = key.columns;
  if (lower.length !== length || upper.length !== length)
    return `FROM and TO must have one value for each column of the partition key, which has ${length}`;
  if ([...lower, ...upper].some(({ value }) => value === null)) return 'FROM and TO must not contain NULL';
  const order = compareDatumLists(lower, upper, key);
  return order !== undefined && order >= 0 ? 'FROM must be less than TO' : null;
}

type Conflict = 'is default' | 'overlaps' | 'moduli';

/** Returns why two partitions of a table cannot have these bounds, or null. Both bounds must have no fault. */
export function partitionBoundConflict(
  bound: PartitionBound,
  other: PartitionBound,
  key: PartitionKey,
): Conflict | null {
  if (bound.kind === 'default') return other.kind === 'default' ? 'is default' : null;
  if (bound.kind === 'hash') return other.kind === 'hash' ? hashConflict(bound, other) : null;
  const overlap =
    bound.kind === 'list'
      ? other.kind === 'list' && [...bound.values].some((value) => other.values.has(value))
      : other.kind === 'range' && rangesOverlap(bound, other, key);
  return overlap ? 'overlaps' : null;
}

function hashConflict(one: BoundOf<'hash'>, other: BoundOf<'hash'>): Conflict | null {
  const [small, large] = [Math.min(one.modulus, other.modulus), Math.max(one.modulus, other.modulus)];
  if (large % small !== 0) return 'moduli';
  return one.remainder % small === other.remainder % small ? 'overlaps' : null;
}

/** Ranges that begin or end with the same values overlap, even if the order of other values is unknown. */
function rangesOverlap(bound: BoundOf<'range'>, other: BoundOf<'range'>, key: PartitionKey): boolean {
  const compare = (a: readonly Datum[], b: readonly Datum[]): number | undefined => compareDatumLists(a, b, key);
  if (compare(bound.lower, other.lower) === 0 || compare(bound.upper, other.upper) === 0) return true;
  const [one, two] = [compare(bound.lower, other.upper), compare(other.lower, bound.upper)];
  return one !== undefined && one < 0 && two !== undefined && two < 0;
}
