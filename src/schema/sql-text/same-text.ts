/**
 * Compares SQL texts with PostgreSQL's parser. White space, quotes, letter case of keywords, parentheses and defaults
 * (`MATCH SIMPLE`, `NO ACTION`) do not matter. Anything that only the server knows does: `'x'` differs from
 * `'x'::text`.
 */
import { hash } from 'node:crypto';
import { type Node } from './expression.js';
import { memoize } from '../../kernel/memoize.js';
import { type TextKind, parseText } from './check-sql-text.js';

/** False if one of them does not parse, unless they are equal. */
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

/** Members that contain locations in the text. */
const PLACE = /^(.*_)?(location|list_start|list_end)$/;

/** For a parsed statement. Not recursive, because texts may be nested deeper than the stack. */
export function fingerprintOf(root: Node): string {
  const parts: string[] = [];
  const open: unknown[] = [root];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value !== 'object' || value === null) parts.push(JSON.stringify(value));
    else {
      const members = Object.entries(value).filter(([name]) => !PLACE.test(name));
      // The member names define how many parts of each node follow.
      parts.push(JSON.stringify(members.map(([name]) => name)));
      for (const [, inner] of members) open.push(inner);
    }
  }
  return hash('sha256', parts.join('\n'));
}
