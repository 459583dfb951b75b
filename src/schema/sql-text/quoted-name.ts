/** Names as PostgreSQL writes them in SQL. */
import { scanSync } from 'libpg-query';
import './expression.js';

const PLAIN = /^[a-z_][a-z0-9_]*$/;

/** As quote_ident writes it: quoted where it must be, and only there. */
export function quotedName(name: string): string {
  if (PLAIN.test(name)) {
    const [word] = scanSync(name).tokens;
    if (word?.keywordName === 'NO_KEYWORD' || word?.keywordName === 'UNRESERVED_KEYWORD') return name;
  }
  return `"${name.replaceAll('"', '""')}"`;
}
