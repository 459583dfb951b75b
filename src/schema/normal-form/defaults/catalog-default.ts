/** Converts the catalog's text of a default back to normal form. */
import {
  type ParsedType,
  parseTypeText,
  type Node,
  catalogTarget,
  integerOf,
  list,
  member,
  readTypeName,
  stringOf,
} from '../../sql-text/expression.js';
import { characterCount, InvalidValue } from '../checks.js';
import { isFunctionDefault, readDefault } from './default-value.js';
import { type ColumnType, UNKNOWN_TYPE } from '../types/field-types.js';
import type { Json } from '../../../kernel/json.js';
import { memoize } from '../../../kernel/memoize.js';

/* Parses defaults in the catalog's form: literals and calls without arguments. */

type Constant =
  /** A literal. If `text` is null, the literal is NULL. `casts` are ordered from the innermost to the outermost. */
  | { kind: 'literal'; text: string | null; isQuoted: boolean; casts: ParsedType[] }
  /** A call of a function without arguments: `now()`, `CURRENT_DATE`. */
  | { kind: 'call'; text: string };

/** Parses a default of pg_get_expr. Null if it is neither a literal nor a call without arguments. */
export const parseConstant = memoize((text): Constant | null => {
  let node = catalogTarget(text);
  const casts: ParsedType[] = [];
  for (let cast = member(node, 'TypeCast'); cast !== undefined; cast = member(node, 'TypeCast')) {
    const type = readTypeName(member(cast, 'typeName'));
    if (type === null) return null;
    casts.unshift(type);
    node = member(cast, 'arg');
  }
  const constant = member(node, 'A_Const');
  if (constant !== undefined) return literal(constant, casts);
  const call = casts.length === 0 ? callOf(node) : undefined;
  return call === undefined ? null : { kind: 'call', text: call };
});

function literal(constant: Node, casts: ParsedType[]): Constant | null {
  if (constant['isnull'] === true) return { kind: 'literal', text: null, isQuoted: false, casts };
  const quoted = member(constant, 'sval');
  if (quoted !== undefined) return { kind: 'literal', text: String(quoted['sval']), isQuoted: true, casts };
  const integer = integerOf(constant);
  const text = integer === undefined ? unquotedText(constant) : String(integer);
  return text === undefined ? null : { kind: 'literal', text, isQuoted: false, casts };
}

function unquotedText(constant: Node): string | undefined {
  const decimal = member(constant, 'fval');
  if (decimal !== undefined) return String(decimal['fval']);
  const truth = member(constant, 'boolval');
  return truth === undefined ? undefined : String(truth['boolval'] === true);
}

function callOf(node: Node | undefined): string | undefined {
  const keyword = member(node, 'SQLValueFunction')?.['op'];
  if (typeof keyword === 'string') return keyword.replace('SVFOP_', '');
  const call = member(node, 'FuncCall');
  if (call === undefined || call['args'] !== undefined) return undefined;
  // The name includes the schema, because a function with the same name in another schema is a different one.
  return `${list(call['funcname']).map(stringOf).join('.')}()`;
}

/**
 * Converts a default from pg_get_expr (with TimeZone UTC) to normal form. Null means no default. Undefined means that
 * normal form cannot express the default: an expression, an unsupported function, infinity, or a cast that changes the
 * value.
 */
export function defaultFromCatalog(type: string, column: ColumnType, pgGetExprText: string): Json | undefined {
  const constant = parseConstant(pgGetExprText);
  if (constant === null) return undefined;
  if (constant.kind === 'call') {
    const value = readDefault(type, column, constant.text, { lenient: false });
    return !(value instanceof InvalidValue) && isFunctionDefault(type, { default_value: value }) ? value : undefined;
  }
  if (constant.text === null) return null;
  if (!castsKeepValue(type, column, constant)) return undefined;
  const value = readDefault(type, column, constant.text, { lenient: false });
  return value instanceof InvalidValue || isFunctionDefault(type, { default_value: value }) ? undefined : value;
}

type Literal = Extract<Constant, { kind: 'literal' }>;

const TEXTS: ReadonlySet<string> = new Set(['character varying', 'character', 'text', 'citext']);
const JSONS: ReadonlySet<string> = new Set(['json', 'jsonb']);
const NUMBERS: ReadonlySet<string> = new Set(['smallint', 'integer', 'bigint', 'numeric', 'real', 'double precision']);

/** True if the casts keep the value that the literal's text has in this column. */
function castsKeepValue(type: string, column: ColumnType, literal: Literal): boolean {
  if (type === UNKNOWN_TYPE) return isOfType(column.data_type, literal);
  if (TEXTS.has(column.data_type)) return literal.casts.every((cast) => keepsText(cast, literal.text ?? ''));
  if (NUMBERS.has(column.data_type))
    return literal.casts.every((cast) => keepsNumber(cast, column, literal.text ?? ''));
  const own = JSONS.has(column.data_type) ? JSONS : new Set([column.data_type]);
  return literal.casts.every((cast) => isPlain(cast) && own.has(cast.name));
}

function isPlain({ isArray, parameters }: ParsedType): boolean {
  return !isArray && parameters.length === 0;
}

function keepsText(cast: ParsedType, text: string): boolean {
  if (cast.isArray || !TEXTS.has(cast.name)) return false;
  const [length] = cast.parameters;
  return length === undefined || (cast.name === 'character varying' && characterCount(text) <= length);
}

function keepsNumber(cast: ParsedType, column: ColumnType, text: string): boolean {
  if (!isPlain(cast) || !NUMBERS.has(cast.name)) return false;
  if (cast.name === column.data_type || cast.name === 'numeric') return true;
  const isInteger = /^-?\d+$/.test(text);
  return isInteger && cast.name !== 'real' && cast.name !== 'double precision';
}

/** For unsupported types only a quoted literal of exactly that type is accepted. */
function isOfType(dataType: string, { isQuoted, casts }: Literal): boolean {
  const [cast, ...more] = casts;
  if (!isQuoted || cast === undefined || more.length > 0) return false;
  const own = parseTypeText(dataType);
  return own !== null && own.name === cast.name && own.isArray === cast.isArray && cast.parameters.length === 0;
}
