/** Which columns an expression reads, by PostgreSQL's own parser. */
import { loadModule, parseSync } from 'libpg-query';

await loadModule();

/** Every name that may be a column: of `articles.title` both parts, which costs at most a column moved for nothing. */
export function expressionColumns(text: string): ReadonlySet<string> {
  const names = new Set<string>();
  const open: unknown[] = [parseSync(`SELECT (${text})`)];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value !== 'object' || value === null) continue;
    if ('ColumnRef' in value) referenceNames(value.ColumnRef).forEach((name) => names.add(name));
    else open.push(...Object.values(value));
  }
  return names;
}

function referenceNames(reference: unknown): string[] {
  const { fields } = reference as { fields: { String?: { sval: string } }[] };
  return fields.flatMap((field) => field.String?.sval ?? []);
}
