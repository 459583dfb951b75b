import { Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { readPast } from '../../../service/review-queries.js';
import { SnapshotMenu } from '../../../shared/snapshot/snapshot-menu.js';
import { Frame } from '../parts/frame.js';
import { Workspace } from '../workspace.js';
import { renewalOf } from '../source.js';

/** A review does not change under its reader; it is refetched on request. */
export const STILL = { staleTime: Infinity, gcTime: 0 } as const;

/** @param props.to a position or a time */
export function PastSource({ to }: { to: string }) {
  const query = useQuery({ ...STILL, queryKey: ['review', 'past', to], queryFn: ({ signal }) => readPast(to, signal) });
  const title = `Go back to ${momentText(to)}`;
  const about = (
    <Group gap="md" justify="space-between">
      The service reverts later changes with new events. It deletes nothing from the event log.
      <SnapshotMenu at={to} size="compact-sm" />
    </Group>
  );
  return (
    <Frame title={title} query={query} label="Comparing the schemas">
      {(reviewed) => (
        <Workspace
          source={{
            key: `past ${to}`,
            title,
            about,
            reviewed,
            isWhole: true,
            renewal: renewalOf(query),
            onApplied: () => undefined,
          }}
        />
      )}
    </Frame>
  );
}

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

/** A position as a number, a time in the viewer's zone. */
export function momentText(to: string): string {
  if (/^\d+$/.test(to)) return to === '0' ? 'the beginning' : `event ${Number(to).toLocaleString()}`;
  const time = new Date(to);
  return Number.isNaN(time.getTime()) ? to : exact.format(time);
}
