/** Writes names in SQL like PostgreSQL. */
import { scanSync } from 'libpg-query';
import './expression.js';

const PLAIN = /^[a-z_][a-z0-9_]*$/;

/** Returns the same text as quote_ident, which quotes a name only if necessary. */
export function quotedName(name: string): string {
  if (PLAIN.test(name)) {
    const [word] = scanSync(name).tokens;
    if (word?.keywordName === 'NO_KEYWORD' || word?.keywordName === 'UNRESERVED_KEYWORD') return name;
  }
  return `"${name.replaceAll('"', '""')}"`;
}
