import type { ColumnSchema } from '../../schema/model/model.js';
import { columnType, typeFromColumn } from '../../schema/normal-form/index.js';
import { type Sql, sql, typeName } from './sql.js';
import type { Need } from '../../schema/model/extras.js';
import { schemaOfNeed } from '../../schema/model/order.js';
import type { Statement } from './step.js';
import { quotedName } from '../../schema/sql-text/quoted-name.js';

/** Kinds of types whose values convert the same way. */
export type Kind = 'text' | 'number' | 'boolean' | 'temporal' | 'json' | 'other';

const KINDS = new Map<string, Kind>([
  ['text', 'text'],
  ['citext', 'text'],
  ['character varying', 'text'],
  ['character', 'text'],
  ['smallint', 'number'],
  ['integer', 'number'],
  ['bigint', 'number'],
  ['real', 'number'],
  ['double precision', 'number'],
  ['numeric', 'number'],
  ['boolean', 'boolean'],
  ['date', 'temporal'],
  ['time without time zone', 'temporal'],
  ['time with time zone', 'temporal'],
  ['timestamp without time zone', 'temporal'],
  ['timestamp with time zone', 'temporal'],
  ['json', 'json'],
  ['jsonb', 'json'],
]);

/** `other`: a type such as an enum, an array or uuid. */
export const kindOf = ({ data_type }: Pick<ColumnSchema, 'data_type'>): Kind => KINDS.get(data_type) ?? 'other';

/** Pairs of temporal types without a cast. */
const NO_CAST = new Set([
  'date>time without time zone',
  'date>time with time zone',
  'time without time zone>date',
  'time without time zone>timestamp without time zone',
  'time without time zone>timestamp with time zone',
  'time with time zone>date',
  'time with time zone>timestamp without time zone',
  'time with time zone>timestamp with time zone',
  'timestamp without time zone>time with time zone',
]);

/**
 * Returns the expression after USING, or null if the assignment converts the values. An explicit cast silently
 * truncates text to the new length; an assignment fails. For character types, the last step is therefore always the
 * assignment.
 */
export function conversionExpression(from: ColumnSchema, to: ColumnSchema, column: Sql): Sql | null {
  if (from.data_type === to.data_type) return null;
  const [old, now] = [kindOf(from), kindOf(to)];
  if (now === 'text') return old === 'text' ? null : sql`${column}::text`;
  const type = typeName(columnType(to));
  const special = SPECIAL.get(`${old}>${now}`);
  if (special !== undefined) return special(column, type);
  return old === 'text' || hasCast(from, to) ? sql`${column}::${type}` : sql`${column}::text::${type}`;
}

/**
 * Expressions for conversions without a plain cast. PostgreSQL casts only integer to boolean and back. It converts JSON
 * with a function instead of a cast.
 */
const SPECIAL = new Map<string, (column: Sql, type: Sql) => Sql>([
  ['number>boolean', (column) => sql`${column} <> 0`],
  ['boolean>number', (column, type) => sql`${column}::integer::${type}`],
  ...(['number', 'boolean', 'temporal', 'other'] as const).map(
    (kind) => [`${kind}>json`, (column: Sql, type: Sql) => sql`pg_catalog.to_jsonb(${column})::${type}`] as const,
  ),
]);

/** Checks whether PostgreSQL has a cast between two types of one kind. */
function hasCast(from: ColumnSchema, to: ColumnSchema): boolean {
  const kind = kindOf(from);
  return kind === kindOf(to) && kind !== 'other' && !NO_CAST.has(`${from.data_type}>${to.data_type}`);
}

/* The range and precision of number types, to decide whether a type change loses data. */

/** Returns the number of digits after the decimal point; Infinity if unlimited. */
function scaleOf({ data_type, numeric_precision, numeric_scale }: ColumnSchema): number {
  if (data_type === 'numeric') return numeric_precision === null ? Infinity : (numeric_scale ?? 0);
  return WHOLE_DIGITS.has(data_type) ? 0 : Infinity;
}

/** Returns the decimal logarithm of the largest value: numeric(10,5) ends below 10⁵. */
function magnitude(schema: ColumnSchema): number {
  const { data_type, numeric_precision } = schema;
  if (data_type === 'numeric') return numeric_precision === null ? Infinity : numeric_precision - scaleOf(schema);
  return MAGNITUDES.get(data_type) ?? Infinity;
}

/**
 * Checks whether a conversion can round values without an error. `from` is null for numbers stored as text or JSON.
 */
function roundsNumbers(from: ColumnSchema | null, to: ColumnSchema): boolean {
  if (from?.data_type === to.data_type && isFloating(to)) return false;
  if (from === null) return !WHOLE_DIGITS.has(to.data_type) && Number.isFinite(countSafeDigits(to));
  if (isFloating(from)) return to.data_type !== 'double precision';
  return scaleOf(to) < scaleOf(from) || (isFloating(to) && countSafeDigits(to) < countSafeDigits(from));
}

