/**
 * Whether two SQL texts say the same to PostgreSQL's parser: blanks, quotes, the letters of key words, parentheses, and
 * what goes without saying (`MATCH SIMPLE`, `NO ACTION`) make no difference. What only the server knows does: `'x'` is
 * another text than `'x'::text`.
 */
import { hash } from 'node:crypto';
import { type Node } from './expression.js';
import { memoize } from '../../kernel/memoize.js';
import { type TextKind, parseText } from './check-sql-text.js';

/** False where either of them doesn't parse, unless they are equal. */
export function isSameText(kind: TextKind, a: string, b: string): boolean {
  if (a === b) return true;
  const [first, second] = [a, b].map((text) => FINGERPRINTS[kind](text));
  return first !== null && first === second;
}

const fingerprints = (kind: TextKind) =>
  memoize((text): string | null => {
    const statement = parseText(kind, text);
    return typeof statement === 'string' ? null : fingerprintOf(statement);
  });

const FINGERPRINTS: { readonly [K in TextKind]: (text: string) => string | null } = {
  expression: fingerprints('expression'),
  constraint: fingerprints('constraint'),
  index: fingerprints('index'),
  'partition key': fingerprints('partition key'),
  'partition bound': fingerprints('partition bound'),
};

/** Where in the text something stands. */
const PLACE = /^(.*_)?(location|list_start|list_end)$/;

/** Of a parsed statement. Without recursion: texts may be nested deeper than the stack goes. */
export function fingerprintOf(root: Node): string {
  const parts: string[] = [];
  const open: unknown[] = [root];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value !== 'object' || value === null) parts.push(JSON.stringify(value));
    else {
      const members = Object.entries(value).filter(([name]) => !PLACE.test(name));
      // With their names, each node says how many parts follow that are its own.
      parts.push(JSON.stringify(members.map(([name]) => name)));
      for (const [, inner] of members) open.push(inner);
    }
  }
  return hash('sha256', parts.join('\n'));
}
