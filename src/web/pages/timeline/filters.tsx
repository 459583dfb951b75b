/** What narrows the timeline down. */
import { Autocomplete, Button, Group, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { collectionsQuery } from '../../service/queries.js';
import type { TimelineSearch } from './search.js';

interface Props {
  search: TimelineSearch;
  onChange: (changed: Partial<TimelineSearch>) => void;
}

/** Milliseconds without another key until it is asked for. */
const TYPING = 350;

export function Filters(props: Props) {
  const { collection, actor, since, until } = props.search;
  const isFiltered = [collection, actor, since, until].some((each) => each !== undefined);
  // What was taken away by the button must be gone from the boxes too.
  const [round, setRound] = useState(0);
  const clear = () => {
    props.onChange({ collection: undefined, actor: undefined, since: undefined, until: undefined });
    setRound(round + 1);
  };
  return (
    <Group gap="sm" my="md" align="flex-end" role="search" aria-label="Filter the timeline">
      <Boxes key={round} {...props} />
      {isFiltered && (
        <Button variant="subtle" onClick={clear}>
          Show all
        </Button>
      )}
    </Group>
  );
}

function Boxes({ search, onChange }: Props) {
  const { data: collections = [] } = useQuery(collectionsQuery());
  const soon = useDebouncedCallback(onChange, TYPING);
  return (
    <>
      <Autocomplete
        label="Collection"
        placeholder="any"
        limit={20}
        data={collections.map(({ collection }) => collection)}
        defaultValue={search.collection ?? ''}
        onChange={(value) => soon({ collection: value === '' ? undefined : value })}
      />
      <TextInput
        label="Who"
        placeholder="anybody"
        w={150}
        defaultValue={search.actor ?? ''}
        onChange={(event) => soon({ actor: event.currentTarget.value || undefined })}
      />
      <TextInput
        label="From"
        type="date"
        w={150}
        defaultValue={search.since ?? ''}
        onChange={(event) => onChange({ since: event.currentTarget.value || undefined })}
      />
      <TextInput
        label="To"
        type="date"
        w={150}
        defaultValue={search.until ?? ''}
        onChange={(event) => onChange({ until: event.currentTarget.value || undefined })}
      />
    </>
  );
}