const isFloating = ({ data_type }: ColumnSchema): boolean => data_type === 'real' || data_type === 'double precision';

/** Returns the number of significant digits that always survive. */
function countSafeDigits({ data_type, numeric_precision }: ColumnSchema): number {
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

type TypeChangeCosts = Pick<Statement, 'loses_data' | 'rewrites_table' | 'may_fail'>;

/**
 * Returns the costs of a type change. All are false if the type does not change.
 * @param needs the enums and domains that the table uses before and after
 */
export function typeChangeCosts(from: ColumnSchema, to: ColumnSchema, needs: readonly Need[] = []): TypeChangeCosts {
  if (columnType(from) === columnType(to)) return { loses_data: false, rewrites_table: false, may_fail: false };
  return { loses_data: losesData(from, to, needs), rewrites_table: !keepsBytes(from, to), may_fail: mayFail(from, to) };
}

/** True if the binary format stays the same, so that PostgreSQL only changes the catalog. */
function keepsBytes(from: ColumnSchema, to: ColumnSchema): boolean {
  if (from.data_type === 'numeric' && to.data_type === 'numeric') return isRoomier(from, to);
  if (kindOf(from) === 'temporal' && kindOf(to) === 'temporal') return keepsTimes(from, to);
  if (!VARIABLE_TEXT.has(from.data_type) || !VARIABLE_TEXT.has(to.data_type)) return false;
  if (to.max_length === null) return true;
  return from.data_type === 'character varying' && from.max_length !== null && to.max_length >= from.max_length;
}

const VARIABLE_TEXT = new Set(['text', 'citext', 'character varying']);

const isTimestamp = ({ data_type }: ColumnSchema): boolean => data_type.startsWith('timestamp ');

/** PostgreSQL keeps six fractional digits of a second by default and rounds to fewer. */
const MOST_DIGITS = 6;

const digitsOf = ({ extras }: ColumnSchema): number => extras?.precision ?? MOST_DIGITS;

/**
 * True if PostgreSQL need not rewrite the values. Sessions run in UTC, where a timestamp has the same value with and
 * without time zone. If a precision is given, PostgreSQL still rounds after such a cast, even if that is not needed.
 */
function keepsTimes(from: ColumnSchema, to: ColumnSchema): boolean {
  if (from.data_type === to.data_type) return digitsOf(to) >= digitsOf(from);
  return isTimestamp(from) && isTimestamp(to) && digitsOf(to) === MOST_DIGITS;
}

/** True if numeric `to` has at least as many digits as `from` and the same scale, or no limit. */
function isRoomier(from: ColumnSchema, to: ColumnSchema): boolean {
  if (to.numeric_precision === null) return true;
  if (from.numeric_precision === null) return false;
  return to.numeric_precision >= from.numeric_precision && scaleOf(to) === scaleOf(from);
}

/** How a type prints and parses its values. `label`: an enum; `opaque`: a type unknown to the service. */
type Spelling = Kind | 'label' | 'uuid' | 'bytes' | 'opaque';

interface SpelledType {
  schema: ColumnSchema;
  spelling: Spelling;
}

function typeOfNeed(need: Need): string {
  const schema = schemaOfNeed(need);
  return schema === undefined ? quotedName(need.name) : `${quotedName(schema)}.${quotedName(need.name)}`;
}

/** Returns how a type spells its values. A domain spells them like its base type. */
function resolveSpelling(schema: ColumnSchema, needs: readonly Need[]): SpelledType {
  if (kindOf(schema) !== 'other') return { schema, spelling: kindOf(schema) };
  if (schema.data_type === 'uuid') return { schema, spelling: 'uuid' };
  if (schema.data_type === 'bytea') return { schema, spelling: 'bytes' };
  const need = needs.find((need) => typeOfNeed(need) === schema.data_type);
  if (need?.kind === 'enum') return { schema, spelling: 'label' };
  if (need?.kind !== 'domain') return { schema, spelling: 'opaque' };
  return resolveSpelling({ ...schema, ...typeFromColumn(need.type) }, needs);
}

/** True if some value can change silently, by a different spelling, rounding or truncation. */
function losesData(from: ColumnSchema, to: ColumnSchema, needs: readonly Need[]): boolean {
  const [old, now] = [resolveSpelling(from, needs), resolveSpelling(to, needs)];
  // An explicit cast to a domain truncates to the base type. An assignment to the column would fail.
  if (now.schema !== to && (now.schema.max_length !== null || now.schema.numeric_precision !== null)) return true;
  return LOSSES[now.spelling](old, now.schema);
}

/** Functions that decide whether a type change loses data, keyed by the kind of the new type. */
const LOSSES: Record<Spelling, (from: SpelledType, to: ColumnSchema) => boolean> = {
  text: cutsBlanks,
  number: losesNumbers,
  // All numbers except zero become one value. Other types spell true in several ways: t, yes, 1.
  boolean: ({ spelling }) => ['number', 'text', 'json', 'label', 'opaque'].includes(spelling),
  temporal: losesTimes,
  json: losesJson,
  label: () => false,
  uuid: ({ schema, spelling }) =>
    ['text', 'json', 'label', 'opaque'].includes(spelling) ||
    (schema.data_type === 'numeric' && magnitude(schema) >= UUID_DIGITS),
  bytes: ({ spelling }) => spelling !== 'bytes',
  // A geometry modifier rejects values and changes none.
  opaque: ({ schema }, to) => !isGeometry(schema) || !isGeometry(to),
  other: () => true,
};

const isGeometry = ({ data_type }: ColumnSchema): boolean => /^geometry\b/.test(data_type);

/**
 * Number of hexadecimal digits of a uuid. All of them may be decimal, so numbers with this many digits can become a
 * uuid.
 */
const UUID_DIGITS = 32;

/** True if trailing blanks can be lost. An assignment truncates them without an error, and `character` stores none. */
function cutsBlanks({ schema, spelling }: SpelledType, to: ColumnSchema): boolean {
  const hasBlanks = ENDS_IN_BLANKS.has(spelling) && schema.data_type !== 'character' && schema.data_type !== 'jsonb';
  if (!hasBlanks || to.max_length === null) return false;
  return to.data_type === 'character' || longestText(schema) > to.max_length;
}

const ENDS_IN_BLANKS: ReadonlySet<Spelling> = new Set(['text', 'json', 'label', 'opaque']);

/**
 * True if a number can lose its spelling or digits. Strings such as `0012` and `+12` become 12. jsonb prints each number
 * in only one way.
 */
function losesNumbers({ schema, spelling }: SpelledType, to: ColumnSchema): boolean {
  if (spelling === 'number') return roundsNumbers(schema, to);
  if (schema.data_type === 'jsonb') return roundsNumbers(null, to);
  return ENDS_IN_BLANKS.has(spelling);
}

/**
 * True if a time can lose a part. A string may contain more than the type stores, such as a zone or a time of day.
 * Numbers also parse: 20200203 and 200203 are the same day.
 */
function losesTimes({ schema, spelling }: SpelledType, to: ColumnSchema): boolean {
  if (spelling !== 'temporal') return spelling === 'number' || ENDS_IN_BLANKS.has(spelling);
  if (partsOf(schema).some((part) => !partsOf(to).includes(part))) return true;
  return partsOf(schema).includes('time') && digitsOf(to) < digitsOf(schema);
}

/**
 * True if JSON can lose a part. json keeps its text. jsonb drops duplicate keys, key order, whitespace and the sign of
 * zero.
 */
function losesJson({ schema, spelling }: SpelledType, to: ColumnSchema): boolean {
  if (spelling === 'text' || spelling === 'json') return to.data_type === 'jsonb' && schema.data_type !== 'jsonb';
  // to_jsonb converts floating-point numbers to numeric, which has no negative zero.
  return spelling === 'opaque' || schema.data_type === 'real' || schema.data_type === 'double precision';
}

/** A timestamp in UTC is a date and a time, so the zone can be dropped without loss. */
const PARTS = new Map<string, readonly string[]>([
  ['date', ['day']],
  ['time without time zone', ['time']],
  ['time with time zone', ['time', 'zone']],
  ['timestamp without time zone', ['day', 'time']],
  ['timestamp with time zone', ['day', 'time']],
]);

const partsOf = ({ data_type }: ColumnSchema): readonly string[] => PARTS.get(data_type) ?? [];

/** True if some value has no counterpart in the new type, so that its row fails. */
function mayFail(from: ColumnSchema, to: ColumnSchema): boolean {
  const now = kindOf(to);
  if (now === 'text') return to.max_length !== null && longestText(from) > to.max_length;
  return FAILURES.get(`${kindOf(from)}>${now}`)?.(from, to) ?? now !== 'json';
}

/** Decides by the kinds of both types. All other pairs convert through text, which only JSON accepts in every case. */
const FAILURES = new Map<string, (from: ColumnSchema, to: ColumnSchema) => boolean>([
  ['number>number', numberMayFail],
  ['number>boolean', () => false],
  ['boolean>number', (_, to) => magnitude(to) < 1],
  ['temporal>temporal', (from, to) => !hasCast(from, to)],
  ['text>json', () => true],
  ['json>json', (_, to) => to.data_type === 'jsonb'],
]);

/** True if a number may not fit the new type. Integer types have no NaN; all other number types do. */
function numberMayFail(from: ColumnSchema, to: ColumnSchema): boolean {
  const whole = (schema: ColumnSchema): boolean => schema.data_type.endsWith('int') || schema.data_type === 'integer';
  return magnitude(from) > magnitude(to) || (whole(to) && !whole(from));
}

const LONGEST = new Map([
  ['boolean', 5],
  ['smallint', 6],
  ['integer', 11],
  ['bigint', 20],
  ['uuid', 36],
  ['date', 13],
]);

/** Returns the length of the longest value as text, in characters. */
function longestText(schema: ColumnSchema): number {
  return schema.max_length ?? LONGEST.get(schema.data_type) ?? Infinity;
}
