/** Column types of other vendors, and of the peer's releases, in terms of ours. Used only when reading with force. */
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

/** The data type of ours that holds what a type of MySQL, MariaDB, SQLite, MSSQL or Oracle holds. */
const VENDOR_TYPES: ReadonlyMap<string, string> = new Map([
  ...words('character varying', 'nvarchar varchar2 nvarchar2'),
  ...words('character', 'nchar'),
  ...words('text', 'tinytext mediumtext longtext ntext clob nclob enum set xml string'),
  ...words('boolean', 'bit'),
  ...words('smallint', 'tinyint year int1'),
  ...words('integer', 'mediumint serial number'),
  ...words('bigint', 'bigserial'),
  ...words('double precision', 'double binary_double'),
  ...words('real', 'binary_float'),
  ...words('numeric', 'money smallmoney fixed'),
  ...words('timestamp without time zone', 'datetime datetime2 smalldatetime'),
  ...words('timestamp with time zone', 'datetimeoffset'),
  ...words('uuid', 'uniqueidentifier'),
  ...words('bytea', 'blob tinyblob mediumblob longblob binary varbinary image raw'),
  ...words('geometry', 'point linestring polygon multipoint multilinestring multipolygon sdo_geometry'),
]);

function words(ours: string, theirs: string): [string, string][] {
  return theirs.split(' ').map((word) => [word, ours]);
}

/** Types of the peer for fields that have no column. */
const PEER_ALIASES: ReadonlySet<unknown> = new Set([
  'o2m',
  'm2m',
  'm2a',
  'o2a',
  'files',
  'translations',
  'presentation',
  'group',
]);

/** What a column's members say about its type; those that are absent say nothing. */
export interface WrittenColumn {
  data_type?: unknown;
  max_length?: unknown;
  numeric_precision?: unknown;
  numeric_scale?: unknown;
}

/** A type as far as it was given: absent members stay absent. */
export type VendorColumn = { type?: string } & Partial<ColumnType>;

/**
 * Reads a column's type as another vendor writes it. The field type decides where it is known; `unknown` and absent
 * ones are derived from the data type. What doesn't fit our type (lengths of texts, precisions of integers) is
 * dropped. Where nothing fits, the column becomes `text`, which holds anything.
 */
export function readVendorColumn(givenType: unknown, written: WrittenColumn, vendor?: string): VendorColumn {
  if (givenType === ALIAS_TYPE || PEER_ALIASES.has(givenType)) return { type: ALIAS_TYPE };
  const known = isFieldType(givenType) && givenType !== UNKNOWN_TYPE ? givenType : undefined;
  const text = written.data_type;
  if (typeof text !== 'string') return withoutDataType(known, givenType, written);
  const ours = ourDataType(text, vendor);
  const type = known ?? derivedType(text, ours, vendor);
  return type === UNKNOWN_TYPE ? { type, ...NO_NUMBERS, data_type: text } : { type, ...columnFor(type, ours, written) };
}

function columnFor(type: string, ours: OurType | undefined, written: WrittenColumn): Partial<ColumnType> {
  const allowed = dataTypesOf(type) ?? ['text'];
  if (ours === undefined || !isDataTypeOf(type, ours.name)) {
    return { data_type: allowed[0], ...numbersFor(allowed[0], written) };
  }
  return { data_type: ours.name, ...numbersFor(ours.name, { ...inParentheses(ours), ...written }) };
}

const NO_NUMBERS = { max_length: null, numeric_precision: null, numeric_scale: null };

function withoutDataType(known: string | undefined, givenType: unknown, written: WrittenColumn): VendorColumn {
  if (known !== undefined) return { type: known, ...numbersFor(dataTypesOf(known)?.[0] ?? 'text', written) };
  // An unknown type is left for the caller to refuse.
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
  // A float of 4 bytes in MySQL and in the peer's own reading; of 8 everywhere else.
  if (base === 'float') return { name: isDoubleFloat(vendor) ? 'double precision' : 'real', parameters: [] };
  const name = dataType(written.name) === undefined ? VENDOR_TYPES.get(base) : written.name;
  return name === undefined ? undefined : { name, parameters };
}

function isDoubleFloat(vendor: string | undefined): boolean {
  return vendor === 'sqlite' || vendor === 'mssql' || vendor === 'oracle';
}

/** The type of a column that is `unknown` to the peer. Only PostgreSQL's own are kept as they are. */
function derivedType(text: string, ours: OurType | undefined, vendor: string | undefined): string {
  const exact = typeFromColumn(text).type;
  if (exact !== UNKNOWN_TYPE) return exact;
  if (vendor === 'postgres') return isTypeKind(text) ? 'text' : (typeOfDataType(plainSpelling(text)) ?? UNKNOWN_TYPE);
  return (ours === undefined ? undefined : typeOfDataType(ours.name)) ?? 'text';
}

/** What information_schema says of arrays and enums instead of a type. */
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

/** Length, precision and scale as far as they were given; null where the type has none. */
function numbersFor(chosen: string, written: WrittenColumn): Partial<ColumnType> {
  const { length, precision } = dataType(chosen) ?? { length: 'none', precision: false };
  const numbers: Partial<ColumnType> = {
    ...read('max_length', written, length === 'none' ? noNumber : positive),
    ...read('numeric_precision', written, precision ? positive : noNumber),
    ...read('numeric_scale', written, precision ? notNegative : noNumber),
  };
  // SQL's own default for a char without a length.
  if (length === 'required' && numbers.max_length == null) return { ...numbers, max_length: 1 };
  return numbers.numeric_precision === null ? { ...numbers, numeric_scale: null } : numbers;
}

type NumberReader = (value: unknown) => number | null;

function read(
  member: Exclude<keyof ColumnType, 'data_type'>,
  written: WrittenColumn,
  reader: NumberReader,
): Partial<ColumnType> {
  return written[member] === undefined ? {} : { [member]: reader(written[member]) };
}

const noNumber: NumberReader = () => null;

/** -1 and -5 are how MSSQL and the peer write "no limit"; lengths beyond PostgreSQL's mean the same. */
const positive: NumberReader = (value) => integerIn(value, 1, 10_485_760);

const notNegative: NumberReader = (value) => integerIn(value, 0, 1000);

function integerIn(value: unknown, low: number, high: number): number | null {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isInteger(number) && number >= low && number <= high ? number : null;
}
