/* Converts columns of other vendors: type, default and generation expression. */
import { checkExpression, checkTypeText, NOTHING_AROUND } from '../sql-text/expression.js';
import { checkSqlText } from '../sql-text/check-sql-text.js';
import { defaultFromCatalog } from '../normal-form/defaults/catalog-default.js';
import { checksOf, InvalidValue } from '../normal-form/checks.js';
import { isSequenceDefault } from '../normal-form/column.js';
import { isFunctionDefault, readDefault } from '../normal-form/defaults/default-value.js';
import {
  ALIAS_TYPE,
  type ColumnType,
  dataTypesOf,
  isFieldType,
  UNKNOWN_TYPE,
} from '../normal-form/types/field-types.js';
import { readVendorColumn, type VendorColumn } from '../normal-form/types/vendor-types.js';
import {
  type FieldDocument,
  type Import,
  type ImportLocation,
  quotedPath,
  warn,
  warnOfMember,
  warnOfValue,
} from './reading.js';
import { NEXTVAL, isSerial } from '../model/extras.js';
import { type Field, columnDocument, columnSchema, membersOf } from '../model/model.js';
import { SYSTEM_PREFIX } from '../model/system-collections.js';
import { type Json, isObject } from '../../kernel/json.js';

const POSTGRES_TYPES: ReadonlySet<unknown> = new Set([
  'character varying',
  'timestamp with time zone',
  'timestamp without time zone',
  'time without time zone',
]);

/** Returns the database vendor of a file. Releases before 9.22 do not record it, but type names identify PostgreSQL. */
export function vendorOf(body: Record<string, unknown>): string | undefined {
  const { vendor, fields } = body;
  if (vendor === 'cockroachdb' || vendor === 'redshift') return 'postgres';
  if (typeof vendor === 'string') return vendor;
  const list: unknown[] = Array.isArray(fields) ? fields : [];
  const isPostgres = list.some((field) => {
    const schema = isObject(field) ? field['schema'] : undefined;
    return isObject(schema) && POSTGRES_TYPES.has(schema['data_type']);
  });
  return isPostgres ? 'postgres' : undefined;
}

const NOW = 'CURRENT_TIMESTAMP';

/** Names that other vendors use for default functions, without precision or outer parentheses. */
const FUNCTIONS: ReadonlyMap<string, string> = new Map([
  ['now', NOW],
  ['current_timestamp()', NOW],
  ['getdate()', NOW],
  ['getutcdate()', NOW],
  ['sysdatetime()', NOW],
  ['sysutcdatetime()', NOW],
  ['sysdatetimeoffset()', NOW],
  ['sysdate', NOW],
  ['systimestamp', NOW],
  ['localtimestamp', NOW],
  ["datetime('now')", NOW],
  ['current_date()', 'CURRENT_DATE'],
  ['curdate()', 'CURRENT_DATE'],
  ['current_time()', 'CURRENT_TIME'],
  ['curtime()', 'CURRENT_TIME'],
  ['uuid()', 'gen_random_uuid()'],
  ['newid()', 'gen_random_uuid()'],
  ['newsequentialid()', 'gen_random_uuid()'],
  ['sys_guid()', 'gen_random_uuid()'],
  ['uuid_generate_v4()', 'gen_random_uuid()'],
]);

/** Returns the PostgreSQL function for another vendor's function. Undefined if the text is not such a function. */
export function vendorFunction(text: string): string | undefined {
  const plain = withoutParentheses(text.toLowerCase()).replace(/\(\d\)$/, '()');
  return FUNCTIONS.get(plain) ?? (plain === 'current_timestamp' ? NOW : undefined);
}

/** Removes parentheses around the whole text: `((0))` becomes `0`, `(a) + (b)` stays. */
function withoutParentheses(text: string): string {
  let bare = text.trim();
  while (isWrapped(bare)) bare = bare.slice(1, -1).trim();
  return bare;
}

