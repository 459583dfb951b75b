/* Parses SQL (generated columns, type names, defaults from the catalog) with PostgreSQL's parser, without
   executing them. Accepted SQL is still sent to the server, which knows the functions, types and columns. */
import { loadModule, parseSync, scanSync } from 'libpg-query';
import { parseDataType } from './data-types.js';
import { memoize } from '../../kernel/memoize.js';
import { textFault as characterFault } from '../../kernel/text.js';
import { extrasOf, type CollectionNode, tableNameOf } from '../model/state.js';
import { needKey, schemaOfNeed } from '../model/order.js';
import type { Need } from '../model/extras.js';

await loadModule();

/** The parser is recursive. SQL of this length never exhausts its stack. */
const MAX_LENGTH = 10_000;

export type Node = Record<string, unknown>;

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export interface Statement {
  stmt?: unknown;
  /** Offset in bytes. Absent at the start of the text. */
  stmt_location?: number;
  /** Length in bytes. Absent if the statement ends with the text. */
  stmt_len?: number;
}

/** Maximum number of characters. Parsing 1,000 characters takes up to 3 ms and blocks the event loop. */
const LONGEST_DEFINITION = 100_000;

/** True for SQL that is not parsed. */
export const isTooLong = (text: string): boolean => text.length > LONGEST_DEFINITION;

/** Parses statements of a caller, or returns a sentence that follows "definition". */
export function parseStatements(text: string): Statement[] | string {
  if (isTooLong(text)) return `must be at most ${LONGEST_DEFINITION} characters`;
  const fault = characterFault(text);
  if (fault !== null) return fault;
  try {
    return (parseSync(text) as { stmts?: Statement[] }).stmts ?? [];
  } catch (error) {
    return parserFault(error);
  }
}

/** Returns a sentence that follows "definition". */
export function parserFault(error: unknown): string {
  if (error instanceof RangeError) return 'is nested too deeply';
  return `must be valid PostgreSQL: ${error instanceof SyntaxError ? 'a quoted string or identifier is not terminated' : (error as Error).message}`;
}

/** Yields each node once. Works without recursion, because statements may be nested deeper than the stack. */
export function* nodesIn(root: unknown): Generator<[name: string, node: Node]> {
  const open: unknown[] = [root];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value !== 'object' || value === null) continue;
    for (const [name, inner] of Object.entries(value)) {
      if (typeof inner !== 'object' || inner === null) continue;
      if (!Array.isArray(inner)) yield [name, inner as Node];
      open.push(inner);
    }
  }
}

/** Parses exactly one statement. Returns a sentence if the text is anything else. */
export function parseStatement(text: string): Node | string {
  const fault = textFault(text);
  if (fault !== null) return fault;
  try {
    const parsed = parseSync(text) as { stmts?: unknown[] };
    return member(onlyElement(parsed.stmts), 'stmt') ?? 'must be one statement';
  } catch (error) {
    return scannerFault(text) ?? `must be valid PostgreSQL: ${reasonOf(error)}`;
  }
}

/** Returns the parser's message. If the scanner fails, its message is lost, and the error mentions only JSON. */
function reasonOf(error: unknown): string {
  return error instanceof Error && !(error instanceof SyntaxError)
    ? error.message
    : 'a quoted string or identifier is not terminated';
}

const CONTROL = /\p{Cc}/gu;

/**
 * Matches SQL that may contain a comment. For all others the scanner need not run, which takes as long as the parser.
 */
const MAY_BE_COMMENT = /--|\/\*/;

/** Returns why `text` can never be part of a statement, or null. */
function textFault(text: string): string | null {
  if (text.length > MAX_LENGTH) return `must be at most ${MAX_LENGTH} characters`;
  if (text.trim() === '') return 'must not be empty';
  if (text.includes('\0')) return 'must not contain the character NUL';
  return MAY_BE_COMMENT.test(text) ? scannerFault(text) : null;
}

