/* Reads the options and the query of a view. */
import { parseSync } from 'libpg-query';
import { type Node, list, member, stringOf, type Statement, nodesIn, parseStatements } from './expression.js';
import type { QualifiedName } from '../model/object-ids.js';
import { fingerprintOf } from './compare-and-rename.js';
import { relationOfNode } from './table-objects.js';

/* Compares the options of views. */

/** Returns the options in one form. PostgreSQL stores the check option among the other options. */
export function optionsOf({ options, withCheckOption, into }: Node): string {
  const assignments = list(options ?? (into as Node | undefined)?.['options']).map((each) => {
    const option = member(each, 'DefElem');
    return `${String(option?.['defname'])}=${valueOf(option?.['arg'])}`;
  });
  const check = typeof withCheckOption === 'string' ? withCheckOption.split('_')[0]?.toLowerCase() : undefined;
  if (check === 'local' || check === 'cascaded') assignments.push(`check_option=${check}`);
  return assignments.sort().join();
}

const TRUE: ReadonlySet<string> = new Set(['true', 'on', 'yes', '1', 'undefined']);
const FALSE: ReadonlySet<string> = new Set(['false', 'off', 'no', '0']);

function valueOf(arg: unknown): string {
  const [value] = Object.values((Object.values((arg as object | undefined) ?? {})[0] as object | undefined) ?? {});
  const text = String(Array.isArray(value) ? stringOf(value[0]) : value).toLowerCase();
  return TRUE.has(text) ? 'true' : FALSE.has(text) ? 'false' : text;
}

/* Finds the part of CREATE MATERIALIZED VIEW that can also follow the name of a plain view. */

/** Matches quoted texts, comments, parentheses and words. Any other character is a token of its own. */
const TOKEN = /"(?:[^"]|"")*"|'(?:[^']|'')*'|--[^\n]*|\/\*[\s\S]*?\*\/|[A-Za-z_\x80-\uffff][\w$\x80-\uffff]*|[\s\S]/g;

/** Finds the column list and the query of a materialized view. The result is parsed again to check it. */
export function viewTailOf(tail: string, query: Node): string | null {
  const as = indexOfAs(tail);
  if (as === null) return null;
  const columns = /^\s*\([^()]*\)/.exec(tail)?.[0] ?? '';
  const select = tail.slice(as).replace(/\s+with\s+(?:no\s+)?data\s*$/i, '');
  const view = `${columns} ${select}`;
  return isViewOf(view, query) ? view : null;
}

/** Returns the index of the first AS outside parentheses. */
function indexOfAs(tail: string): number | null {
  let depth = 0;
  for (const { 0: token, index } of tail.matchAll(TOKEN)) {
    if (token === '(') depth += 1;
    else if (token === ')') depth -= 1;
    else if (depth === 0 && token.toLowerCase() === 'as') return index;
  }
  return null;
}

function isViewOf(tail: string, query: Node): boolean {
  try {
    const { stmts = [] } = parseSync(`CREATE VIEW v ${tail}`) as { stmts?: Statement[] };
    const view = member(stmts[0]?.stmt, 'ViewStmt');
    return stmts.length === 1 && view !== undefined && fingerprintOf(view['query'] as Node) === fingerprintOf(query);
  } catch {
    return false;
  }
}

/* Checks what a query contains. */

const STAR =
  'must name its columns instead of *: PostgreSQL replaces * when the view is created, so the text would have a different meaning after the table changes';

const isStar = (value: unknown): boolean =>
  member(list(member(value, 'ColumnRef')?.['fields']).at(-1), 'A_Star') !== undefined;

/** Returns a sentence that follows "must", or null. */
export function queryFault(query: Node): string | null {
  for (const [name, node] of nodesIn(query)) {
    if (name === 'ResTarget' && isStar(node['val'])) return STAR;
    if (name === 'RowExpr' && list(node['args']).some(isStar)) return STAR;
    if (name === 'intoClause') return 'must not contain INTO';
  }
  return null;
}

/* Finds the relations and functions that a parsed query names. */

/** Returns the name in a RangeVar. The schema is undefined if the statement names none. */
export const qualifiedName = ({ schemaname, relname }: Node): QualifiedName => ({
  schema: typeof schemaname === 'string' ? schemaname : undefined,
  name: String(relname),
});

/**
 * Returns the relations that a query reads or writes. Includes names defined in WITH, because such a query may read a
 * table of the same name.
 */
export function relationsIn(query: Node): QualifiedName[] {
  const relations = new Map<string, QualifiedName>();
  for (const [kind, node] of nodesIn(query)) {
    const named = relationOfNode(kind, node);
    if (named === undefined) continue;
    const relation = qualifiedName(named);
    relations.set(`${relation.schema ?? ''}\0${relation.name}`, relation);
  }
  return [...relations.values()];
}

export function callsIn(query: Node): QualifiedName[] {
  const calls = new Map<string, QualifiedName>();
  for (const [kind, node] of nodesIn(query)) {
    if (kind !== 'FuncCall') continue;
    const [name = '', schema] = list(node['funcname']).map(stringOf).reverse();
    if (schema !== 'pg_catalog') calls.set(`${schema ?? ''}\0${name}`, { schema, name });
  }
  return [...calls.values()];
}

/* Finds the names that a definition gives to columns, arguments and parts of its query. */

const GIVEN = ['aliasname', 'colnames', 'aliases', 'ctename', 'aliascolnames', 'colNames', 'colname'] as const;
/** Nodes whose member `name` is a new name. In other nodes, it may be the name of an existing column. */
const NAMED: ReadonlySet<string> = new Set(['ResTarget', 'FunctionParameter', 'NamedArgExpr']);

/** Returns the new names in the definition of a view, function, procedure or aggregate. */
export function givenNames(definition: string): string[] {
  const statements = parseStatements(definition);
  const names: unknown[] = [];
  for (const [kind, node] of nodesIn(typeof statements === 'string' ? [] : statements)) {
    if (NAMED.has(kind)) names.push(node['name']);
    for (const member of GIVEN) {
      const value = node[member];
      names.push(...(Array.isArray(value) ? value.map(stringOf) : [value]));
    }
  }
  return names.filter((name) => typeof name === 'string');
}
