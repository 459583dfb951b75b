/** The schema: the tree of collections, and beside it the diagram. */
import { SegmentedControl } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { collectionsQuery } from '../../service/queries.js';
import type { ListedCollection } from '../../service/types.js';
import { useTitle } from '../../shared/page-title.js';
import { ProblemAlert } from '../../shared/problem-alert.js';
import { Waiting } from '../../shared/waiting.js';
import { Greeting } from './greeting.js';
import type { SchemaSearch } from './search.js';
import { TreePanel } from './tree-panel.js';
import classes from './page.module.css';

const Diagram = lazy(() => import('./diagram/diagram.js'));
const route = getRouteApi('/');

export function SchemaPage() {
  const { data: collections, error, refetch } = useQuery(collectionsQuery());
  const { c } = route.useSearch();
  useTitle(c === undefined ? 'Schema' : `${c} · Schema`);
  if (collections !== undefined) return collections.length === 0 ? <Greeting /> : <Whole collections={collections} />;
  if (error === null) return <Waiting label="Reading the schema" />;
  return (
    <div className={classes.message}>
      <ProblemAlert error={error} retry={() => void refetch()} />
    </div>
  );
}

function Whole({ collections }: { collections: readonly ListedCollection[] }) {
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
  return (
    <div className={classes.page}>
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
      {(!isNarrow || part === 'tree') && (
        <TreePanel collections={collections} search={search} onChange={change} onChoose={choose} />
      )}
      {(!isNarrow || part === 'diagram') && (
        <Suspense fallback={<Waiting label="Reading the schema" />}>
          <Diagram collections={collections} search={search} onChange={change} />
        </Suspense>
      )}
    </div>
  );
}

const PARTS = [
  { value: 'tree', label: 'Collections' },
  { value: 'diagram', label: 'Diagram' },
];
