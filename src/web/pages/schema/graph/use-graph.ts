import { queryOptions, useQueries, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Field, NewRelation } from '../../../../schema/model/model.js';
import { type Mark as DraftMark, withDraftMarks } from '../../../draft/marked-documents.js';
import { type Draft, changesIn, isEmpty, relationOf } from '../../../draft/model.js';
import { headName, useDraft } from '../../../draft/store.js';
import { SCHEMA, fieldsQuery, relationsQuery } from '../../../service/queries.js';
import { request } from '../../../service/request.js';
import type { ListedCollection, RelationDocument } from '../../../service/types.js';
import {
  type ChangeKind,
  type DrawnMarks,
  type Graph,
  type Mark,
  MOST_TABLES,
  type ShownField,
  type ShownRelation,
  fieldKey,
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
 * Returns the graph with the draft applied. Fields are requested only if they are shown. If a refetch fails, the data
 * stays.
 * @param collections the collections with the draft applied, including removed ones
 * @param standing marks that replace those of the draft
 */
export function useGraph(
  collections: readonly ListedCollection[],
  search: SchemaSearch,
  standing?: DrawnMarks,
): GraphState {
  const { c: chosen, near, folder, hidden = false, depth = 'keys' } = search;
  const { draft } = useDraft();
  const relations = useQuery(relationsQuery());
  const drafted = useMemo(() => relations.data && draftedRelations(draft, relations.data), [draft, relations.data]);
  const links = drafted?.relations;
  const shown = useMemo(
    () => tablesFor(collections, { chosen, near, folder, hidden, relations: links ?? [] }),
    [collections, hidden, near, folder, chosen, links],
  );
  const isTooMuch = shown.length > MOST_TABLES;
  const fields = useFields(shown, draft, {
    isAsked: depth !== 'names' && !isTooMuch,
    isSmall: collections.length <= MOST_TABLES,
  });
  const marks = useMemo(() => marksOver(draft, drafted?.marks, standing), [draft, drafted, standing]);
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

/** Reads the fields: all at once for a small schema, and otherwise those of shown collections. Applies the draft. */
function useFields(
  shown: readonly ListedCollection[],
  draft: Draft,
  { isAsked, isSmall }: { isAsked: boolean; isSmall: boolean },
) {
  const all = useQuery({ ...allFieldsQuery(), enabled: isAsked && isSmall });
  const names = isAsked && !isSmall ? shown.flatMap(({ collection }) => headName(draft, collection) ?? []) : [];
  const each = useQueries({
    queries: names.map((name) => fieldsQuery(name)),
    combine: (results) => ({
      error: results.find(({ error }) => error !== null)?.error ?? null,
      data: results.every(({ data }) => data !== undefined) ? results.flatMap(({ data }) => data ?? []) : undefined,
    }),
  });
  const read: readonly ShownField[] | undefined = isSmall ? all.data : each.data;
  const fields = useMemo(() => read && draftedFields(draft, read), [draft, read]);
  return { fields: isAsked ? fields : NONE, error: all.error ?? each.error, refetch: all.refetch };
}

/* Applies the draft. */

/** A rename is shown as a change. */
const kindOf = (mark: DraftMark | 'restored'): ChangeKind =>
  mark === 'renamed' ? 'changed' : mark === 'restored' ? 'made' : mark;

interface DraftedRelations {
  relations: readonly ShownRelation[];
  marks: ReadonlyMap<string, Mark>;
}

/** Returns the relations of the draft, including removed ones. */
function draftedRelations(draft: Draft, head: readonly RelationDocument[]): DraftedRelations {
  if (isEmpty(draft)) return { relations: head, marks: new Map() };
  const all = withDraftMarks(draft, 'relations', head.map(relationOf));
  const marks = new Map<string, Mark>();
  const relations = all.map(({ document, mark }) => {
    const shown = shownRelation(document);
    if (mark !== undefined) marks.set(fieldKey(shown), kindOf(mark));
    return shown;
  });
  return { relations, marks };
}

const shownRelation = (relation: NewRelation): ShownRelation => ({
  collection: relation.many_collection,
  field: relation.many_field,
  related_collection: relation.one_collection,
  meta: relation as unknown as ShownRelation['meta'],
  schema: relation.schema as ShownRelation['schema'],
});

/** Returns the fields of the draft, including removed ones. */
function draftedFields(draft: Draft, head: readonly ShownField[]): readonly ShownField[] {
  if (isEmpty(draft)) return head;
  // The fields of a replaced collection belong to no shown table.
  const there = head.filter(({ collection }) => draft.collections.get(collection)?.recreated !== true);
  // A list without metadata lacks the member that a renaming reads.
  const documents = there.map(
    (field) => ({ ...field, meta: (field.meta as Field['meta'] | undefined) ?? {} }) as unknown as Field,
  );
  return withDraftMarks(draft, 'fields', documents).map(({ document }) => document as unknown as ShownField);
}

/** Returns the marks of collections and fields. A collection with changed fields is marked as changed. */
export function draftMarks(draft: Draft): Pick<DrawnMarks, 'collections' | 'fields'> {
  const collections = new Map<string, Mark>();
  const fields = new Map<string, Mark>();
  for (const { part, collection, field, mark } of changesIn(draft)) {
    const whole = collections.get(collection);
    if (part === 'collections') collections.set(collection, kindOf(mark));
    else if (part === 'fields' && field !== null && whole !== 'made' && whole !== 'removed') {
      fields.set(fieldKey({ collection, field }), kindOf(mark));
      collections.set(collection, 'changed');
    }
  }
  return { collections, fields };
}

/** Returns the marks of the draft with `standing` over them. Undefined if there are none. */
function marksOver(
  draft: Draft,
  relations: DraftedRelations['marks'] = new Map(),
  standing: DrawnMarks | undefined,
): DrawnMarks | undefined {
  if (isEmpty(draft)) return standing;
  const { collections, fields } = draftMarks(draft);
  return {
    collections: new Map([...collections, ...(standing?.collections ?? [])]),
    fields: new Map([...fields, ...(standing?.fields ?? [])]),
    relations,
  };
}