function scannerFault(text: string): string | null {
  try {
    // Control characters corrupt the result of the scanner. They are replaced, because they only matter within quotes.
    const comment = scanSync(text.replaceAll(CONTROL, ' ')).tokens.some(({ tokenName }) =>
      tokenName.endsWith('_COMMENT'),
    );
    return comment ? 'must not contain comments' : null;
  } catch (error) {
    return `must be one SQL expression: ${reasonOf(error)}`;
  }
}

/** Returns the single expression of a SELECT without clauses, or a sentence. */
function onlyTarget(text: string): Node | string {
  const fault = textFault(text);
  if (fault !== null) return fault;
  try {
    // Parses the text with and without parentheses. It can then neither end the surrounding expression nor add a
    // clause.
    parseSync(`SELECT (${text})`);
    return targetOf(parseSync(`SELECT ${text}`));
  } catch (error) {
    return scannerFault(text) ?? `must be one SQL expression: ${reasonOf(error)}`;
  }
}

const ONE_EXPRESSION = 'must be one SQL expression, without clauses, and not a list';
const BARE_SELECT: ReadonlySet<string> = new Set(['targetList', 'limitOption', 'op']);

/** True if a SELECT has only a target list. */
export function isBareSelect(select: Node | undefined): select is Node {
  return select !== undefined && Object.keys(select).every((key) => BARE_SELECT.has(key));
}

function targetOf(parsed: { stmts?: unknown[] }): Node | string {
  const select = member(member(onlyElement(parsed.stmts), 'stmt'), 'SelectStmt');
  const target = isBareSelect(select) ? member(onlyElement(select['targetList']), 'ResTarget') : undefined;
  const value = member(target, 'val');
  if (value === undefined || target?.['name'] !== undefined || target?.['indirection'] !== undefined)
    return ONE_EXPRESSION;
  return value;
}

export function onlyElement(value: unknown): unknown {
  return Array.isArray(value) && value.length === 1 ? value[0] : undefined;
}

/** Returns the object at a member of an object. */
export function member(value: unknown, name: string): Node | undefined {
  const inner = isNode(value) ? value[name] : undefined;
  return isNode(inner) ? inner : undefined;
}

/**
 * Nodes that may occur in a scalar expression over the columns of one row. Subqueries, parameters and DEFAULT are not
 * included.
 */
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
 * Returns why `text` cannot be the expression of a generated column, or null if the parser finds nothing. It must be
 * one scalar expression without statements, subqueries, parameters, aggregates, window functions or comments.
 */
export const checkExpression = memoize((text): string | null => {
  const target = onlyTarget(text);
  return typeof target === 'string' ? target : scalarFault(target);
});

/**
 * Returns why a parsed part cannot be a scalar expression over the columns of one row, or null if the parser finds
 * nothing.
 */
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

/**
 * Returns why a node is not allowed, or null. A node is wrapped in a member with a capitalised name. Other members are
 * fields of nodes or list indexes.
 */
function nodeFault(name: string, inner: unknown): string | null {
  if (!/^[A-Z]/.test(name)) return null;
  if (!SCALAR_NODES.has(name))
    return NODE_FAULTS.get(name) ?? 'must be a scalar expression over the columns of one row';
  const isPerSet = name === 'FuncCall' && isNode(inner) && NOT_PER_ROW.some((member) => inner[member] !== undefined);
  return isPerSet ? 'must not call aggregates or window functions' : null;
}

const NODE_FAULTS: ReadonlyMap<string, string> = new Map([
  ['SubLink', 'must not contain a subquery'],
  ['ParamRef', 'must not contain parameters ($1)'],
  ['A_Star', 'must not contain *'],
  ['RowExpr', 'must be a scalar, not a row'],
  ['SetToDefault', 'must not contain DEFAULT'],
]);

/** A parsed type. It has the name that this service uses, if there is one, and the numbers in parentheses. */
export interface ParsedType {
  name: string;
  isArray: boolean;
  parameters: number[];
}