/** True if one pair of parentheses encloses the whole text. Parentheses within quotes do not count. */
function isWrapped(text: string): boolean {
  if (!text.startsWith('(') || !text.endsWith(')')) return false;
  const signs = text.replaceAll(/'(?:[^']|'')*'/g, '');
  let depth = 0;
  for (let index = 0; index < signs.length; index++) {
    if (signs[index] === '(') depth += 1;
    else if (signs[index] === ')') depth -= 1;
    if (depth === 0 && index < signs.length - 1) return false;
  }
  return depth === 0;
}

/** The meaning of a vendor's default: a value, a SQL expression, or (undefined) the literal text. */
type VendorDefault = { value: string | null } | 'expression' | undefined;

const LITERAL = /^(?:N|E|_[a-z\d]+ *)?'((?:[^']|'')*)'(?:::[\w .,()"[\]]+)?$/i;
const BITS = /^B'([01]{1,31})'$/i;
const NUMBER = /^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i;
const CALL = /^[a-z_][\w.$]*\(.*\)$|^next value for\b|\.nextval$/is;

/**
 * Interprets defaults of other vendors: `(N'x')` and `((0))` of SQL Server, `b'1'` of MySQL, `'x'` of SQLite, MariaDB
 * and Oracle, and calls of any vendor.
 */
export function vendorDefault(text: string, vendor: string | undefined): VendorDefault {
  const bare = withoutParentheses(text);
  const isWhole = bare !== text.trim();
  const value = quotedValue(bare) ?? (isWhole && NUMBER.test(bare) ? bare : undefined);
  if (value !== undefined) return { value };
  if (isWhole && /^null$/i.test(bare)) return { value: null };
  return isExpression(bare) || (isWhole && vendor === 'mssql') ? 'expression' : undefined;
}

function quotedValue(text: string): string | undefined {
  const bits = BITS.exec(text)?.[1];
  return bits === undefined ? LITERAL.exec(text)?.[1]?.replaceAll("''", "'") : String(Number.parseInt(bits, 2));
}

/** False for words like "now", which can also be plain text. */
const isExpression = (bare: string): boolean =>
  CALL.test(bare) || (!/^now$/i.test(bare) && vendorFunction(bare) !== undefined);

interface ColumnInput {
  collection: string;
  field: string;
  type: unknown;
  schema: Record<string, unknown> | undefined;
}

type Column = Pick<FieldDocument, 'type' | 'schema'>;

/** Checks of the column members that do not depend on the type. */
const CHECKS = checksOf(columnSchema.omit({ generation_expression: true }));

/** Members that are read together with the type, and members that are derived. */
const OTHERS: ReadonlySet<string> = new Set([...membersOf(columnDocument), 'schema', 'foreign_key_schema']);

/** Converts the `type` and `schema` of a field. Members that the file omits remain absent. */
export function readColumn(input: ColumnInput, into: Import): Column {
  const { type, schema } = input;
  const location = { collection: input.collection, field: input.field };
  const column = typeOf(input, location, into);
  if (column.type === ALIAS_TYPE) return { type: ALIAS_TYPE, schema: null };
  if (schema === undefined) return column.type === undefined ? {} : { type: column.type };
  const { type: ours, ...numbers } = withShape(column, location, into);
  const result: Record<string, unknown> = {
    ...(type === undefined ? rawType(schema) : numbers),
    ...plainMembers(schema, location, into),
  };
  if (schema['generation_expression'] !== undefined) {
    result['generation_expression'] = readExpression(schema['generation_expression'], location, into);
  }
  Object.assign(result, readColumnDefault(schema, { type: ours, column: numbers, result, location }, into));
  dropImpossibleIncrement(result, ours, into.instance.columnOf(input.collection, input.field));
  normaliseKey(result);
  return { ...(ours === undefined || type === undefined ? {} : { type: ours }), schema: result };
}

/**
 * Directus records only the shape of a map field and creates its column with SRID 4326. An existing column keeps its
 * own.
 */
