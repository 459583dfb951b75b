import actionIcon from 'icon:edit_note';
import fieldIcon from 'icon:view_column';
import historyIcon from 'icon:history';
import pageIcon from 'icon:arrow_forward';
import guideIcon from 'icon:menu_book';
import searchIcon from 'icon:search';
import tableIcon from 'icon:table';
import { Spotlight, createSpotlight } from '@mantine/spotlight';
import { useNavigate } from '@tanstack/react-router';
import { useCallback, useRef, useState } from 'react';
import { Glyph } from '../shared/glyph.js';
import { MaterialIcon } from '../shared/material-icon.js';
import type { SearchHit } from './search-model.js';
import { useSearchHits } from './use-search-hits.js';
import { useSearchKeys } from './use-search-keys.js';

const [store, spotlight] = createSpotlight();

/** Opens the search, empty. Does nothing unless `Search` is on the page. */
export const openSearch = () => spotlight.open();

/** Opens on ⌘K, ⌘P or `openSearch`. Field names and headings are requested only then. */
export function Search() {
  const [query, setQuery] = useState('');
  const [asked, setAsked] = useState(false);
  const navigate = useNavigate();
  const { found, isReading, isFinal } = useSearchHits(query, asked);
  const choose = useCallback(
    ({ to }: SearchHit) => {
      spotlight.close();
      void navigate(to);
    },
    [navigate],
  );
  const input = useRef<HTMLInputElement>(null);
  const { onKeyDownCapture, type } = useSearchKeys({
    store,
    input,
    found,
    isFinal,
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
      // Also opens while an input has the focus.
      tagsToIgnore={[]}
      scrollable
      maxHeight={440}
      attributes={{ content: { 'aria-label': 'Search' } }}
    >
      <Spotlight.Search
        placeholder="Collections, fields, changes, pages, guides …"
        aria-label="Search"
        ref={input}
        onKeyDownCapture={onKeyDownCapture}
        // Puts the cursor after text that was typed before the focus.
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
        {(found.length === 0 || (isReading && found[0]?.kind === 'history')) && (
          <Spotlight.Empty>{isReading ? 'Loading field names …' : 'No results.'}</Spotlight.Empty>
        )}
      </Spotlight.ActionsList>
    </Spotlight.Root>
  );
}

const ICONS = { field: fieldIcon, page: pageIcon, guide: guideIcon, action: actionIcon, history: historyIcon } as const;

function Icon({ of }: { of: SearchHit }) {
  if (of.kind === 'collection') return <MaterialIcon name={of.icon} otherwise={tableIcon} />;
  return <Glyph path={ICONS[of.kind]} />;
}
