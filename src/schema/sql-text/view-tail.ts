/* Finds the part of CREATE MATERIALIZED VIEW that can also follow the name of a plain view. */
import { parseSync } from 'libpg-query';
import { type Node, type Statement, member } from './expression.js';
import { fingerprintOf } from './renamed-text.js';

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
