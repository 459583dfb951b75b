/**
 * SQL that comes as text (generated columns, type names, the catalog's defaults), read with PostgreSQL's own parser.
 * Nothing here is executed; what is accepted still goes to the server, which knows functions, types and columns.
 */
import { loadModule, parseSync, scanSync } from 'libpg-query';
import { parseDataType } from './normal-form/data-types.js';

await loadModule();

/** The parser recurses; texts this long stay far from the end of its stack. */
const MAX_LENGTH = 10_000;

type Node = Record<string, unknown>;

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The one expression a SELECT without clauses has; a sentence where the text is anything else. */
function onlyTarget(text: string): Node | string {
  if (text.length > MAX_LENGTH) return `must be at most ${MAX_LENGTH} characters`;
  if (text.trim() === '') return 'must not be empty';
  if (text.includes('\0')) return 'must not hold the character NUL';
  try {
    if (scanSync(text).tokens.some(({ tokenName }) => tokenName.endsWith('_COMMENT'))) return 'must not hold comments';
    // Both as it stands and in parentheses, so that it neither ends the expression it stands in nor adds a clause.
    parseSync(`SELECT (${text})`);
    return targetOf(parseSync(`SELECT ${text}`));
  } catch (error) {
    return `must be one SQL expression: ${error instanceof Error ? error.message : 'it does not parse'}`;
  }
}

const ONE_EXPRESSION = 'must be one SQL expression, without clauses, and not a list';
const BARE_SELECT: ReadonlySet<string> = new Set(['targetList', 'limitOption', 'op']);

function targetOf(parsed: { stmts?: unknown[] }): Node | string {
  const [statement, ...more] = parsed.stmts ?? [];
  const select = isNode(statement) && isNode(statement['stmt']) ? statement['stmt']['SelectStmt'] : undefined;
  if (more.length > 0 || !isNode(select) || Object.keys(select).some((key) => !BARE_SELECT.has(key)))
    return ONE_EXPRESSION;
  const targets = select['targetList'];
  const target: unknown = Array.isArray(targets) && targets.length === 1 ? targets[0] : undefined;
  const result = isNode(target) ? target['ResTarget'] : undefined;
  const isBare = isNode(result) && result['name'] === undefined && result['indirection'] === undefined;
  return isBare && isNode(result['val']) ? result['val'] : ONE_EXPRESSION;
}

/** What a scalar expression over a row's own columns is made of. Subqueries, parameters and DEFAULT are not in it. */
const SCALAR_NODES: ReadonlySet<string> = new Set(
  (
    'A_Const A_Expr A_ArrayExpr A_Indirection A_Indices BoolExpr BooleanTest NullTest CaseExpr CaseWhen CoalesceExpr ' +
    'MinMaxExpr CollateClause ColumnRef FuncCall NamedArgExpr TypeCast SQLValueFunction XmlExpr XmlSerialize List ' +
    'String Integer Float Boolean BitString JsonIsPredicate JsonObjectConstructor JsonArrayConstructor JsonKeyValue ' +
    'JsonValueExpr JsonFuncExpr JsonParseExpr JsonScalarExpr JsonSerializeExpr JsonArgument JsonBehavior'
  ).split(' '),
);

const NOT_PER_ROW = ['over', 'agg_star', 'agg_distinct', 'agg_order', 'agg_filter', 'agg_within_group'];

/**
 * Why `text` can't be the expression of a generated column; null when, as far as the parser can tell, it can:
 * exactly one scalar expression without statements, subqueries, parameters, aggregates, window functions or comments.
 */
export function checkExpression(text: string): string | null {
  const target = onlyTarget(text);
  if (typeof target === 'string') return target;
  const open: unknown[] = [target];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value !== 'object' || value === null) continue;
    for (const [name, inner] of Object.entries(value)) {
      const fault = nodeFault(name, inner);
      if (fault !== null) return fault;
      open.push(inner);
    }
  }
  return null;
}

/** Nodes are wrapped in their upper-case name; other members are fields of nodes, or indexes of lists. */
function nodeFault(name: string, inner: unknown): string | null {
  if (!/^[A-Z]/.test(name)) return null;
  if (!SCALAR_NODES.has(name))
    return NODE_FAULTS.get(name) ?? 'must be a scalar expression over the columns of one row';
  const isPerSet = name === 'FuncCall' && isNode(inner) && NOT_PER_ROW.some((member) => inner[member] !== undefined);
  return isPerSet ? 'must not call aggregates or window functions' : null;
}

