/** Whether PostgreSQL spells a default as it would if the service had set it: then its value alone says all of it. */
import type { Json } from '../../kernel/json.js';

/** @param text by pg_get_expr @param columnType by format_type @param value what the text says, in normal form */
export function isUsualDefault(text: string, columnType: string, value: Json): boolean {
  // A NULL that was written down is kept by PostgreSQL, and hides the default of a domain.
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

/** Types of which PostgreSQL keeps more than the value; of all others it makes its own text, whatever was written. */
const KEPT: ReadonlyMap<string, (text: string) => string> = new Map([
  ['json', (text: string) => text],
  ['numeric', (text: string) => text],
  // It has spaces of its own between its parts.
  ['jsonb', (text: string) => text.replace(STRING_OR_SPACE, '$1')],
]);

/** What is spelled without quotes; -1 isn't. The rest are functions. */
function isBare(type: string, written: string): boolean {
  if (/^\d/.test(written)) return type === 'integer' || (type === 'numeric' && written.includes('.'));
  return written === 'true' || written === 'false' ? type === 'boolean' : true;
}
