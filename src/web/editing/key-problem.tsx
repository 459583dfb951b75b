import { Text } from '@mantine/core';
import { useDraftedFields } from '../draft/use-drafted.js';
import { ProblemAlert } from '../shared/problem-alert.js';
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

/** @param collection null or empty if none is selected yet */
export function KeyProblem({ collection }: { collection: string | null }) {
  const chosen = collection === '' ? null : collection;
  const { error, refetch } = useDraftedFields(chosen);
  const key = useKeyColumn(chosen);
  if (error !== null) return <ProblemAlert error={error} retry={() => void refetch()} />;
  if (chosen === null || key !== null) return null;
  return (
    <Text size="sm" c="red" role="alert">
      {chosen} has no single-column primary key, so relations cannot reference it.
    </Text>
  );
}
