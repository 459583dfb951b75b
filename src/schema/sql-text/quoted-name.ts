/** Writes names in SQL like PostgreSQL. */
import { scanSync } from 'libpg-query';
import './expression.js';

const PLAIN = /^[a-z_][a-z0-9_]*$/;

/** Equals quote_ident: it quotes only if necessary. */
export function quotedName(name: string): string {
  if (PLAIN.test(name)) {
    const [word] = scanSync(name).tokens;
    if (word?.keywordName === 'NO_KEYWORD' || word?.keywordName === 'UNRESERVED_KEYWORD') return name;
  }
  return `"${name.replaceAll('"', '""')}"`;
}
