/** Translates column types of other vendors and Directus. Used only for documents that were accepted with `force`. */
import { dataType, parseDataType } from '../../sql-text/data-types.js';
import {
  ALIAS_TYPE,
  type ColumnType,
  dataTypesOf,
  isDataTypeOf,
  isFieldType,
  typeFromColumn,
  typeOfDataType,
  UNKNOWN_TYPE,
} from './field-types.js';

/** Maps types of MySQL, MariaDB, SQLite, MSSQL and Oracle to data PostgreSQL types. */
const VENDOR_TYPES: ReadonlyMap<string, string> = new Map([
  ...mapWords('character varying', 'nvarchar varchar2 nvarchar2'),
  ...mapWords('character', 'nchar'),
  ...mapWords('text', 'tinytext mediumtext longtext ntext clob nclob enum set xml string'),
  ...mapWords('boolean', 'bit'),
  ...mapWords('smallint', 'tinyint year int1'),
  ...mapWords('integer', 'mediumint serial number'),
  ...mapWords('bigint', 'bigserial'),
  ...mapWords('double precision', 'double binary_double'),
  ...mapWords('real', 'binary_float'),
  ...mapWords('numeric', 'money smallmoney fixed'),
  ...mapWords('timestamp without time zone', 'datetime datetime2 smalldatetime'),
  ...mapWords('timestamp with time zone', 'datetimeoffset'),
  ...mapWords('uuid', 'uniqueidentifier'),
  ...mapWords('bytea', 'blob tinyblob mediumblob longblob binary varbinary image raw'),
  ...mapWords('geometry', 'point linestring polygon multipoint multilinestring multipolygon sdo_geometry'),
]);

function mapWords(ours: string, theirs: string): [string, string][] {
  return theirs.split(' ').map((word) => [word, ours]);
}

/** Directus types of fields without a column. */
const DIRECTUS_ALIASES: ReadonlySet<unknown> = new Set([
  'o2m',
  'm2m',
  'm2a',
  'o2a',
  'files',
  'translations',
  'presentation',
  'group',
]);

/** The type members of a column as submitted. Absent members are unspecified. */
export interface WrittenColumn {
  data_type?: unknown;
  max_length?: unknown;
  numeric_precision?: unknown;
  numeric_scale?: unknown;
}

/** The type members in PostgreSQL. Members that the input omits remain absent. */
export type VendorColumn = { type?: string } & Partial<ColumnType>;

/**
 * Reads the column type of another vendor. If the field type is known, it decides. Otherwise, the field type is derived
 * from the data type. Members that do not apply to the result (lengths of strings, precisions of integers) are dropped.
 * If no type matches, the column becomes `text`, which accepts any value.
 */
export function readVendorColumn(givenType: unknown, column: WrittenColumn, vendor?: string): VendorColumn {
  if (givenType === ALIAS_TYPE || DIRECTUS_ALIASES.has(givenType)) return { type: ALIAS_TYPE };
  const fieldType = isFieldType(givenType) && givenType !== UNKNOWN_TYPE ? givenType : undefined;
  const text = column.data_type;
  if (typeof text !== 'string') return withoutDataType(fieldType, givenType, column);
  const ours = ourDataType(text, vendor);
  const type = fieldType ?? derivedType(text, ours, vendor);
  return type === UNKNOWN_TYPE ? { type, ...NO_NUMBERS, data_type: text } : { type, ...columnFor(type, ours, column) };
}

function columnFor(type: string, ours: OurType | undefined, column: WrittenColumn): Partial<ColumnType> {
  const allowed = dataTypesOf(type) ?? ['text'];
  if (ours === undefined || !isDataTypeOf(type, ours.name)) {
    return { data_type: allowed[0], ...numbersFor(allowed[0], column) };
  }
  return { data_type: ours.name, ...numbersFor(ours.name, { ...inParentheses(ours), ...column }) };
}

const NO_NUMBERS = { max_length: null, numeric_precision: null, numeric_scale: null };

