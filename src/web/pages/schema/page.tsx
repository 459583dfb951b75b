import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useMemo } from 'react';
import { useDraftedCollections, editSchema } from '../../draft/store.js';
import { collectionsQuery } from '../../service/queries.js';
import type { ListedCollection } from '../../service/types.js';
import { useTitle } from '../../shared/page.js';
import { ProblemAlert, Waiting } from '../../shared/problem-alert.js';
import { Greeting } from './welcome.js';
import classes from './page.module.css';
import type { Collection } from '../../../schema/model/model.js';
import type { Drafted } from '../../draft/marked-documents.js';
import { listedOf } from '../../draft/collection-list.js';
import { useMay } from '../../service/session.js';
import { SchemaPanels } from './schema-view.js';
import type { DraftEditor } from '../../draft/editor.js';
import type { Mark } from './graph/graph.js';
import { treeOf } from './tree-model.js';

/* The current schema, with the draft in the tree. The diagram shows it without the draft. */

/** A rename is a change. */
const draftMarks = (drafted: readonly Drafted<Collection>[]): ReadonlyMap<string, Mark> =>
  new Map(
    drafted.flatMap(({ document, how }) =>
      how === undefined ? [] : [[document.collection, how === 'renamed' ? 'changed' : how]],
    ),
  );

/** Moves a collection among its siblings. Changes as few numbers as possible. */
const moving =
  (collections: readonly ListedCollection[], { collection: name }: ListedCollection, to: number) =>
  (editor: DraftEditor): void => {
    const order = siblingsOf(collections, name);
    if (to < 0 || to >= order.length) return;
    order.splice(order.indexOf(name), 1);
    order.splice(to, 0, name);
    for (const [index, each] of order.entries()) {
      const now = editor.collection(each);
      if (now !== undefined && now.meta.sort !== index + 1)
        editor.put('collections', { ...now, meta: { ...now.meta, sort: index + 1 } });
    }
  };

function siblingsOf(collections: readonly ListedCollection[], name: string): string[] {
  const levels = [treeOf(collections)];
  for (const level of levels) {
    const names = level.map(({ collection }) => collection.collection);
    if (names.includes(name)) return names;
    for (const { children } of level) if (children.length > 0) levels.push(children);
  }
  return [];
}

interface Props {
  collections: readonly ListedCollection[];
  drafted: readonly Drafted<Collection>[];
}

/**
 * Drafted objects open as a page. Moving is for users who may propose.
 * @param props.collections those of the diagram
 * @param props.drafted those of the tree
 */
function Present({ collections, drafted }: Props) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const mayEdit = useMay('propose');
  const marks = useMemo(() => draftMarks(drafted), [drafted]);
  const listed = useMemo(() => drafted.map(({ document }) => listedOf(document)), [drafted]);
  const there = useMemo(() => new Set(collections.map(({ collection }) => collection)), [collections]);
  const tree = {
    collections: listed,
    marks: { collections: marks },
    onMove: mayEdit
      ? ({ node, place }: { node: { collection: ListedCollection }; place: number }, by: number) =>
          void editSchema(client, [], moving(listed, node.collection, place - 1 + by))
      : undefined,
  };
  /** Objects outside the diagram have their page. */
  const elsewhere = (name: string) => {
    if (there.has(name)) return false;
    void navigate({ to: '/collections/$name', params: { name } });
    return true;
  };
  return <SchemaPanels collections={collections} tree={tree} elsewhere={elsewhere} />;
}

const Past = lazy(() => import('./past-schema.js'));
const route = getRouteApi('/');

/** Shows a welcome without collections and drafts. The past is available even if the current schema cannot be read. */
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
