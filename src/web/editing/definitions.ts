/** Constraints and indexes of a table that mention a column. */
import type { TableExtras } from '../../schema/model/extras.js';
import type { DraftEditor } from '../draft/editor.js';

/** By name. Only searches their SQL as text; the service decides. */
export function mentioning({ constraints = [], indexes = [] }: TableExtras, column: string): string[] {
  const quoted = `"${column.replaceAll('"', '""')}"`;
  const isWord = /^[a-z_][a-z0-9_]*$/.test(column);
  const bare = new RegExp(`(?<![\\w"])${isWord ? column : '(?!)'}(?![\\w"])`);
  return [...constraints, ...indexes]
    .filter(({ definition }) => definition.includes(quoted) || bare.test(definition))
    .map(({ name }) => name);
}

/**
 * Removes constraints and indexes from a table by name. `extras` are the current ones, because lists do not contain
 * them.
 */
export function dropDefinitions(
  editor: DraftEditor,
  { collection, extras, definitions }: { collection: string; extras: TableExtras; definitions: readonly string[] },
): void {
  const table = editor.collection(collection);
  if (table?.schema == null) return;
  const kept = <T extends { name: string }>(all: T[] = []) => all.filter(({ name }) => !definitions.includes(name));
  const next = { ...extras, constraints: kept(extras.constraints), indexes: kept(extras.indexes) };
  const said = Object.entries(next).filter(([, value]) => !(Array.isArray(value) && value.length === 0));
  const before = { ...table, schema: { ...table.schema, extras } };
  const schema = { ...table.schema, extras: Object.fromEntries(said) };
  editor.putOver('collections', before, { ...table, schema });
}
