import filterIcon from 'icon:filter_list';
import searchIcon from 'icon:search';
import { Autocomplete, Button, Group, NativeSelect, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { collectionsQuery } from '../../service/queries.js';
import { Glyph } from '../../shared/glyph.js';
import { useHere } from '../../shared/focus.js';
import type { TimelineSearch } from './search.js';
import classes from './page.module.css';

interface FiltersProps {
  search: TimelineSearch;
  onChange: (changed: Partial<TimelineSearch>) => void;
}

const NAMES = ['q', 'collection', 'field', 'type', 'actor', 'since', 'until'] as const;

/** Common event types; the address accepts all others. */
const TYPES = [
  'collection.created',
  'collection.updated',
  'collection.renamed',
  'collection.deleted',
  'collection.adopted',
  'field.created',
  'field.updated',
  'field.renamed',
  'field.deleted',
  'relation.created',
  'relation.updated',
  'relation.deleted',
];

/** Milliseconds without input before a request. */
const TYPING = 350;

/**
 * Text applies after a short pause, dates and choices at once. Inputs are initialized from the address, and again
 * when all filters are cleared.
 * @param props.onChange called with changes; undefined removes a filter
 */
export function Filters(props: FiltersProps) {
  const isFiltered = NAMES.some((name) => props.search[name] !== undefined);
  // On a phone, all inputs would fill half of the screen.
  const [isOpen, setOpen] = useState(NAMES.some((name) => name !== 'q' && props.search[name] !== undefined));
  // Resets the inputs after the clear button.
  const [round, setRound] = useState(0);
  const clear = () => {
    props.onChange(Object.fromEntries(NAMES.map((name) => [name, undefined])));
    setRound(round + 1);
  };
  return (
    <Group gap="sm" my="md" align="flex-end" role="search" aria-label="Filter the timeline">
      <div key={round} id="timeline-filters" className={classes.filters} data-open={isOpen}>
        <Boxes {...props} />
      </div>
      <Button
        className={classes.unfold}
        variant="default"
        leftSection={<Glyph path={filterIcon} size={16} />}
        aria-expanded={isOpen}
        aria-controls="timeline-filters"
        onClick={() => setOpen(!isOpen)}
      >
        {isOpen ? 'Fewer filters' : 'More filters'}
      </Button>
      {isFiltered && (
        <Button variant="subtle" onClick={clear}>
          Clear filters
        </Button>
      )}
    </Group>
  );
}

function Boxes({ search, onChange }: FiltersProps) {
  const { data: collections = [] } = useQuery(collectionsQuery());
  const isHere = useHere();
  // Collects input of all fields, because the user may move on during the pause.
  const typed = useRef<Partial<TimelineSearch>>({});
  const tell = useDebouncedCallback(() => {
    if (isHere()) onChange(typed.current);
    typed.current = {};
  }, TYPING);
  const soon = (changed: Partial<TimelineSearch>) => {
    typed.current = { ...typed.current, ...changed };
    tell();
  };
  return (
    <>
      <TextInput
        label="Reason or name"
        placeholder="any"
        type="search"
        maxLength={200}
        leftSection={<Glyph path={searchIcon} size={16} />}
        defaultValue={search.q ?? ''}
        onChange={(event) => soon({ q: event.currentTarget.value || undefined })}
      />
      <TextInput
        label="From"
        type="date"
        defaultValue={search.since ?? ''}
        onChange={(event) => onChange({ since: event.currentTarget.value || undefined })}
      />
      <TextInput
        label="To"
        type="date"
        defaultValue={search.until ?? ''}
        onChange={(event) => onChange({ until: event.currentTarget.value || undefined })}
      />
      <Autocomplete
        label="Collection"
        placeholder="any"
        limit={20}
        data={collections.map(({ collection }) => collection)}
        defaultValue={search.collection ?? ''}
        onChange={(value) => soon({ collection: value === '' ? undefined : value })}
      />
      <TextInput
        label="Field"
        placeholder="any"
        defaultValue={search.field ?? ''}
        onChange={(event) => soon({ field: event.currentTarget.value || undefined })}
      />
      <NativeSelect
        label="Event type"
        data={[{ value: '', label: 'any' }, ...typesWith(search.type)]}
        value={search.type ?? ''}
        onChange={(event) => onChange({ type: event.currentTarget.value || undefined })}
      />
      <TextInput
        label="User"
        placeholder="any"
        defaultValue={search.actor ?? ''}
        onChange={(event) => soon({ actor: event.currentTarget.value || undefined })}
      />
    </>
  );
}

const typesWith = (type: string | undefined): { value: string; label: string }[] =>
  [...new Set([...TYPES, ...(type === undefined ? [] : [type])])].map((each) => ({
    value: each,
    label: each.replace('.', ' ').replace('_', ' '),
  }));
