/**
 * SQL that comes as text (generated columns, type names, the catalog's defaults), read with PostgreSQL's own parser.
 * Nothing here is executed; what is accepted still goes to the server, which knows functions, types and columns.
 */
import { loadModule, parseSync, scanSync } from 'libpg-query';
import { parseDataType } from './data-types.js';
import { memoize } from '../../kernel/memoize.js';

await loadModule();

/** The parser recurses; texts this long stay far from the end of its stack. */
const MAX_LENGTH = 10_000;

export type Node = Record<string, unknown>;

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The one statement that `text` is, parsed; a sentence where it is anything else. */
export function parseStatement(text: string): Node | string {
  const fault = textFault(text);
  if (fault !== null) return fault;
  try {
    const parsed = parseSync(text) as { stmts?: unknown[] };
    return member(only(parsed.stmts), 'stmt') ?? 'must be one statement';
  } catch (error) {
    return scannerFault(text) ?? `must be SQL as PostgreSQL writes it: ${reasonOf(error)}`;
  }
}

/** The parser's own words. The scanner loses them where it fails: what it throws then speaks of JSON. */
function reasonOf(error: unknown): string {
  return error instanceof Error && !(error instanceof SyntaxError) ? error.message : 'a quoted part of it does not end';
}

const CONTROL = /\p{Cc}/gu;

/** Where neither stands, the scanner, which takes as long as the parser, would find no comment. */
const MAY_BE_COMMENT = /--|\/\*/;

/** Why `text` can't be part of a statement, whatever it says. */
function textFault(text: string): string | null {
  if (text.length > MAX_LENGTH) return `must be at most ${MAX_LENGTH} characters`;
  if (text.trim() === '') return 'must not be empty';
  if (text.includes('\0')) return 'must not hold the character NUL';
  return MAY_BE_COMMENT.test(text) ? scannerFault(text) : null;
}

function scannerFault(text: string): string | null {
  try {
    // The scanner's answer is broken by control characters, which matter only inside quotes.
    const comment = scanSync(text.replaceAll(CONTROL, ' ')).tokens.some(({ tokenName }) =>
      tokenName.endsWith('_COMMENT'),
    );
    return comment ? 'must not hold comments' : null;
  } catch (error) {
    return `must be one SQL expression: ${reasonOf(error)}`;
  }
}

/** The one expression a SELECT without clauses has; a sentence where the text is anything else. */
function onlyTarget(text: string): Node | string {
  const fault = textFault(text);
  if (fault !== null) return fault;
  try {
    // Both as it stands and in parentheses, so that it neither ends the expression it stands in nor adds a clause.
    parseSync(`SELECT (${text})`);
    return targetOf(parseSync(`SELECT ${text}`));
  } catch (error) {
    return scannerFault(text) ?? `must be one SQL expression: ${reasonOf(error)}`;
  }
}

const ONE_EXPRESSION = 'must be one SQL expression, without clauses, and not a list';
const BARE_SELECT: ReadonlySet<string> = new Set(['targetList', 'limitOption', 'op']);

/** Whether a SELECT has nothing but its list. */
export function isBareSelect(select: Node | undefined): select is Node {
  return select !== undefined && Object.keys(select).every((key) => BARE_SELECT.has(key));
}

function targetOf(parsed: { stmts?: unknown[] }): Node | string {
  const select = member(member(only(parsed.stmts), 'stmt'), 'SelectStmt');
  const target = isBareSelect(select) ? member(only(select['targetList']), 'ResTarget') : undefined;
  const value = member(target, 'val');
  if (value === undefined || target?.['name'] !== undefined || target?.['indirection'] !== undefined)
    return ONE_EXPRESSION;
  return value;
}

/** The element of a list that has no other. */
export function only(value: unknown): unknown {
  return Array.isArray(value) && value.length === 1 ? value[0] : undefined;
}

/** The object at a member of an object. */
export function member(value: unknown, name: string): Node | undefined {
  const inner = isNode(value) ? value[name] : undefined;
  return isNode(inner) ? inner : undefined;
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
export const checkExpression = memoize((text): string | null => {
  const target = onlyTarget(text);
  return typeof target === 'string' ? target : scalarFault(target);
});

/** Why a parsed part can't be a scalar expression over one row's columns; null when, as far as the parser can tell, it can. */
export function scalarFault(node: unknown): string | null {
  const open: unknown[] = [node];
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

export const parseTypeText = memoize((text): Readonly<ParsedType> | null => {
  const target = onlyTarget(`NULL::${text}`);
  const cast = member(target, 'TypeCast');
  return member(cast, 'arg')?.['A_Const'] === undefined ? null : readTypeName(member(cast, 'typeName'));
});

/** Null for SETOF and for what isn't there. A parameter that is no integer is NaN. */
export function readTypeName(typeName: Node | undefined): ParsedType | null {
  if (typeName === undefined || typeName['setof'] !== undefined) return null;
  const names = list(typeName['names']).map(stringOf);
  const own = names[0] === 'pg_catalog' && names.length > 1 ? names.slice(1) : names;
  if (own.length === 0 || own.includes(undefined)) return null;
  const joined = own.join('.');
  return {
    name: parseDataType(joined)?.name ?? joined,
    isArray: typeName['arrayBounds'] !== undefined,
    parameters: list(typeName['typmods']).map((item) => integerOf(member(item, 'A_Const')) ?? NaN),
  };
}

/** Of a node's member: empty where it isn't there. */
export function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Undefined for a node that is no String. */
export function stringOf(node: unknown): string | undefined {
  const text = member(node, 'String')?.['sval'];
  return typeof text === 'string' ? text : undefined;
}

/** The parser leaves zeros, empty strings and false out of its answer. */
export function integerOf(constant: unknown): number | undefined {
  const integer = member(constant, 'ival');
  if (integer === undefined) return undefined;
  return typeof integer['ival'] === 'number' ? integer['ival'] : 0;
}

/** The catalog's own text, however long, is put nowhere: it only has to be read. */
export function catalogTarget(text: string): Node | undefined {
  try {
    const target = targetOf(parseSync(`SELECT ${text}`));
    return typeof target === 'string' ? undefined : target;
  } catch {
    return undefined;
  }
}
