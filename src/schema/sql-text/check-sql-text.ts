/**
 * Checks which objects SQL from outside uses. The parser has already verified that the text is one expression or
 * definition. Each function, type, operator and operator class must be listed (docs/functions.md). Accepted SQL
 * therefore cannot read files or other tables, wait, or change anything.
 */
import { parseSync } from 'libpg-query';
import { type AllowedNames, NAMES_OF_EXTENSIONS, OWN_NAMES, extensionsWith } from './allowed-names.js';
import { checkIndexDefinition, checkPartitionBound, checkPartitionKey, parseConstraint } from './definitions.js';
import {
  type Node,
  checkExpression,
  list,
  member,
  parseStatement,
  stringOf,
  onlyElement,
  type TextContext,
  type Statement,
} from './expression.js';
import {
  MAX_SIZE,
  sizeOf,
  guardedCallFault,
  isGuarded,
  isGuardedWhole,
  type TypeUse,
  isConfiguration,
  typeFault,
  OWN_TYPES,
} from './result-size.js';

/* PostgreSQL evaluates partition bounds immediately, so only constants are allowed. */

/** @param statement ALTER TABLE … ATTACH PARTITION, parsed */
function boundsFault(statement: Node): string | null {
  const command = member(onlyElement(member(statement, 'AlterTableStmt')?.['cmds']), 'AlterTableCmd');
  const bound = member(member(member(command, 'def'), 'PartitionCmd'), 'bound');
  const values = [bound?.['listdatums'], bound?.['lowerdatums'], bound?.['upperdatums']].flatMap(list);
  for (const value of values) {
    const fault = valueFault(value);
    if (fault !== null) return fault;
  }
  return sizeOf(values) > MAX_BOUND ? 'must not be longer than 1 MiB' : null;
}

/** Maximum size of a bound in bytes. A few characters can produce more: `B'1'::bit(83886080)`. */
const MAX_BOUND = 1024 * 1024;

const NO_CONSTANT =
  'must consist of constants: literals, MINVALUE, MAXVALUE, and casts of literals to built-in PostgreSQL types';

function valueFault(value: unknown): string | null {
  let inner = value;
  for (let cast = member(inner, 'TypeCast'); cast !== undefined; cast = member(inner, 'TypeCast')) {
    const fault = typeFault(member(cast, 'typeName'), OWN_TYPES);
    if (fault !== null) return fault;
    inner = cast['arg'];
  }
  if (member(inner, 'A_Const') !== undefined) return null;
  return inner === value && isLimit(inner) ? null : NO_CONSTANT;
}

function isLimit(value: unknown): boolean {
  const name = stringOf(onlyElement(member(value, 'ColumnRef')?.['fields']));
  return name === 'minvalue' || name === 'maxvalue';
}

/** The statement around each kind of text. The text replaces `?`. */
export const STATEMENTS = {
  expression: 'SELECT (?)',
  constraint: 'ALTER TABLE t ADD CONSTRAINT c ?',
  index: 'CREATE INDEX i ON t ?',
  'partition key': 'CREATE TABLE t () PARTITION BY ?',
  'partition bound': 'ALTER TABLE t ATTACH PARTITION p ?',
} as const;

export type TextKind = keyof typeof STATEMENTS;

/** Returns the parsed statement around the text, or a sentence if it does not parse. */
export const parseText = (kind: TextKind, text: string): Node | string =>
  parseStatement(STATEMENTS[kind].replace('?', () => text));

/** Checks for each kind that the text is of this kind and contains no query or further statement. */
const SHAPES: { readonly [K in TextKind]: (text: string) => string | null } = {
  expression: checkExpression,
  constraint: (text) => {
    const parsed = parseConstraint(text);
    return typeof parsed === 'string' ? parsed : null;
  },
  index: checkIndexDefinition,
  'partition key': checkPartitionKey,
  'partition bound': checkPartitionBound,
};

/** Returns why SQL is not allowed, or null. SQL that does not parse is rejected with the parser's message. */
export function checkSqlText(kind: TextKind, text: string, around: TextContext): string | null {
  const shape = SHAPES[kind](text);
  if (shape !== null) return shape;
  const statement = parseText(kind, text);
  if (typeof statement === 'string') return statement;
  return kind === 'partition bound' ? boundsFault(statement) : treeFault(statement, around);
}

/** Maximum nesting depth. It is far below the limit of PostgreSQL's stack, and far above any realistic text. */
const MAX_DEPTH = 500;

function treeFault(root: Node, around: TextContext): string | null {
  const open: Inner[] = [{ value: root, depth: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next.depth > MAX_DEPTH) return `must not be nested deeper than ${MAX_DEPTH} levels`;
    for (const [name, inner] of membersOf(next.value)) {
      const fault = FAULTS[name]?.(inner as Node, around) ?? null;
      if (fault !== null) return fault;
      // A node is wrapped in a member with a capitalised name. Other members are fields of nodes or list indexes.
      const depth = /^[A-Z]/.test(name) ? next.depth + 1 : next.depth;
      if (!isConsumed(name, inner as Node)) open.push({ value: inner, depth });
    }
  }
  return sizeOf(root) > MAX_SIZE ? 'could compute values of more than 128 MiB from a few characters' : null;
}

interface Inner {
  value: unknown;
  /** Number of enclosing nodes. */
  depth: number;
}

const membersOf = (value: unknown): [string, unknown][] =>
  typeof value === 'object' && value !== null ? Object.entries(value) : [];

/**
 * True for nodes that are checked as a whole, so that the walk does not enter them. Options of an index
 * (`fastupdate=off`) are not expressions.
 */
