/** The primary key of a collection, for a column that leads to it. */
import { useDraftedFields } from '../draft/use-drafted.js';
import type { KeyColumn } from './relations.js';

/** Undefined: not known yet; null: it has no single key, so that nothing can lead to it. */
export function useKeyColumn(collection: string | null): KeyColumn | null | undefined {
  const { data: fields } = useDraftedFields(collection);
  if (fields === undefined) return undefined;
  const keys = fields.flatMap(({ document: { type, schema }, how }) =>
    how !== 'removed' && schema?.is_primary_key === true ? [{ type, schema }] : [],
  );
  return keys.length === 1 ? (keys[0] ?? null) : null;
}
