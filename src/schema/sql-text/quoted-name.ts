/* Writes names in SQL like PostgreSQL, and finds them in statements. */
import { scanSync } from 'libpg-query';
import { memoize } from '../../kernel/memoize.js';
import type { QualifiedName } from '../model/object-ids.js';
import { type Node, list, stringOf } from './expression.js';

const PLAIN = /^[a-z_][a-z0-9_]*$/;

/** Returns the same text as quote_ident, which quotes a name only if necessary. */
export const quotedName = (name: string): string =>
  PLAIN.test(name) && !isReserved(name) ? name : `"${name.replaceAll('"', '""')}"`;

const isReserved = memoize((name) => {
  const [word] = scanSync(name).tokens;
  return word?.keywordName !== 'NO_KEYWORD' && word?.keywordName !== 'UNRESERVED_KEYWORD';
});

/** Returns the name in SQL, with the schema unless it is the default schema. */
export const quotedQualified = ({ schema, name }: QualifiedName): string =>
  schema === undefined ? quotedName(name) : `${quotedName(schema)}.${quotedName(name)}`;

/** Matches comments, quoted strings and words. Any other character is a token of its own. */
const TOKEN = /"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|[A-Za-z_]+|[\s\S]/g;

/** Finds where the name begins, which the parser does not report. The result is parsed again to check it. */
export function startOfName(text: string): number {
  for (const { 0: token, index } of text.matchAll(TOKEN))
    if (/^(?:function|procedure|aggregate|trigger|policy|statistics|rule|type|domain)$/i.test(token))
      return index + token.length;
  return 0;
}

const NAME = /\s*(?:"(?:[^"]|"")+"|[A-Za-z_\x80-\xff][\w$\x80-\xff]*)\s*/y;

/** Returns the offset of the byte after the name. @param text one character per byte */
export function endOfName(text: string, { location, schemaname }: Node): number | null {
  let at = typeof location === 'number' ? location : 0;
  for (let left = schemaname === undefined ? 1 : 2; left > 0; left -= 1) {
    NAME.lastIndex = at;
    const name = NAME.exec(text)?.[0];
    if (name === undefined || /^U&$/i.test(name.trim())) return null;
    at += left > 1 ? name.length : name.trimEnd().length;
    if (left === 1) return at;
    if (text[at] !== '.') return null;
    at += 1;
  }
  return at;
}

/** Returns the name of a function or a type as the members of a RangeVar. */
export function targetNamed(names: unknown, text: string): Node {
  const [relname, schemaname, catalogname] = list(names).map(stringOf).reverse();
  return {
    relname,
    ...(schemaname !== undefined && { schemaname }),
    ...(catalogname !== undefined && { catalogname }),
    location: startOfName(text),
  };
}
