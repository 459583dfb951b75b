/** Finds deletions of values that a restore could not match to rows, because someone dropped the primary key by hand. */
import type { Problem } from '../../kernel/problem.js';
import type { ValuesFacts } from '../../projector/catalog/deletion-facts.js';
import { primaryKeyColumns } from '../../projector/ddl/create-table.js';
import type { CollectionNode } from '../../schema/model/state.js';

interface KeyedDeletion {
  collection: string;
  field: string;
  key: readonly string[];
  never: string | undefined;
}

/**
 * Returns the columns of the primary key after the batch, if the table had this key before the batch. Otherwise the
 * batch creates the key, and PostgreSQL checks the rows.
 */
export function keyBefore(node: CollectionNode | undefined, columns: string[]): string[] {
  const key = node === undefined ? [] : primaryKeyColumns(node);
  return key.length === columns.length && key.every((name) => columns.includes(name)) ? columns : [];
}

/** Returns undefined if the columns are missing, because the change then fails for a different reason. */
export function explainDroppedKey(key: readonly string[], facts: ValuesFacts): string | undefined {
  if (key.length === 0 || facts.partitioned || !key.every((name) => facts.columns.includes(name))) return undefined;
  if (facts.unique_keys.some((columns) => columns.every((name) => key.includes(name)))) return undefined;
  return `the primary key (${key.join(', ')}), which matches values to rows, was dropped by hand`;
}

export function rejectDroppedKey(
  { collection, field, key, never }: KeyedDeletion,
  facts: ValuesFacts | undefined,
  details: { option: 'purge' },
): Problem[] {
  const why = never === undefined && facts !== undefined ? explainDroppedKey(key, facts) : undefined;
  if (why === undefined) return [];
  const message =
    `Field ${JSON.stringify(field)} of ${JSON.stringify(collection)} cannot be kept in the trash: ${why}. ` +
    'Create the key with SQL. To delete the values permanently, repeat the change with "purge".';
  return [{ code: 'DATABASE_REFUSED', message, collection, field, details }];
}