function withShape(column: VendorColumn, { collection, field }: Required<ImportLocation>, into: Import): VendorColumn {
  const shape = column.type?.startsWith('geometry.') === true ? column.type.slice('geometry.'.length) : undefined;
  const isSaid = (column.data_type ?? 'geometry') !== 'geometry';
  const isOurs = into.prefix === SYSTEM_PREFIX;
  if (shape === undefined || isSaid || isOurs || into.instance.columnOf(collection, field) !== undefined) return column;
  const data_type = `geometry(${shape},4326)`;
  const message = `The file does not name the spatial reference system of ${quotedPath(collection, field)}. The column gets the type ${data_type}, which Directus creates.`;
  warn(into, 'TYPE_CHANGED', { collection, field }, message);
  return { ...column, data_type };
}

/** Reads the type. If it is not specified, an existing field keeps its type and a new one gets a derived type later. */
function rawType(schema: Record<string, unknown>): Record<string, unknown> {
  const members: Record<string, unknown> = {};
  for (const member of ['data_type', 'max_length', 'numeric_precision', 'numeric_scale']) {
    if (schema[member] !== undefined) members[member] = schema[member];
  }
  return members;
}

function typeOf({ type, schema }: ColumnInput, location: Required<ImportLocation>, into: Import): VendorColumn {
  const column = readVendorColumn(type, schema ?? {}, into.vendor);
  const isValid = column.type !== UNKNOWN_TYPE || checkTypeText(column.data_type ?? '') === null;
  const ours = isValid ? column : { ...column, type: 'text', data_type: 'text' };
  const theirs = schema?.['data_type'] ?? type;
  if (typeof theirs === 'string' && isTypeGuessed(type, theirs, ours.type)) {
    const message = `The type of ${quotedPath(location.collection, location.field)}, ${theirs}, is not supported. The field gets the type ${ours.type}.`;
    warn(into, 'TYPE_CHANGED', location, message);
  }
  return ours;
}

/** True if the type that was read may mean something other than the vendor's type, and not just differ in spelling. */
function isTypeGuessed(type: unknown, theirs: string, ours: string | undefined): boolean {
  if (ours === undefined || ours === ALIAS_TYPE || ours === type) return false;
  if (ours === 'text') return type !== undefined && !/text|clob/i.test(theirs);
  return typeof type === 'string' && !isFieldType(type);
}

function plainMembers(
  schema: Record<string, unknown>,
  location: ImportLocation,
  into: Import,
): Record<string, unknown> {
  const members: Record<string, unknown> = {};
  for (const name of Object.keys(schema)) {
    const check = CHECKS.get(name);
    if (check === undefined) {
      // Only snapshots of this service contain extras. They are checked later.
      if (name === 'extras') members[name] = schema[name];
      else if (!OTHERS.has(name)) warnOfMember(into, 'fields', `schema.${name}`);
      continue;
    }
    const value = check(schema[name], true);
    if (value instanceof InvalidValue) warnOfValue(into, location, `schema.${name}`, value);
    else members[name] = value;
  }
  return members;
}

function readExpression(input: unknown, location: Required<ImportLocation>, into: Import): string | null {
  if (input === null || input === '') return null;
  const fault = into.vendor === 'postgres' ? expressionFault(input) : 'uses another dialect of SQL';
  if (fault === null) return input as string;
  const message = `${quotedPath(location.collection, location.field)} becomes an ordinary column: its generation expression ${fault}.`;
  warn(into, 'EXPRESSION_LEFT_OUT', location, message);
  return null;
}

function expressionFault(input: unknown): string | null {
  if (typeof input !== 'string') return 'must be a string';
  return checkExpression(input) ?? checkSqlText('expression', input, NOTHING_AROUND);
}

interface DefaultInput {
  type: string | undefined;
  column: Partial<ColumnType>;
  /** The part of the column that has been read so far. */
  result: Record<string, unknown>;
  location: Required<ImportLocation>;
}

function readColumnDefault(
  schema: Record<string, unknown>,
  input: DefaultInput,
  into: Import,
): Record<string, unknown> {
  const defaultInput = schema['default_value'];
  const { type, result } = input;
  if (defaultInput === undefined) return {};
  if (result['generation_expression'] != null) return { default_value: null };
  const read = vendorValue(defaultInput, into);
  const value = typeof read === 'object' ? read.value : defaultInput;
  // Without a type, the existing field decides the meaning of the default later.
  if (type === undefined) return { default_value: functionOr(value) };
  const column = completeColumnType(type, input.column);
  if (isSequenceDefault(value, column) || isPresentSequence(value, column, input, into)) {
    return { default_value: null, has_auto_increment: true };
  }
  if (result['has_auto_increment'] === true) return { default_value: null };
  const ours = read === 'expression' ? expressionDefault(type, column, defaultInput) : defaultOf(type, column, value);
  return { default_value: ours instanceof InvalidValue ? skipDefault(defaultInput, ours, input.location, into) : ours };
}

