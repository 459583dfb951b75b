/**
 * Checks whether PostgreSQL spells a default exactly as if the service had set it. The value alone then represents
 * it.
 */
import type { Json } from '../../kernel/json.js';

/**
 * @param text from pg_get_expr
 * @param columnType from format_type
 * @param value the normal form of the text
 */
export function isUsualDefault(text: string, columnType: string, value: Json): boolean {
  // PostgreSQL keeps an explicit NULL, which hides the default of a domain.
  if (value === null) return false;
  const type = columnType.replace(/ ?\(.*\)/, '');
  const written = typeof value === 'string' ? value : JSON.stringify(value);
  const label = `'::${type === 'character' ? 'bpchar' : type}`;
  if (!text.startsWith("'")) return text === written && isBare(type, written);
  if (!text.endsWith(label)) return false;
  const kept = KEPT.get(type);
  return kept === undefined || kept(text.slice(1, -label.length).replaceAll("''", "'")) === written;
}

const STRING_OR_SPACE = /("(?:[^"\\]|\\.)*")| /g;

/** For these types PostgreSQL keeps the text as written. For all others it prints the value in its own format. */
const KEPT: ReadonlyMap<string, (text: string) => string> = new Map([
  ['json', (text: string) => text],
  ['numeric', (text: string) => text],
  // PostgreSQL prints its own spaces between the parts.
  ['jsonb', (text: string) => text.replace(STRING_OR_SPACE, '$1')],
]);

/** Literals that PostgreSQL prints without quotes; -1 is not one of them. Other unquoted text is a function call. */
function isBare(type: string, written: string): boolean {
  if (/^\d/.test(written)) return type === 'integer' || (type === 'numeric' && written.includes('.'));
  return written === 'true' || written === 'false' ? type === 'boolean' : true;
}