function withoutDataType(type: string | undefined, givenType: unknown, column: WrittenColumn): VendorColumn {
  if (type !== undefined) return { type, ...numbersFor(dataTypesOf(type)?.[0] ?? 'text', column) };
  // The caller rejects a type that is not a field type.
  return typeof givenType === 'string' && givenType !== UNKNOWN_TYPE ? { type: givenType } : {};
}

interface OurType {
  name: string;
  parameters: number[];
}

function ourDataType(text: string, vendor: string | undefined): OurType | undefined {
  const written = parseDataType(text.replace(/\b(unsigned|zerofill|identity|auto_increment)\b/gi, ''));
  if (written === null) return undefined;
  const { parameters } = written;
  const base = /^[a-z0-9_]+/.exec(text.trim().toLowerCase())?.[0] ?? '';
  if (base === 'tinyint' && parameters[0] === 1) return { name: 'boolean', parameters: [] };
  // MySQL and Directus define float with 4 bytes, others with 8.
  if (base === 'float') return { name: isDoubleFloat(vendor) ? 'double precision' : 'real', parameters: [] };
  const name = dataType(written.name) === undefined ? VENDOR_TYPES.get(base) : written.name;
  return name === undefined ? undefined : { name, parameters };
}

function isDoubleFloat(vendor: string | undefined): boolean {
  return vendor === 'sqlite' || vendor === 'mssql' || vendor === 'oracle';
}

/** Returns the type of a column that is `unknown` to Directus. Only types of PostgreSQL itself are kept. */
function derivedType(text: string, ours: OurType | undefined, vendor: string | undefined): string {
  const exact = typeFromColumn(text).type;
  if (exact !== UNKNOWN_TYPE) return exact;
  if (vendor === 'postgres') return isTypeKind(text) ? 'text' : (typeOfDataType(plainSpelling(text)) ?? UNKNOWN_TYPE);
  return (ours === undefined ? undefined : typeOfDataType(ours.name)) ?? 'text';
}

/** True for the words that information_schema reports for arrays and enums instead of a type. */
function isTypeKind(text: string): boolean {
  return /^(array|user-defined)$/i.test(text);
}

function plainSpelling(text: string): string {
  const written = parseDataType(text);
  return written === null || written.parameters.length > 0 ? text : written.name;
}

function inParentheses({ name, parameters }: OurType): WrittenColumn {
  const [first, second = 0] = parameters;
  if (first === undefined) return {};
  return name === 'numeric' ? { numeric_precision: first, numeric_scale: second } : { max_length: first };
}

/** Returns the submitted length, precision and scale. Null if the type has none. */
function numbersFor(chosen: string, column: WrittenColumn): Partial<ColumnType> {
  const { length, precision } = dataType(chosen) ?? { length: 'none', precision: false };
  const numbers: Partial<ColumnType> = {
    ...read('max_length', column, length === 'none' ? noNumber : positive),
    ...read('numeric_precision', column, precision ? positive : noNumber),
    ...read('numeric_scale', column, precision ? notNegative : noNumber),
  };
  // In SQL, a char without a length has the length 1.
  if (length === 'required' && numbers.max_length == null) return { ...numbers, max_length: 1 };
  return numbers.numeric_precision === null ? { ...numbers, numeric_scale: null } : numbers;
}

type NumberReader = (value: unknown) => number | null;

function read(
  member: Exclude<keyof ColumnType, 'data_type'>,
  column: WrittenColumn,
  reader: NumberReader,
): Partial<ColumnType> {
  return column[member] === undefined ? {} : { [member]: reader(column[member]) };
}

const noNumber: NumberReader = () => null;

/** MSSQL and Directus write "no limit" as -1 and -5. A length beyond PostgreSQL's limit has the same meaning. */
const positive: NumberReader = (value) => integerIn(value, 1, 10_485_760);

const notNegative: NumberReader = (value) => integerIn(value, 0, 1000);

function integerIn(value: unknown, low: number, high: number): number | null {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isInteger(number) && number >= low && number <= high ? number : null;
}
