import { useDraftedFields } from '../draft/use-drafted.js';
import type { KeyColumn } from './relations.js';

/** Undefined until it is known. Null without a single-column key, so that it cannot be referenced. */
export function useKeyColumn(collection: string | null): KeyColumn | null | undefined {
  const { data: fields } = useDraftedFields(collection);
  if (fields === undefined) return undefined;
  const keys = fields.flatMap(({ document: { type, schema }, how }) =>
    how !== 'removed' && schema?.is_primary_key === true ? [{ type, schema }] : [],
  );
  return keys.length === 1 ? (keys[0] ?? null) : null;
}
