/** ⌘K: goes to any collection, field or page by a few letters of its name. */
import fieldIcon from 'icon:data_object';
import pageIcon from 'icon:arrow_forward';
import searchIcon from 'icon:search';
import tableIcon from 'icon:table';
import { Spotlight, createSpotlight } from '@mantine/spotlight';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useDeferredValue, useState } from 'react';
import { collectionsQuery, fieldNamesQuery } from '../service/queries.js';
import { useRole } from '../service/use-session.js';
import { Glyph } from '../shared/glyph.js';
import { MaterialIcon } from '../shared/material-icon.js';
import { ACTIONS, PAGES } from './pages.js';
import { type Found, findFor } from './search-index.js';

const [store, spotlight] = createSpotlight();

export const openSearch = () => spotlight.open();

export function Search() {
  const [query, setQuery] = useState('');
  const [asked, setAsked] = useState(false);
  const needle = useDeferredValue(query.trim());
  const role = useRole();
  const navigate = useNavigate();
  const { data: collections = [] } = useQuery({ ...collectionsQuery(), enabled: asked });
  const { data: fields = [], isFetching } = useQuery({ ...fieldNamesQuery(), enabled: asked && needle !== '' });
  const pages = [...PAGES, ...ACTIONS].filter(({ roles }) => roles.includes(role));
  const found = findFor(needle, { pages, collections, fields });
  const go = ({ to }: Found) => void navigate(to);
  // The kit marks the first line before ours are drawn again: without a mark, Enter means the first one.
  const onKeyDown = (event: KeyboardEvent) => {
    const [first] = found;
    if (event.key !== 'Enter' || first === undefined || document.querySelector('[data-action][data-selected]')) return;
    spotlight.close();
    go(first);
  };
  return (
    <Spotlight.Root
      store={store}
      query={query}
      onQueryChange={setQuery}
      onSpotlightOpen={() => setAsked(true)}
      shortcut={['mod + K', 'mod + P']}
      scrollable
      maxHeight={440}
      attributes={{ content: { 'aria-label': 'Search' } }}
    >
      <Spotlight.Search
        placeholder="Collections, fields, pages …"
        aria-label="Search"
        onKeyDown={onKeyDown}
        leftSection={<Glyph path={searchIcon} size={20} />}
      />
      <Spotlight.ActionsList>
        {found.map((each) => (
          <Spotlight.Action
            key={each.key}
            label={each.label}
            description={each.description}
            leftSection={<Icon of={each} />}
            onClick={() => go(each)}
          />
        ))}
        {found.length === 0 && (
          <Spotlight.Empty>
            {isFetching ? 'Reading the names of the fields …' : 'Nothing is called so.'}
          </Spotlight.Empty>
        )}
      </Spotlight.ActionsList>
    </Spotlight.Root>
  );
}

function Icon({ of }: { of: Found }) {
  if (of.kind === 'collection') return <MaterialIcon name={of.icon} otherwise={tableIcon} />;
  return <Glyph path={of.kind === 'field' ? fieldIcon : pageIcon} />;
}
