import { queryOptions, useQueries, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { SCHEMA, fieldsQuery, relationsQuery } from '../../../service/queries.js';
import { request } from '../../../service/request.js';
import type { ListedCollection } from '../../../service/types.js';
import {
  type DrawnMarks,
  type Graph,
  MOST_TABLES,
  type ShownField,
  type ShownRelation,
  graphOf,
  findNeighbours,
} from './graph.js';
import type { SchemaSearch } from '../search.js';
import { findNode, namesBelow, treeOf } from '../tree-model.js';

const allFieldsQuery = () =>
  queryOptions({
    queryKey: [SCHEMA, 'all fields'],
    staleTime: Infinity,
    queryFn: async ({ signal }) =>
      (await request('listFields', { query: { fields: ['collection', 'field', 'type', 'schema'] }, signal }))
        .data as ShownField[],
  });

const NONE: readonly ShownField[] = [];

export type GraphState =
  | { status: 'waiting' }
  | { status: 'failed'; error: Error; retry: () => void }
  /** There are too many tables. `hasChosen` is true if a smaller neighbourhood would fit. */
  | { status: 'too many'; tables: number; hasChosen: boolean }
  | { status: 'there'; graph: Graph };

/**
 * Returns the graph. Fields are requested only if they are shown. If a refetch fails, the data stays.
 * @param marks undefined to mark nothing
 */
export function useGraph(
  collections: readonly ListedCollection[],
  search: SchemaSearch,
  marks?: DrawnMarks,
): GraphState {
  const { c: chosen, near, folder, hidden = false, depth = 'keys' } = search;
  const relations = useQuery(relationsQuery());
  const shown = useMemo(
    () => tablesFor(collections, { chosen, near, folder, hidden, relations: relations.data ?? [] }),
    [collections, hidden, near, folder, chosen, relations.data],
  );
  const isTooMuch = shown.length > MOST_TABLES;
  const fields = useFields(shown, {
    isAsked: depth !== 'names' && !isTooMuch,
    isSmall: collections.length <= MOST_TABLES,
  });
  const { data: links } = relations;
  const graph = useMemo(
    () =>
      fields.fields && links && !isTooMuch
        ? graphOf(shown, { fields: fields.fields, relations: links, depth, ...(marks && { marks }) })
        : null,
    [shown, fields.fields, links, isTooMuch, depth, marks],
  );

  if (graph !== null) return { status: 'there', graph };
  const error = relations.error ?? fields.error;
  if (error !== null) {
    return { status: 'failed', error, retry: () => void Promise.all([relations.refetch(), fields.refetch()]) };
  }
  if (!isTooMuch || links === undefined) return { status: 'waiting' };
  return { status: 'too many', tables: shown.length, hasChosen: chosen !== undefined };
}

export interface GraphSelection {
  chosen: string | undefined;
  near: number | undefined;
  folder?: string | undefined;
  hidden: boolean;
  relations: readonly ShownRelation[];
}

/** Includes hidden collections around the selected one. A folder that does not exist is ignored. */
export function tablesFor(
  collections: readonly ListedCollection[],
  { chosen, near, folder, hidden, relations }: GraphSelection,
): ListedCollection[] {
  const tables = collections.filter(({ schema }) => schema !== null);
  if (near === undefined || chosen === undefined) {
    const node = folder === undefined ? undefined : findNode(treeOf(collections), folder);
    const inside = node && new Set(namesBelow(node));
    return tables.filter(
      ({ collection, meta }) =>
        (hidden || !meta.hidden || collection === chosen) && (inside === undefined || inside.has(collection)),
    );
  }
  const close = findNeighbours(chosen, near, relations);
  return tables.filter(({ collection }) => close.has(collection));
}

/** Reads the fields: all at once for a small schema, and otherwise those of shown collections. */
function useFields(shown: readonly ListedCollection[], { isAsked, isSmall }: { isAsked: boolean; isSmall: boolean }) {
  const all = useQuery({ ...allFieldsQuery(), enabled: isAsked && isSmall });
  const each = useQueries({
    queries: isAsked && !isSmall ? shown.map(({ collection }) => fieldsQuery(collection)) : [],
    combine: (results) => ({
      error: results.find(({ error }) => error !== null)?.error ?? null,
      data: results.every(({ data }) => data !== undefined) ? results.flatMap(({ data }) => data ?? []) : undefined,
    }),
  });
  const fields: readonly ShownField[] | undefined = isSmall ? all.data : each.data;
  return { fields: isAsked ? fields : NONE, error: all.error ?? each.error, refetch: all.refetch };
}
