/** The data types a column can have, as PostgreSQL's format_type names them, and which members they use. */
import type { ColumnSchema } from '../model/model.js';

export interface DataType {
  /** Whether `max_length` belongs to it: never, if wanted, or always. */
  length: 'none' | 'optional' | 'required';
  /** Whether `numeric_precision` and `numeric_scale` set it. */
  precision: boolean;
  /** What information_schema reports as precision and scale of a type where nothing can be set. */
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

const TEXTS: ReadonlySet<string> = new Set(['character varying', 'character', 'text', 'citext']);

/** Whether a column of the type can hold any word. Of types that aren't known here it is believed. */
export function holdsText(name: string): boolean {
  return TEXTS.has(name) || dataType(name) === undefined;
}

/** Those that an extension brings, in whatever schema it was put. */
const EXTENSION_TYPES: ReadonlySet<string> = new Set(['citext', 'geometry']);

/** @param name with or without what stands in its parentheses */
export const isExtensionType = (name: string): boolean => EXTENSION_TYPES.has(name.replace(/\(.*/, ''));

/** What a column of PostGIS can be restricted to, as format_type writes it. */
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
  /** `geometry(PointZ,4326)`, as format_type writes it. */
  name: string;
  /** `Point`; `Geometry`: any. */
  shape: string;
}

/** A geometry with a type modifier; undefined for anything else. */
export function restrictedGeometry(text: string): RestrictedGeometry | undefined {
  const [, word = '', dimensions = '', reference = '0'] = RESTRICTED.exec(text.trim()) ?? [];
  const shape = SHAPES.get(word.toLowerCase());
  if (shape === undefined) return undefined;
  const srid = Number(reference) === 0 ? '' : `,${Number(reference)}`;
  return { name: `geometry(${shape}${dimensions.toUpperCase()}${srid})`, shape };
}

/** Other spellings PostgreSQL has for them. */
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

/** A data type as written: its name in our spelling, with the length or precision that stood in its parentheses. */
export interface WrittenType {
  name: string;
  parameters: number[];
}

const WRITTEN = /^([^()]+?) *(?:\( *(\d{1,8}) *(?:, *(-?\d{1,4}) *)?\) *([a-z ]*))?$/;

/** `VARCHAR(50)` → character varying, [50]. Null when it is not shaped like a type's name. */
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

/** @param name as format_type writes it, without parameters @returns undefined: none that the service knows */
export function dataType(name: string): DataType | undefined {
  return DATA_TYPES.get(name) ?? (restrictedGeometry(name)?.name === name ? PLAIN : undefined);
}

/** Types of one family can be compared with an index, as a foreign key needs it; all others only with themselves. */
const KEY_FAMILIES: ReadonlyMap<string, string> = new Map([
  ['smallint', 'integer'],
  ['bigint', 'integer'],
  ['real', 'double precision'],
  ['character varying', 'text'],
  ['character', 'text'],
]);

/** Two columns can be compared by a foreign key where this is the same. Types without a family are their own. */
export function keyFamily(name: string): string {
  return KEY_FAMILIES.get(name) ?? name;
}

/** The type of a column as PostgreSQL writes it: `character varying(255)`, `numeric(10,5)`. */
export function columnType(schema: ColumnSchema): string {
  const { data_type, max_length, numeric_precision, numeric_scale } = schema;
  if (max_length !== null) return `${data_type}(${max_length})`;
  if (data_type === 'numeric' && numeric_precision !== null)
    return `numeric(${numeric_precision},${numeric_scale ?? 0})`;
  const precision = schema.extras?.precision;
  // Their names end in "without time zone": the digits stand behind the first word.
  return precision === undefined ? data_type : data_type.replace(/^(time|timestamp) /, `$1(${precision}) `);
}
