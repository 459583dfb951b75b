/** The schema: the tree of collections, and beside it the diagram. */
import { SegmentedControl } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import { collectionsQuery } from '../../service/queries.js';
import { useRole } from '../../service/use-session.js';
import type { ListedCollection } from '../../service/types.js';
import { useTitle } from '../../shared/page-title.js';
import { ProblemAlert } from '../../shared/problem-alert.js';
import { Waiting } from '../../shared/waiting.js';
import type { Marks } from './film/marks.js';
import type { Film } from './film/use-film.js';
import { Greeting } from './greeting.js';
import type { SchemaSearch } from './search.js';
import { TreePanel } from './tree-panel.js';
import classes from './page.module.css';

const Diagram = lazy(() => import('./diagram/diagram.js'));
const Past = lazy(() => import('./film/past.js'));
const route = getRouteApi('/');

export function SchemaPage() {
  const { data: collections, error, refetch } = useQuery(collectionsQuery());
  const { c, at } = route.useSearch();
  const isPast = at !== undefined;
  useTitle(c === undefined ? 'Schema' : `${c} · Schema`);
  if (isPast && (collections !== undefined || error !== null)) {
    return (
      <Suspense fallback={<Waiting label="Reading the history" />}>
        <Past at={at} tables={collections?.length ?? Infinity} />
      </Suspense>
    );
  }
  if (collections !== undefined) return collections.length === 0 ? <Greeting /> : <Whole collections={collections} />;
  if (error === null) return <Waiting label="Reading the schema" />;
  return (
    <div className={classes.message}>
      <ProblemAlert error={error} retry={() => void refetch()} />
    </div>
  );
}

interface WholeProps {
  collections: readonly ListedCollection[];
  /** Of a moment of the past. */
  past?: { film: Film; marks: Marks; bar: ReactNode };
}

export function Whole({ collections, past }: WholeProps) {
  const mayGoBack = useRole() !== 'reader';

  const search = route.useSearch();
  const navigate = route.useNavigate();
  const isNarrow = useMediaQuery('(max-width: 48em)');
  const [part, setPart] = useState<string>(search.c === undefined ? 'tree' : 'diagram');
  // What is chosen is a step that one goes back from; how it is looked at isn't.
  const change = (changed: Partial<SchemaSearch>) =>
    void navigate({ search: (before: SchemaSearch) => ({ ...before, ...changed }), replace: !('c' in changed) });
  const choose = (c: string) => {
    change({ c });
    setPart('diagram');
  };
  const shows = (which: string): boolean => !isNarrow || part === which;
  return (
    <div className={classes.page} data-past={past !== undefined || undefined}>
      <h1 className={classes.title}>Schema</h1>
      {isNarrow && (
        <SegmentedControl
          className={classes.parts}
          role="radiogroup"
          aria-label="Part of the page"
          data={PARTS}
          value={part}
          onChange={setPart}
        />
      )}
      {shows('tree') && (
        <TreePanel collections={collections} search={search} onChange={change} onChoose={choose} marks={past?.marks} />
      )}
      {shows('diagram') && (
        <Suspense fallback={<Waiting label="Reading the schema" />}>
          <Diagram
            collections={collections}
            search={search}
            onChange={change}
            film={past?.film}
            mayGoBack={mayGoBack}
          />
        </Suspense>
      )}
      {past?.bar}
    </div>
  );
}

const PARTS = [
  { value: 'tree', label: 'Collections' },
  { value: 'diagram', label: 'Diagram' },
];
