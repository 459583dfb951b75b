import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { batchQuery } from '../../service/history-queries.js';
import { ProblemAlert } from '../../shared/problem-alert.js';
import { dayOf } from '../../shared/time.js';
import { BatchItem } from './batch-item.js';
import classes from './page.module.css';

interface Props {
  id: string;
  onClose: () => void;
  from?: number | undefined;
  onFrom: (position: number) => void;
}

/**
 * Renders nothing while loading. Shows a message for an unknown change.
 * @param props.id of the batch
 */
export function LinkedBatch({ id, onClose, ...comparing }: Props) {
  const { data: batch, error } = useQuery(batchQuery(id));
  if (error !== null) return <ProblemAlert error={error} />;
  if (batch === undefined) return null;
  if (batch === null) return <Text c="dimmed">The event log has no such change.</Text>;
  return (
    <section aria-label="Linked change">
      <h2 className={classes.day}>{dayOf(batch.occurred_at)}</h2>
      <ol className={classes.batches}>
        <BatchItem batch={batch} isOpen onToggle={onClose} {...comparing} />
      </ol>
    </section>
  );
}
