import { type QueryClient, type UseQueryResult, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Collection, Field, NewRelation } from '../../schema/model/model.js';
import { collectionsQuery, fieldsQuery, infoQuery, relationsQuery } from '../service/queries.js';
import { collectionOf, fieldOf, relationOf } from './documents.js';
import { type Drafted, drafted } from './drafted.js';
import type { Source } from './editor.js';
import { DraftEditor } from './editor.js';
import { type Draft, collectionOfKey } from './model.js';
import { currentDraft, editDraft } from './store.js';
import { useDraft } from './use-draft.js';

export interface Answer<T> {
  data: T | undefined;
  error: Error | null;
  refetch: UseQueryResult<unknown>['refetch'];
}

/** Data is undefined until it was read. A failed refetch keeps it without an error. */
export function useDraftedCollections(): Answer<Drafted<Collection>[]> {
  const { draft } = useDraft();
  const { data, error, refetch } = useQuery(collectionsQuery());
  const all = useMemo(() => data && drafted(draft, 'collections', data.map(collectionOf)), [draft, data]);
  return { data: all, error: data === undefined ? error : null, refetch };
}

/** Like `useDraftedCollections`, for all relations of the schema. */
export function useDraftedRelations(): Answer<Drafted<NewRelation>[]> {
  const { draft } = useDraft();
  const { data, error, refetch } = useQuery(relationsQuery());
  const all = useMemo(() => data && drafted(draft, 'relations', data.map(relationOf)), [draft, data]);
  return { data: all, error: data === undefined ? error : null, refetch };
}

export function useDraftedFields(collection: string | null): Answer<Drafted<Field>[]> {
  const { draft } = useDraft();
  const name = collection === null ? null : headName(draft, collection);
  const { data, error, refetch } = useQuery({ ...fieldsQuery(name ?? ''), enabled: name !== null });
  const all = useMemo(() => {
    const head = name === null ? [] : data?.map(fieldOf);
    return head && collection !== null ? drafted(draft, 'fields', head, collection) : undefined;
  }, [draft, data, name, collection]);
  return { data: all, error: all === undefined ? error : null, refetch };
}

/** The collection's name at the head; null if the draft creates it. */
export function headName(draft: Draft, collection: string): string | null {
  const edit = draft.collections.get(collection);
  if (edit !== undefined && (edit.before === null || edit.recreated === true)) return null;
  return draft.names.collections.get(collection) ?? collection;
}

/** The head for an edit of these collections, and of aliases that show their relations elsewhere. */
export async function readSource(client: QueryClient, names: readonly string[]): Promise<Source> {
  const { draft } = currentDraft();
  const [collections, relations] = await Promise.all([
    client.ensureQueryData(collectionsQuery()),
    client.ensureQueryData(relationsQuery()),
  ]);
  const flat = relations.map(relationOf);
  const own = new Set(names.map((name) => headName(draft, name)));
  const shown = flat.flatMap(({ many_collection, one_collection, one_field }) =>
    own.has(many_collection) && one_field !== null ? [one_collection] : [],
  );
  const drafts = [...draft.fields.keys()].map((key) => headName(draft, collectionOfKey(key)));
  const there = new Set(collections.map(({ collection }) => collection));
  const wanted = [...new Set([...own, ...shown, ...drafts])].filter((name) => name !== null && there.has(name));
  const fields = await Promise.all(wanted.map((name) => client.ensureQueryData(fieldsQuery(name as string))));
  return { collections: collections.map(collectionOf), relations: flat, fields: fields.flat().map(fieldOf) };
}

/** Applies an edit to the draft as it is then. */
export async function editSchema(
  client: QueryClient,
  names: readonly string[],
  edit: (editor: DraftEditor) => void,
): Promise<void> {
  const source = await readSource(client, names);
  const info = await client.ensureQueryData(infoQuery());
  editDraft((draft) => {
    const editor = new DraftEditor(draft, source);
    edit(editor);
    return editor.draft;
  }, info.position);
}
