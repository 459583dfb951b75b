import { Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { collectionEventsQuery } from '../../service/history-queries.js';
import type { CollectionEvent } from '../../service/types.js';
import { abbreviate } from '../../shared/text.js';
import { ChangeList } from '../../shared/changes/change-list.js';
import { changesOf, restoredKeys } from '../../shared/changes/sentences.js';
import { ProblemAlert, LoadingIndicator } from '../../shared/problem-alert.js';
import { Time } from '../../shared/time.js';
import classes from './history-tab.module.css';
import { actorName } from '../../../schema/model/events.js';

/** @param props.collection the name at the head */
export function HistoryTab({ collection }: { collection: string }) {
  const { data: events, error, refetch } = useQuery(collectionEventsQuery(collection));
  if (events === undefined && error !== null) return <ProblemAlert error={error} retry={() => void refetch()} />;
  if (events === undefined) return <LoadingIndicator label="Loading the history" height="200px" />;
  if (events.length === 0) return <Text c="dimmed">The event log has no changes of this collection.</Text>;
  return (
    <ol className={classes.events}>
      {batched(events).map((batch) => (
        <li key={batch[0].batch} className={classes.event}>
          <Head event={batch[0]} />
          <Stack gap="xs">
            <ChangeList changes={batch.flatMap((event) => changesOf(event.diff, restoredKeys([event])))} />
          </Stack>
        </li>
      ))}
    </ol>
  );
}

/** Groups consecutive events of one batch. */
function batched(events: readonly CollectionEvent[]): [CollectionEvent, ...CollectionEvent[]][] {
  const batches: [CollectionEvent, ...CollectionEvent[]][] = [];
  for (const event of events) {
    const last = batches.at(-1);
    if (last?.[0].batch === event.batch) last.push(event);
    else batches.push([event]);
  }
  return batches;
}

function Head({ event: { batch, actor, occurred_at, reason } }: { event: CollectionEvent }) {
  return (
    <div className={classes.head}>
      <Text component="span" fw={600} size="sm">
        {actorName(actor)}
      </Text>
      <Text component="span" size="sm" c="dimmed">
        <Time at={occurred_at} />
      </Text>
      {reason !== null && <Text size="sm">{abbreviate(reason, 300)}</Text>}
      <Link to="/timeline" search={{ batch }} className={classes.all}>
        Show the whole change
      </Link>
    </div>
  );
}
