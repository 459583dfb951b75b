import sealIcon from 'icon:verified';
import { Button, Group, Text, Title } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, getRouteApi } from '@tanstack/react-router';
import { useMemo } from 'react';
import { batchesQuery } from '../../service/history-queries.js';
import type { Batch } from '../../service/types.js';
import { Glyph } from '../../shared/glyph.js';
import { More } from '../../shared/more.js';
import { Page } from '../../shared/page.js';
import { useTitle } from '../../shared/page-title.js';
import { ProblemAlert } from '../../shared/problem-alert.js';
import { dayOf } from '../../shared/time.js';
import { Waiting } from '../../shared/waiting.js';
import { BatchItem } from './batch-item.js';
import { Comparing } from './comparing.js';
import { Filters } from './filters.js';
import { LinkedBatch } from './linked-batch.js';
import { type TimelineSearch, filterOf } from './search.js';
import { useSettled } from './use-settled.js';
import classes from './page.module.css';

const route = getRouteApi('/timeline');

/** Filters, the open change and the comparison are in the address. Grouped by the viewer's days. */
export function TimelinePage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  useTitle('Timeline');
  const filter = useMemo(() => filterOf(search), [search]);
  const changes = useInfiniteQuery(batchesQuery(filter));
  const { data, error, refetch, isFetchNextPageError: isOfMore } = changes;
  const change = (changed: Partial<TimelineSearch>) =>
    void navigate({ search: (before: TimelineSearch) => ({ ...before, ...changed }), replace: true });
  return (
    <Page>
      <Group justify="space-between">
        <Title order={1} size="h3">
          Timeline
        </Title>
        <Button
          component={Link}
          to="/seal"
          size="xs"
          variant="default"
          leftSection={<Glyph path={sealIcon} size={16} />}
        >
          {' '}
          Verification{' '}
        </Button>
      </Group>
      <Filters search={search} onChange={change} />
      {error !== null && !isOfMore && <ProblemAlert error={error} retry={() => void refetch()} />}
      {data === undefined && error === null && <Waiting label="Loading the history" height="200px" />}
      {data && <Batches batches={data.pages.flatMap((page) => page.data)} search={search} onChange={change} />}
      <More of={changes}>Show older changes</More>
    </Page>
  );
}

interface BatchesProps {
  batches: readonly Batch[];
  search: TimelineSearch;
  onChange: (changed: Partial<TimelineSearch>) => void;
}

function Batches({ batches, search, onChange }: BatchesProps) {
  const open = search.batch;
  const { shown, fresh, show } = useSettled(batches, open !== undefined);
  const comparing = { from: search.from, onFrom: (from: number) => onChange({ from }) };
  const isElsewhere = open !== undefined && !batches.some(({ batch }) => batch === open);
  return (
    <>
      {isElsewhere && <LinkedBatch id={open} onClose={() => onChange({ batch: undefined })} {...comparing} />}
      {search.from !== undefined && <Comparing from={search.from} onStop={() => onChange({ from: undefined })} />}
      {fresh > 0 && (
        <Button className={classes.fresh} radius="xl" size="xs" onClick={show}>
          {fresh === 1 ? '1 new change' : `${fresh} new changes`}
        </Button>
      )}
      {batches.length === 0 && <Nothing isFiltered={Object.keys(search).length > 0} />}
      {byDay(shown).map(([day, items]) => (
        <section key={day}>
          <Title order={2} className={classes.day}>
            {day}
          </Title>
          <ol className={classes.batches}>
            {items.map((batch) => (
              <BatchItem
                key={batch.batch}
                batch={batch}
                isOpen={batch.batch === open}
                onToggle={() => onChange({ batch: batch.batch === open ? undefined : batch.batch })}
                {...comparing}
              />
            ))}
          </ol>
        </section>
      ))}
    </>
  );
}

function Nothing({ isFiltered }: { isFiltered: boolean }) {
  return (
    <Text c="dimmed" py="xl" ta="center">
      {isFiltered ? 'No changes match the filters.' : 'No changes yet.'}
    </Text>
  );
}

/** In order. */
function byDay(batches: readonly Batch[]): [day: string, batches: Batch[]][] {
  const days = new Map<string, Batch[]>();
  for (const batch of batches) {
    const day = dayOf(batch.occurred_at);
    days.set(day, [...(days.get(day) ?? []), batch]);
  }
  return [...days];
}