const isConsumed = (name: string, inner: Node): boolean =>
  (name === 'FuncCall' && isGuardedWhole(nameOf(inner['funcname']).name)) ||
  (name === 'TypeCast' && isConfiguration(inner)) ||
  name === 'DefElem';

type Fault = (node: Node, around: TextContext) => string | null;

/** The check of each kind of node. Types are listed by the member that contains them. */
const FAULTS: { readonly [name: string]: Fault | undefined } = {
  FuncCall: (call, around) => functionFault(call, around),
  typeName: (type, around) => typeFault(type, typeUse(around)),
  TypeName: (type, around) => typeFault(type, typeUse(around)),
  A_Expr: operatorFault,
  Constraint: exclusionFault,
  IndexElem: operatorClassFault,
  PartitionElem: operatorClassFault,
  ColumnRef: columnFault,
  A_Indirection: ({ indirection }) => (list(indirection).some((each) => stringOf(each) !== undefined) ? DOT : null),
  XmlExpr: ({ op }) => (op === 'IS_DOCUMENT' ? null : 'must not create or parse XML'),
  XmlSerialize: () => 'must not create or parse XML',
};

const DOT = 'must not select part of a value with a dot, which can call any function: write the function call';

interface Name {
  name: string;
  schema: string | undefined;
}

/** Reads a list of strings, which the parser has already unescaped and folded. */
function nameOf(parts: unknown): Name {
  const names = list(parts).map((part) => stringOf(part) ?? '');
  return { name: names.at(-1) ?? '', schema: names.length > 1 ? names.slice(0, -1).join('.') : undefined };
}

const formatName = ({ name, schema }: Name): string =>
  JSON.stringify(schema === undefined ? name : `${schema}.${name}`);

function functionFault(call: Node, around: TextContext): string | null {
  const called = nameOf(call['funcname']);
  if (isGuarded(called.name) && isOwn(called)) return guardedCallFault(called.name, list(call['args']), around);
  return listedFault('functions', called, around);
}

const isOwn = ({ schema }: Name): boolean => schema === undefined || schema === 'pg_catalog';

const WORDS = {
  functions: 'function',
  operators: 'operator',
  operatorClasses: 'operator class',
} as const;

function listedFault(kind: keyof typeof WORDS, name: Name, { extensions }: TextContext): string | null {
  if (isOwn(name) && OWN_NAMES[kind].has(name.name)) return null;
  if (name.schema === undefined && isInExtensions(extensions, (each) => each[kind].has(name.name))) return null;
  return explainNotListed(kind, name);
}

function isInExtensions(extensions: ReadonlySet<string>, has: (names: AllowedNames) => boolean): boolean {
  for (const extension of extensions) {
    const names = NAMES_OF_EXTENSIONS.get(extension);
    if (names !== undefined && has(names)) return true;
  }
  return false;
}

function explainNotListed(kind: keyof typeof WORDS, name: Name): string {
  const what = `must not use the ${WORDS[kind]} ${formatName(name)}`;
  const bringers = name.schema === undefined ? extensionsWith(kind, name.name) : [];
  if (bringers.length === 0) return `${what}: docs/functions.md does not list it`;
  return `${what} without its extension: schema.extras.needs must name ${bringers.map((each) => JSON.stringify(each)).join(' or ')}`;
}

/** Matches the kinds of A_Expr whose name is a keyword and not an operator. */
const BETWEEN = /BETWEEN/;

function operatorFault({ kind, name }: Node, around: TextContext): string | null {
  return BETWEEN.test(String(kind)) ? null : listedFault('operators', nameOf(name), around);
}

/** Checks the operators of an exclusion constraint, which lists elements with the names of operators. */
function exclusionFault({ exclusions }: Node, around: TextContext): string | null {
  for (const pair of list(exclusions)) {
    const [, operator] = list(member(pair, 'List')?.['items']);
    const fault = listedFault('operators', nameOf(member(operator, 'List')?.['items']), around);
    if (fault !== null) return fault;
  }
  return null;
}

function operatorClassFault({ opclass }: Node, around: TextContext): string | null {
  return opclass === undefined ? null : listedFault('operatorClasses', nameOf(opclass), around);
}

/** Checks a column reference. If t has no column f, `t.f` calls the function f with the row. */
function columnFault({ fields }: Node, { collection, columns }: TextContext): string | null {
  const parts = list(fields);
  if (parts.length < 2) return null;
  const [table, column] = parts.map((part) => stringOf(part) ?? '');
  const isOwnColumn = parts.length === 2 && table === collection && columns.has(column ?? '');
  return isOwnColumn ? null : DOT;
}

const typeUse = ({ types, columnTypes, extensions }: TextContext): TypeUse => ({
  needed: types,
  ofColumns: columnTypes,
  ofExtension: (name) => isInExtensions(extensions, (each) => each.types.has(name)),
});

/* Checks statements of the catalog that restore a property of an object. */

/** Statements that give an object its privileges, comments, defaults, triggers, rules, owner and statistics target. */
const RESTORING: ReadonlySet<string> = new Set([
  'GrantStmt',
  'CommentStmt',
  'AlterTableStmt',
  'AlterOwnerStmt',
  'RuleStmt',
  'CreateTrigStmt',
  'AlterStatsStmt',
]);

/** Returns why SQL is not one statement that restores a property, or null. */
export function restoringFault(text: string): string | null {
  try {
    const { stmts = [] } = parseSync(text) as { stmts?: Statement[] };
    const [kind = ''] = Object.keys((stmts[0]?.stmt as object | undefined) ?? {});
    return stmts.length === 1 && RESTORING.has(kind) ? null : 'it is another statement';
  } catch (error) {
    return (error as Error).message;
  }
}
