/** Describes the data types of columns by the names of PostgreSQL's format_type. */
import { type ColumnSchema, TEXT_TYPES } from '../model/model.js';

export interface DataType {
  /** `none`, `optional` or `required`: whether `max_length` applies. */
  length: 'none' | 'optional' | 'required';
  /** True if `numeric_precision` and `numeric_scale` apply. */
  precision: boolean;
  /** Precision and scale that information_schema reports for the type although they cannot be set. */
  reported?: readonly [precision: number, scale: number | null];
}

const PLAIN: DataType = { length: 'none', precision: false };
const number = (precision: number, scale: number | null): DataType => ({ ...PLAIN, reported: [precision, scale] });

const DATA_TYPES: ReadonlyMap<string, DataType> = new Map<string, DataType>([
  ['character varying', { length: 'optional', precision: false }],
  ['character', { length: 'required', precision: false }],
  ['text', PLAIN],
  ['citext', PLAIN],
  ['boolean', PLAIN],
  ['smallint', number(16, 0)],
  ['integer', number(32, 0)],
  ['bigint', number(64, 0)],
  ['real', number(24, null)],
  ['double precision', number(53, null)],
  ['numeric', { length: 'none', precision: true }],
  ['date', PLAIN],
  ['time without time zone', PLAIN],
  ['timestamp without time zone', PLAIN],
  ['timestamp with time zone', PLAIN],
  ['json', PLAIN],
  ['jsonb', PLAIN],
  ['uuid', PLAIN],
  ['bytea', PLAIN],
  ['geometry', PLAIN],
]);

/** True if a column of the type can hold any text. Also true for unsupported types. */
export function holdsText(name: string): boolean {
  return TEXT_TYPES.has(name) || dataType(name) === undefined;
}

/** Types of extensions. An extension can be in any schema. */
const EXTENSION_TYPES: ReadonlySet<string> = new Set(['citext', 'geometry']);

/** @param name with or without parentheses */
export const isExtensionType = (name: string): boolean => EXTENSION_TYPES.has(name.replace(/\(.*/, ''));

/** Shapes that restrict PostGIS columns, in format_type's spelling. */
const SHAPES: ReadonlyMap<string, string> = new Map(
  (
    'Geometry Point LineString Polygon MultiPoint MultiLineString MultiPolygon GeometryCollection CircularString ' +
    'CompoundCurve CurvePolygon MultiCurve MultiSurface PolyhedralSurface Triangle Tin'
  )
    .split(' ')
    .map((shape) => [shape.toLowerCase(), shape]),
);

const RESTRICTED = /^geometry *\( *([a-z]+?)(z|m|zm)? *(?:, *(\d{1,6}) *)?\)$/i;

export interface RestrictedGeometry {
  /** The type as in format_type: `geometry(PointZ,4326)`. */
  name: string;
  /** The shape: `Point`. `Geometry` means any shape. */
  shape: string;
}

/** Parses a geometry with a type modifier. Undefined for anything else. */
export function restrictedGeometry(text: string): RestrictedGeometry | undefined {
  const [, word = '', dimensions = '', reference = '0'] = RESTRICTED.exec(text.trim()) ?? [];
  const shape = SHAPES.get(word.toLowerCase());
  if (shape === undefined) return undefined;
  const srid = Number(reference) === 0 ? '' : `,${Number(reference)}`;
  return { name: `geometry(${shape}${dimensions.toUpperCase()}${srid})`, shape };
}

/** Maps other spellings to the name that format_type uses. */
const SPELLINGS: ReadonlyMap<string, string> = new Map([
  ['varchar', 'character varying'],
  ['char varying', 'character varying'],
  ['char', 'character'],
  ['bpchar', 'character'],
  ['nchar', 'character'],
  ['national char', 'character'],
  ['national character', 'character'],
  ['nchar varying', 'character varying'],
  ['national char varying', 'character varying'],
  ['national character varying', 'character varying'],
  ['bool', 'boolean'],
  ['int2', 'smallint'],
  ['int', 'integer'],
  ['int4', 'integer'],
  ['int8', 'bigint'],
  ['float4', 'real'],
  ['float', 'double precision'],
  ['float8', 'double precision'],
  ['decimal', 'numeric'],
  ['dec', 'numeric'],
  ['time', 'time without time zone'],
  ['timestamp', 'timestamp without time zone'],
  ['timestamptz', 'timestamp with time zone'],
]);

/** A data type as it is written: its normal name and the numbers in parentheses. */
export interface WrittenType {
  name: string;
  parameters: number[];
}

const WRITTEN = /^([^()]+?) *(?:\( *(\d{1,8}) *(?:, *(-?\d{1,4}) *)?\) *([a-z ]*))?$/;

/** Parses a type: `VARCHAR(50)` becomes character varying with [50]. Null if the text is not a type name. */
export function parseDataType(text: string): WrittenType | null {
  if (DATA_TYPES.has(text)) return { name: text, parameters: [] };
  const match = WRITTEN.exec(text.trim().toLowerCase());
  const geometry = match === null ? restrictedGeometry(text) : undefined;
  if (geometry !== undefined) return { name: geometry.name, parameters: [] };
  if (match === null) return null;
  const [, base = '', first, second, suffix = ''] = match;
  const name = suffix === '' ? base : `${base} ${suffix}`;
  const parameters = [first, second].filter((item) => item !== undefined).map(Number);
  return { name: SPELLINGS.get(name) ?? name, parameters };
}

/** @param name as in format_type, without parameters @returns undefined for unsupported types */
export function dataType(name: string): DataType | undefined {
  return DATA_TYPES.get(name) ?? (restrictedGeometry(name)?.name === name ? PLAIN : undefined);
}

/**
 * Families of types that an index can compare with each other, as foreign keys require. All other types can only be
 * compared with themselves.
 */
const KEY_FAMILIES: ReadonlyMap<string, string> = new Map([
  ['smallint', 'integer'],
  ['bigint', 'integer'],
  ['real', 'double precision'],
  ['character varying', 'text'],
  ['character', 'text'],
]);

/**
 * Returns the family of a type. A foreign key can compare two columns of one family. A type without a family is a
 * family of its own.
 */
export function keyFamily(name: string): string {
  return KEY_FAMILIES.get(name) ?? name;
}

/** Returns a column's type in PostgreSQL's spelling: `character varying(255)`, `numeric(10,5)`. */
export function columnType(schema: ColumnSchema): string {
  const { data_type, max_length, numeric_precision, numeric_scale } = schema;
  if (max_length !== null) return `${data_type}(${max_length})`;
  if (data_type === 'numeric' && numeric_precision !== null)
    return `numeric(${numeric_precision},${numeric_scale ?? 0})`;
  const precision = schema.extras?.precision;
  // These names end in "without time zone". The precision follows the first word.
  return precision === undefined ? data_type : data_type.replace(/^(time|timestamp) /, `$1(${precision}) `);
}

/** Types in ascending order within each family. */
const FAMILIES: readonly (readonly string[])[] = [
  ['smallint', 'integer', 'bigint', 'numeric'],
  ['smallint', 'integer', 'double precision'],
  ['real', 'double precision'],
  ['date', 'timestamp without time zone'],
  ['date', 'timestamp with time zone'],
  ['time without time zone', 'timestamp without time zone'],
];

/** True if a data type holds every value of another type of its family, and more. */
export const isWider = (type: string, than: string): boolean =>
  FAMILIES.some((family) => family.includes(than) && family.indexOf(type) > family.indexOf(than));