const NODE_FAULTS: ReadonlyMap<string, string> = new Map([
  ['SubLink', 'must not hold a subquery'],
  ['ParamRef', 'must not hold parameters ($1)'],
  ['A_Star', 'must not hold *'],
  ['RowExpr', 'must be a scalar, not a row'],
  ['SetToDefault', 'must not hold DEFAULT'],
]);

/** A type's name in our spelling where we have one, with what stood in its parentheses. */
export interface ParsedType {
  name: string;
  isArray: boolean;
  parameters: number[];
}

/** Why `text` can't be the type of a column; null when, as far as the parser can tell, it can. */
export function checkTypeText(text: string): string | null {
  return parseTypeText(text) === null ? 'must be the name of a data type as PostgreSQL writes it' : null;
}

export function parseTypeText(text: string): ParsedType | null {
  const target = onlyTarget(`NULL::${text}`);
  const cast = typeof target === 'string' ? undefined : target['TypeCast'];
  if (!isNode(cast) || !isNode(cast['arg']) || cast['arg']['A_Const'] === undefined) return null;
  return isNode(cast['typeName']) && cast['typeName']['setof'] === undefined ? readTypeName(cast['typeName']) : null;
}

function readTypeName(typeName: Node): ParsedType | null {
  const names = list(typeName['names']).map((name) => stringOf(name));
  const parameters = list(typeName['typmods']).map((item) => (isNode(item) ? integerOf(item['A_Const']) : undefined));
  if (names.length === 0 || names.includes(undefined)) return null;
  const own = names[0] === 'pg_catalog' && names.length > 1 ? names.slice(1) : names;
  const joined = own.join('.');
  return {
    name: parseDataType(joined)?.name ?? joined,
    isArray: typeName['arrayBounds'] !== undefined,
    parameters: parameters.map((value) => value ?? NaN),
  };
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function stringOf(node: unknown): string | undefined {
  const string = isNode(node) ? node['String'] : undefined;
  return isNode(string) && typeof string['sval'] === 'string' ? string['sval'] : undefined;
}

/** The parser leaves zeros (and false) out of its answer. */
function integerOf(constant: unknown): number | undefined {
  const integer = isNode(constant) ? constant['ival'] : undefined;
  if (!isNode(integer)) return undefined;
  return typeof integer['ival'] === 'number' ? integer['ival'] : 0;
}

export type Constant =
  /** `text` null is NULL; `casts` from the inside out. */
  | { kind: 'literal'; text: string | null; isQuoted: boolean; casts: ParsedType[] }
  /** A function without arguments: `now()`, `CURRENT_DATE`. */
  | { kind: 'call'; text: string };

/** Reads a default as pg_get_expr writes it; null when it is neither a literal nor a call without arguments. */
export function parseConstant(text: string): Constant | null {
  const target = onlyTarget(text);
  let node = typeof target === 'string' ? null : target;
  const casts: ParsedType[] = [];
  while (node !== null && isNode(node['TypeCast'])) {
    const cast: Node = node['TypeCast'];
    const type = isNode(cast['typeName']) ? readTypeName(cast['typeName']) : null;
    if (type === null) return null;
    casts.unshift(type);
    node = isNode(cast['arg']) ? cast['arg'] : null;
  }
  if (node === null) return null;
  if (isNode(node['A_Const'])) return literal(node['A_Const'], casts);
  const call = casts.length === 0 ? callOf(node) : undefined;
  return call === undefined ? null : { kind: 'call', text: call };
}

function literal(constant: Node, casts: ParsedType[]): Constant | null {
  if (constant['isnull'] === true) return { kind: 'literal', text: null, isQuoted: false, casts };
  const { sval, fval, boolval } = constant;
  if (isNode(sval)) return { kind: 'literal', text: String(sval['sval'] ?? ''), isQuoted: true, casts };
  const integer = integerOf(constant);
  const text = integer === undefined ? unquotedText(fval, boolval) : String(integer);
  return text === undefined ? null : { kind: 'literal', text, isQuoted: false, casts };
}

function unquotedText(fval: unknown, boolval: unknown): string | undefined {
  if (isNode(fval) && typeof fval['fval'] === 'string') return fval['fval'];
  return isNode(boolval) ? String(boolval['boolval'] === true) : undefined;
}

function callOf(node: Node): string | undefined {
  const value = node['SQLValueFunction'];
  if (isNode(value) && typeof value['op'] === 'string') return value['op'].replace('SVFOP_', '');
  const call = node['FuncCall'];
  if (!isNode(call) || call['args'] !== undefined) return undefined;
  const names = list(call['funcname']).map(stringOf);
  return `${names.at(-1)}()`;
}
