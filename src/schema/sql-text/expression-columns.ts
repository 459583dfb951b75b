/** Which columns an expression reads, by PostgreSQL's own parser. */
import { parseStatement } from './expression.js';

/** Of `articles.title` the last part; empty for a text that doesn't parse. */
export function expressionColumns(text: string): ReadonlySet<string> {
  const names = new Set<string>();
  const open: unknown[] = [parseStatement(`SELECT (${text})`)];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value !== 'object' || value === null) continue;
    if ('ColumnRef' in value) names.add(columnName(value.ColumnRef));
    else open.push(...Object.values(value));
  }
  return names;
}

function columnName(reference: unknown): string {
  const { fields } = reference as { fields: { String?: { sval: string } }[] };
  return fields.at(-1)?.String?.sval ?? '';
}
