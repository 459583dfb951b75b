/** Search results from loaded data and from data requested on the first search. */
import { queryOptions, useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useDeferredValue, useMemo } from 'react';
import { withDraft } from '../draft/listed.js';
import { useDraft } from '../draft/use-draft.js';
import { collectionsQuery, fieldNamesQuery } from '../service/queries.js';
import { may } from '../service/abilities.js';
import { useRole } from '../service/use-session.js';
import { ACTIONS, PAGES, PARTS } from './pages.js';
import { findFor } from './search-index.js';
import type { SearchHit } from './search-model.js';

/** Loaded on the first search. */
const headingsQuery = queryOptions({
  queryKey: ['headings'],
  staleTime: Infinity,
  queryFn: async () => (await import('docs:headings')).default,
});

interface Finding {
  found: readonly SearchHit[];
  /** Results for field names are not available yet. */
  isReading: boolean;
  /** The first result will stay first unless more is typed. */
  isFinal: boolean;
}

/** @param isAsked whether the search was opened */
export function useSearchHits(query: string, isAsked: boolean): Finding {
  const typed = query.trim();
  const needle = useDeferredValue(typed);
  const role = useRole();
  const { name: here } = useParams({ strict: false });
  const { draft } = useDraft();
  const listed = useQuery({ ...collectionsQuery(), enabled: isAsked });
  const names = useQuery({ ...fieldNamesQuery(), enabled: isAsked && needle !== '' });
  const guides = useQuery({ ...headingsQuery, enabled: isAsked });
  const collections = useMemo(() => withDraft(draft, listed.data ?? []), [draft, listed.data]);
  const { data: fields } = names;
  const { data: headings } = guides;
  const found = useMemo(() => {
    const pages = [...PAGES, ...ACTIONS].filter(({ roles }) => roles.includes(role));
    const parts = PARTS.filter(({ roles }) => roles.includes(role));
    const own = {
      fields: fields ?? [],
      headings: headings ?? [],
      mayEdit: may(role, 'propose'),
      mayReadHistory: may(role, 'readHistory'),
      here,
    };
    return findFor(needle, { pages, parts, collections, ...own });
  }, [needle, role, here, collections, fields, headings]);
  const awaited = awaitedFor(found[0]).map((of) => ({ listed, names, guides })[of]);
  return {
    found,
    isReading: names.isFetching,
    isFinal: needle === typed && awaited.every(({ isPending }) => !isPending),
  };
}

/** Fields, guides and the timeline rank last, so they are awaited only without other results. */
function awaitedFor(first: SearchHit | undefined): readonly ('listed' | 'names' | 'guides')[] {
  if (first === undefined || first.kind === 'history') return ['listed', 'names', 'guides'];
  return first.kind === 'guide' ? ['listed', 'names'] : ['listed'];
}