/**
 * Returns true if the column already has a sequence as its default. Other vendors do not export sequences, so a new
 * column cannot get one.
 */
function isPresentSequence(
  value: unknown,
  { data_type }: ColumnType,
  { location }: DefaultInput,
  into: Import,
): boolean {
  if (typeof value !== 'string' || !NEXTVAL.test(value)) return false;
  const existing = into.instance.columnOf(location.collection, location.field)?.schema;
  return existing?.data_type === data_type && isSerial(existing);
}

const functionOr = (value: unknown): unknown => (typeof value === 'string' && vendorFunction(value)) || value;

function skipDefault(
  input: unknown,
  { message: why }: InvalidValue,
  location: Required<ImportLocation>,
  into: Import,
): null {
  const message = `The default of ${quotedPath(location.collection, location.field)}, ${defaultText(input)}, was skipped: it ${why}.`;
  warn(into, 'DEFAULT_LEFT_OUT', location, message);
  return null;
}

/** Interprets a default of another vendor. Undefined if it is a literal, as in snapshots of this service. */
function vendorValue(input: unknown, { vendor, prefix }: Import): VendorDefault {
  return typeof input === 'string' && prefix !== SYSTEM_PREFIX ? vendorDefault(input, vendor) : undefined;
}

const EXPRESSION = new InvalidValue('is an SQL expression that the service does not support for this type');

/**
 * Returns the function that a vendor's name stands for, or the value as PostgreSQL normalises it. Never returns the
 * text itself.
 */
function expressionDefault(type: string, column: ColumnType, input: unknown): Json | InvalidValue {
  const read = defaultOf(type, column, input);
  return read instanceof InvalidValue || (read === input && !isFunctionDefault(type, { default_value: read }))
    ? EXPRESSION
    : read;
}

function defaultText(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

/** If the type is not a column type, uses the first column type of the field type. */
function completeColumnType(type: string, column: Partial<ColumnType>): ColumnType {
  const data_type = dataTypesOf(type)?.[0] ?? 'text';
  return { data_type, max_length: null, numeric_precision: null, numeric_scale: null, ...column };
}

/** Reads a default of any vendor: a value, a function under another name, or an expression of PostgreSQL. */
export function defaultOf(type: string, column: ColumnType, value: unknown): Json | InvalidValue {
  const called = typeof value === 'string' ? vendorFunction(value) : undefined;
  const call = called === undefined ? called : readDefault(type, column, called, { lenient: true });
  if (call !== undefined && !(call instanceof InvalidValue) && isFunctionDefault(type, { default_value: call }))
    return call;
  const read = readDefault(type, column, value, { lenient: true });
  if (!(read instanceof InvalidValue) || typeof value !== 'string') return read;
  return defaultFromCatalog(type, column, value) ?? (value === 'NULL' ? null : read);
}

const INTEGERS: ReadonlySet<string | undefined> = new Set(['integer', 'bigInteger']);

function dropImpossibleIncrement(result: Record<string, unknown>, type: string | undefined, existing?: Field): void {
  if (result['has_auto_increment'] !== true || type === undefined || INTEGERS.has(type)) return;
  const extras = result['extras'] ?? existing?.schema?.extras;
  if (!isSerial({ extras })) result['has_auto_increment'] = false;
}

/** Other vendors omit implied properties of a key, or report its index separately. */
function normaliseKey(result: Record<string, unknown>): void {
  if (result['is_primary_key'] !== true) return;
  const keyMembers = { is_nullable: false, is_unique: true, is_indexed: false };
  for (const [member, value] of Object.entries(keyMembers)) {
    if (result[member] !== undefined) result[member] = value;
  }
}
