/** Field types, their column types, and the mapping from a column back to a field type. */
import { parseDataType, restrictedGeometry, type WrittenType } from '../../sql-text/data-types.js';

/** The data types of each field type. The first one is the default. */
const COLUMNS: ReadonlyMap<string, readonly [string, ...string[]]> = new Map<string, readonly [string, ...string[]]>([
  ['string', ['character varying', 'character']],
  ['text', ['text', 'citext']],
  ['boolean', ['boolean']],
  ['integer', ['integer', 'smallint']],
  ['bigInteger', ['bigint']],
  ['float', ['real', 'double precision']],
  ['decimal', ['numeric']],
  ['date', ['date']],
  ['time', ['time without time zone']],
  ['dateTime', ['timestamp without time zone']],
  ['timestamp', ['timestamp with time zone']],
  ['json', ['json', 'jsonb']],
  ['csv', ['text']],
  ['uuid', ['uuid']],
  ['hash', ['character varying']],
  ['binary', ['bytea']],
  ['geometry', ['geometry']],
  ['geometry.Point', ['geometry']],
  ['geometry.LineString', ['geometry']],
  ['geometry.Polygon', ['geometry']],
  ['geometry.MultiPoint', ['geometry']],
  ['geometry.MultiLineString', ['geometry']],
  ['geometry.MultiPolygon', ['geometry']],
]);

/** The type of a field whose column has an unsupported type. `data_type` keeps PostgreSQL's text. */
export const UNKNOWN_TYPE = 'unknown';
/** The type of a field without a column. */
export const ALIAS_TYPE = 'alias';

export const FIELD_TYPES: readonly string[] = [...COLUMNS.keys(), ALIAS_TYPE, UNKNOWN_TYPE];

/** True if the text is exactly one of `FIELD_TYPES`. */
export function isFieldType(type: unknown): type is string {
  return typeof type === 'string' && (COLUMNS.has(type) || type === ALIAS_TYPE || type === UNKNOWN_TYPE);
}

/** Returns the data types of a field type, default first. Undefined for alias and unknown. */
export function dataTypesOf(type: string): readonly [string, ...string[]] | undefined {
  return COLUMNS.get(type);
}

/** True if the field type allows the data type: one of `dataTypesOf`, or a restricted geometry. */
export function isDataTypeOf(type: string, name: string): boolean {
  if (COLUMNS.get(type)?.includes(name) === true) return true;
  const shape = restrictedGeometry(name)?.shape;
  return (
    shape !== undefined &&
    (type === 'geometry' || type === `geometry.${shape}` || (shape === 'Geometry' && type.startsWith('geometry.')))
  );
}

/** The default field type of each data type. Undefined if there is none. */
const TYPE_OF_COLUMN: ReadonlyMap<string, string> = new Map(
  // Reversed, so that the first of several field types with the same data type wins.
  [...COLUMNS].reverse().flatMap(([type, dataTypes]) => dataTypes.map((name) => [name, type] as const)),
);

/** Returns the default field type. Undefined for unsupported data types, whose fields are `unknown`. */
export function typeOfDataType(dataType: string): string | undefined {
  const type = TYPE_OF_COLUMN.get(dataType);
  if (type !== undefined) return type;
  const shape = restrictedGeometry(dataType)?.shape;
  if (shape === undefined) return undefined;
  return COLUMNS.has(`geometry.${shape}`) ? `geometry.${shape}` : 'geometry';
}

/** The members of a column that define its type. */
export interface ColumnType {
  data_type: string;
  max_length: number | null;
  numeric_precision: number | null;
  numeric_scale: number | null;
}

const NO_NUMBERS = { max_length: null, numeric_precision: null, numeric_scale: null };

/** Parses a type from format_type. The field type is `unknown` if normal form cannot express the type. */
export function typeFromColumn(formatTypeText: string): ColumnType & { type: string } {
  const written = parseDataType(formatTypeText);
  const type = written === null ? undefined : typeOfDataType(written.name);
  // format_type never uses other spellings. Such a name belongs to a type with the same name in another schema.
  const numbers = written !== null && formatTypeText.startsWith(written.name) ? numbersOf(written) : null;
  if (written === null || type === undefined || numbers === null) {
    return { type: UNKNOWN_TYPE, data_type: formatTypeText, ...NO_NUMBERS };
  }
  return { type, data_type: written.name, ...numbers };
}

/** Returns the numbers in parentheses as members. Null if the type has no such members. */
function numbersOf({ name, parameters }: WrittenType): Omit<ColumnType, 'data_type'> | null {
  const [first, second = 0] = parameters;
  if (first === undefined) return name === 'character' ? null : NO_NUMBERS;
  if (name === 'character varying' || name === 'character') return { ...NO_NUMBERS, max_length: first };
  if (name !== 'numeric' || second < 0 || second > first) return null;
  return { ...NO_NUMBERS, numeric_precision: first, numeric_scale: second };
}