/** Returns why `text` cannot be the type of a column, or null if the parser finds nothing. */
export function checkTypeText(text: string): string | null {
  return parseTypeText(text) === null ? 'must be the name of a data type as PostgreSQL writes it' : null;
}

export const parseTypeText = memoize((text): Readonly<ParsedType> | null => {
  const target = onlyTarget(`NULL::${text}`);
  const cast = member(target, 'TypeCast');
  return member(cast, 'arg')?.['A_Const'] === undefined ? null : readTypeName(member(cast, 'typeName'));
});

/** Reads a type. Null for SETOF and missing nodes. A parameter that is not an integer becomes NaN. */
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

/** Returns the list, or an empty list for a missing member. */
export function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Undefined for a node that is not a String. */
export function stringOf(node: unknown): string | undefined {
  const text = member(node, 'String')?.['sval'];
  return typeof text === 'string' ? text : undefined;
}

/** Returns the integer of a constant. The parser omits zeros, empty strings and false. */
export function integerOf(constant: unknown): number | undefined {
  const integer = member(constant, 'ival');
  if (integer === undefined) return undefined;
  return typeof integer['ival'] === 'number' ? integer['ival'] : 0;
}

/** Parses SQL from the catalog. It is only read and never inserted, so its length does not matter. */
export function catalogTarget(text: string): Node | undefined {
  try {
    const target = targetOf(parseSync(`SELECT ${text}`));
    return typeof target === 'string' ? undefined : target;
  } catch {
    return undefined;
  }
}

/* Describe the context of the SQL: its table and the needs of that table. */

export interface TextContext {
  /** The name of the table. Absent for the rules of a domain, which have no table. */
  collection?: string;
  columns: ReadonlySet<string>;
  /** The enums and domains that the table needs, by `needKey`. */
  types: ReadonlySet<string>;
  /** The types of the table's columns. */
  columnTypes: ReadonlySet<string>;
  /** The sequences that the table needs, by `needKey`. */
  sequences: ReadonlySet<string>;
  extensions: ReadonlySet<string>;
}

interface Table {
  collection?: string;
  columns: readonly { name: string; type: string }[];
  needs: readonly Need[];
}

export const NOTHING_AROUND = textContextOfTable({ columns: [], needs: [] });

/** Returns the context of a known collection. Aliases are not columns. */
export function textContextOf({ collection, fields }: Pick<CollectionNode, 'collection' | 'fields'>): TextContext {
  const columns = [...fields.values()].flatMap(({ field, schema }) =>
    schema === null ? [] : [{ name: field, type: schema.data_type }],
  );
  return textContextOfTable({
    collection: tableNameOf({ collection }),
    columns,
    needs: extrasOf({ collection }).needs ?? [],
  });
}

/** @param columns the types of columns in the spelling of format_type, with parameters */
export function textContextOfTable({ collection, columns, needs }: Table): TextContext {
  const named = (...kinds: Need['kind'][]) => needs.flatMap((need) => (kinds.includes(need.kind) ? keysOf(need) : []));
  return {
    ...(collection === undefined ? {} : { collection }),
    columns: new Set(columns.map(({ name }) => name)),
    types: new Set(named('enum', 'domain')),
    columnTypes: new Set(columns.map(({ type }) => parseTypeText(type)?.name ?? type)),
    sequences: new Set(named('sequence')),
    extensions: new Set([...named('extension'), ...extensionsOf(columns)]),
  };
}

/** Returns the keys of a need. PostgreSQL omits the schema public, which every search path contains. */
const keysOf = (need: Need): string[] =>
  schemaOfNeed(need) === 'public' ? [need.name, needKey(need)] : [needKey(need)];

/**
 * Returns the extensions of the columns' types. PostGIS cannot be among the needs, but a column of its types implies
 * it.
 */
function extensionsOf(columns: Table['columns']): string[] {
  return columns.some(({ type }) => /^geo(metry|graphy)\b/.test(type)) ? ['postgis'] : [];
}
