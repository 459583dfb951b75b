import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { useDraftedCollections } from '../../draft/use-drafted.js';
import { collectionsQuery } from '../../service/queries.js';
import type { ListedCollection } from '../../service/types.js';
import { useTitle } from '../../shared/page-title.js';
import { ProblemAlert } from '../../shared/problem-alert.js';
import { Waiting } from '../../shared/waiting.js';
import { Greeting } from './greeting.js';
import { Present } from './current-schema.js';
import classes from './page.module.css';

const Past = lazy(() => import('./past-schema.js'));
const route = getRouteApi('/');

/** Shows a welcome without collections and drafts. The past is available even if the present cannot be read. */
export function SchemaPage() {
  const { data: collections, error, refetch } = useQuery(collectionsQuery());
  const { c, at } = route.useSearch();
  const isPast = at !== undefined;
  useTitle(c === undefined ? 'Schema' : `${c} · Schema`);
  if (isPast && (collections !== undefined || error !== null)) {
    return (
      <Suspense fallback={<Waiting label="Loading the history" />}>
        <Past at={at} tables={collections?.length ?? Infinity} />
      </Suspense>
    );
  }
  if (collections !== undefined) return <Now collections={collections} />;
  if (error === null) return <Waiting label="Loading the schema" />;
  return (
    <div className={classes.message}>
      <ProblemAlert error={error} retry={() => void refetch()} />
    </div>
  );
}

function Now({ collections }: { collections: readonly ListedCollection[] }) {
  const { data: drafted = [] } = useDraftedCollections();
  return drafted.length === 0 ? <Greeting /> : <Present collections={collections} drafted={drafted} />;
}
