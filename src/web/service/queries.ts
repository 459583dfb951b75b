import { queryOptions } from '@tanstack/react-query';
import { request } from './request.js';
import type {
  CollectionDocument,
  DatabaseTable,
  FieldDocument,
  Info,
  ListedCollection,
  RelationDocument,
  Sample,
} from './types.js';

/** The schema is refetched only after new events: see app/follow-log.ts. */
const UNTIL_TOLD = { staleTime: Infinity } as const;

/** The key prefix of queries that a schema change invalidates. */
export const SCHEMA = 'schema';

/** The key prefix of queries about one change request. */
export const CHANGE = 'change';

const fetchData = async <T>(path: string, signal: AbortSignal): Promise<T> =>
  (await request<{ data: T }>(path, { signal })).data;

/** Release, head of the log and database version. Refreshed by app/follow-log.ts. */
export const infoQuery = () =>
  queryOptions({ queryKey: ['info'], queryFn: ({ signal }) => fetchData<Info>('/server/info', signal) });

/** All user collections without system collections and SQL. */
export const collectionsQuery = () =>
  queryOptions({
    ...UNTIL_TOLD,
    queryKey: [SCHEMA, 'collections'],
    queryFn: async ({ signal }) => {
      const listed = await fetchData<ListedCollection[]>('/collections?fields=collection,meta,schema', signal);
      return listed.filter(({ meta }) => meta.system !== true);
    },
  });

/**
 * A collection with its SQL. Also works for system collections.
 * @throws RefusedError 404 for an unknown name
 */
export const collectionQuery = (name: string) =>
  queryOptions({
    ...UNTIL_TOLD,
    queryKey: [SCHEMA, 'collection', name],
    queryFn: ({ signal }) => fetchData<CollectionDocument>(`/collections/${encodeURIComponent(name)}`, signal),
  });

/**
 * The fields of a collection.
 * @param collection the name of the collection at the head
 * @throws RefusedError for an unknown name
 */
export const fieldsQuery = (collection: string) =>
  queryOptions({
    ...UNTIL_TOLD,
    queryKey: [SCHEMA, 'fields', collection],
    queryFn: ({ signal }) => fetchData<FieldDocument[]>(`/fields/${encodeURIComponent(collection)}`, signal),
  });

/** Names and types of all fields, for the search. */
export const fieldNamesQuery = () =>
  queryOptions({
    ...UNTIL_TOLD,
    queryKey: [SCHEMA, 'field names'],
    queryFn: ({ signal }) =>
      fetchData<Pick<FieldDocument, 'collection' | 'field' | 'type'>[]>('/fields?fields=collection,field,type', signal),
  });

/** All relations of the schema; pages filter them. */
export const relationsQuery = () =>
  queryOptions({
    ...UNTIL_TOLD,
    queryKey: [SCHEMA, 'relations'],
    queryFn: ({ signal }) =>
      fetchData<Pick<RelationDocument, 'collection' | 'field' | 'related_collection' | 'meta' | 'schema'>[]>(
        '/relations?fields=collection,field,related_collection,meta,schema',
        signal,
      ),
  });

/**
 * Database facts of a table, for admins and auditors. Row counts change without events, so it is always refetched.
 */
export const databaseTableQuery = (collection: string) =>
  queryOptions({
    queryKey: [SCHEMA, 'table', collection],
    retry: false,
    queryFn: ({ signal }) => fetchData<DatabaseTable>(`/collections/${encodeURIComponent(collection)}/table`, signal),
  });

/** Some rows of a table, for admins and auditors. */
export const sampleQuery = (collection: string) =>
  queryOptions({
    queryKey: [SCHEMA, 'sample', collection],
    retry: false,
    queryFn: ({ signal }) => fetchData<Sample>(`/collections/${encodeURIComponent(collection)}/sample`, signal),
  });
