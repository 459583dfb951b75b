/** Column types of other vendors, and of the peer's releases, in terms of ours. Used only when reading with force. */
import { dataType, parseDataType } from './data-types.js';
import {
  ALIAS_TYPE,
  type ColumnType,
  dataTypesOf,
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
  const dataTypeText = typeof written.data_type === 'string' ? written.data_type : undefined;
  const ours = dataTypeText === undefined ? undefined : ourDataType(dataTypeText, vendor);
  const known = isFieldType(givenType) && givenType !== UNKNOWN_TYPE ? givenType : undefined;
  if (dataTypeText === undefined) return withoutDataType(known, givenType, written);
  const type = known ?? derivedType(dataTypeText, ours, vendor);
  if (type === UNKNOWN_TYPE) return { type, ...NO_LENGTHS, data_type: dataTypeText };
  const allowed = dataTypesOf(type) ?? ['text'];
  const chosen = ours !== undefined && allowed.includes(ours.name) ? ours.name : allowed[0];
  return { type, data_type: chosen, ...lengths(type, chosen, { ...fromParameters(chosen, ours), ...written }) };
}

function withoutDataType(known: string | undefined, givenType: unknown, written: WrittenColumn): VendorColumn {
  if (known !== undefined) return { type: known, ...lengths(known, undefined, written) };
  // A type that nobody knows is left for the caller to refuse.
  return typeof givenType === 'string' && givenType !== UNKNOWN_TYPE ? { type: givenType } : {};
}

const NO_LENGTHS = { max_length: null, numeric_precision: null, numeric_scale: null };

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

function fromParameters(chosen: string, ours: OurType | undefined): WrittenColumn {
  const [first, second] = ours?.parameters ?? [];
  if (ours?.name !== chosen || first === undefined) return {};
  return chosen === 'numeric' ? { numeric_precision: first, numeric_scale: second ?? 0 } : { max_length: first };
}

/** Length, precision and scale, where the type has them and they were given. */
function lengths(type: string, chosen: string | undefined, written: WrittenColumn): Partial<ColumnType> {
  const given: Partial<ColumnType> = {};
  const { length, precision } = dataType(chosen ?? dataTypesOf(type)?.[0] ?? 'text') ?? {
    length: 'none',
    precision: false,
  };
  if (written.max_length !== undefined) given.max_length = length === 'none' ? null : positive(written.max_length);
  if (length === 'required' && given.max_length == null) given.max_length = 1;
  if (!precision) return { ...given, ...givenAsNull(written) };
  if (written.numeric_precision !== undefined) given.numeric_precision = positive(written.numeric_precision);
  if (written.numeric_scale !== undefined) given.numeric_scale = scaleOf(written.numeric_scale);
  if (given.numeric_precision === null) given.numeric_scale = null;
  return given;
}

function givenAsNull(written: WrittenColumn): Partial<ColumnType> {
  return {
    ...(written.numeric_precision === undefined ? {} : { numeric_precision: null }),
    ...(written.numeric_scale === undefined ? {} : { numeric_scale: null }),
  };
}

/** -1 and -5 are how MSSQL and the peer write "no limit"; lengths beyond ours mean the same. */
function positive(value: unknown): number | null {
  const number = typeof value === 'string' ? Number(value) : value;
  return typeof number === 'number' && Number.isInteger(number) && number >= 1 && number <= 10_485_760 ? number : null;
}

function scaleOf(value: unknown): number | null {
  const number = typeof value === 'string' ? Number(value) : value;
  return typeof number === 'number' && Number.isInteger(number) && number >= 0 ? number : null;
}
