import { Text } from '@mantine/core';
import { useDraftedFields } from '../draft/use-drafted.js';
import { ProblemAlert } from '../shared/problem-alert.js';
import { useKeyColumn } from './use-key-column.js';

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
