/** ⌘K: goes to any collection, field or page by a few letters of its name. */
import actionIcon from 'icon:edit_note';
import fieldIcon from 'icon:data_object';
import pageIcon from 'icon:arrow_forward';
import guideIcon from 'icon:menu_book';
import searchIcon from 'icon:search';
import tableIcon from 'icon:table';
import { Spotlight, createSpotlight } from '@mantine/spotlight';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useCallback, useDeferredValue, useMemo, useRef, useState } from 'react';
import { withDraft } from '../draft/listed.js';
import { useDraft } from '../draft/use-draft.js';
import { collectionsQuery, fieldNamesQuery } from '../service/queries.js';
import { useRole } from '../service/use-session.js';
import { Glyph } from '../shared/glyph.js';
import { MaterialIcon } from '../shared/material-icon.js';
import { ACTIONS, PAGES, PARTS } from './pages.js';
import { findFor } from './search-index.js';
import type { Found } from './search-model.js';
import { useSearchKeys } from './use-search-keys.js';

const [store, spotlight] = createSpotlight();

/** Loaded when somebody searches for the first time. */
const headingsQuery = queryOptions({
  queryKey: ['headings'],
  staleTime: Infinity,
  queryFn: async () => (await import('docs:headings')).default,
});

export const openSearch = () => spotlight.open();

export function Search() {
  const [query, setQuery] = useState('');
  const [asked, setAsked] = useState(false);
  const needle = useDeferredValue(query.trim());
  const role = useRole();
  const navigate = useNavigate();
  const { name: here } = useParams({ strict: false });
  const { draft } = useDraft();
  const { data: listed, isPending: isListing } = useQuery({ ...collectionsQuery(), enabled: asked });
  const collections = useMemo(() => withDraft(draft, listed ?? []), [draft, listed]);
  const fieldNames = useQuery({ ...fieldNamesQuery(), enabled: asked && needle !== '' });
  const guides = useQuery({ ...headingsQuery, enabled: asked });
  const { data: fields = [], isFetching } = fieldNames;
  const { data: headings = [] } = guides;
  const pages = [...PAGES, ...ACTIONS].filter(({ roles }) => roles.includes(role));
  const parts = PARTS.filter(({ roles }) => roles.includes(role));
  const found = findFor(needle, { pages, parts, headings, collections, fields, mayEdit: role === 'admin', here });
  const choose = useCallback(
    ({ to }: Found) => {
      spotlight.close();
      void navigate(to);
    },
    [navigate],
  );
  // Fields and guides stand behind all others: they are waited for only where nothing else is found.
  const kind = found[0]?.kind;
  const isBehind = kind === undefined || kind === 'guide';
  const isAwaited = (isBehind && (guides.isPending || fieldNames.isPending)) || isListing;
  const input = useRef<HTMLInputElement>(null);
  const { onKeyDownCapture, type } = useSearchKeys({
    store,
    input,
    found,
    isFinal: needle === query.trim() && !isAwaited,
    setQuery,
    choose,
  });
  return (
    <Spotlight.Root
      store={store}
      query={query}
      onQueryChange={(typed) => type(() => typed)}
      onSpotlightOpen={() => setAsked(true)}
      shortcut={['mod + K', 'mod + P']}
      scrollable
      maxHeight={440}
      attributes={{ content: { 'aria-label': 'Search' } }}
    >
      <Spotlight.Search
        placeholder="Collections, fields, pages, guides …"
        aria-label="Search"
        ref={input}
        onKeyDownCapture={onKeyDownCapture}
        // Behind what was typed before it had the keyboard.
        onFocus={({ currentTarget: { value }, currentTarget }) =>
          currentTarget.setSelectionRange(value.length, value.length)
        }
        leftSection={<Glyph path={searchIcon} size={20} />}
      />
      <Spotlight.ActionsList>
        {found.map((each) => (
          <Spotlight.Action
            key={each.key}
            label={each.label}
            description={each.description}
            leftSection={<Icon of={each} />}
            onClick={() => choose(each)}
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

const ICONS = { field: fieldIcon, page: pageIcon, guide: guideIcon, action: actionIcon } as const;

function Icon({ of }: { of: Found }) {
  if (of.kind === 'collection') return <MaterialIcon name={of.icon} otherwise={tableIcon} />;
  return <Glyph path={ICONS[of.kind]} />;
}
