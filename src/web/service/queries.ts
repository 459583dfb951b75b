/** What pages ask for, under one name each, so that pages that ask for the same share the answer. */
import { queryOptions } from '@tanstack/react-query';
import { request } from './request.js';
import type {
  CollectionDocument,
  DatabaseTable,
  FieldDocument,
  Info,
  ListedCollection,
  RelationDocument,
} from './types.js';

/** The schema is asked for again only when the log has moved: see app/follow-log.ts. */
const UNTIL_TOLD = { staleTime: Infinity } as const;

/** Everything that a change of the schema makes old begins with this. */
export const SCHEMA = 'schema';

/** What is asked of one change request begins with this. */
export const CHANGE = 'change';

const data = async <T>(path: string, signal: AbortSignal): Promise<T> =>
  (await request<{ data: T }>(path, { signal })).data;

/** Release, head of the log and version of the database. Kept fresh by the frame, see app/follow-log.ts. */
export const infoQuery = () =>
  queryOptions({ queryKey: ['info'], queryFn: ({ signal }) => data<Info>('/server/info', signal) });

/** All collections of the user's, without those of the service and without their SQL. */
export const collectionsQuery = () =>
  queryOptions({
    ...UNTIL_TOLD,
    queryKey: [SCHEMA, 'collections'],
    queryFn: async ({ signal }) => {
      const found = await data<ListedCollection[]>('/collections?fields=collection,meta,schema', signal);
      return found.filter(({ meta }) => meta.system !== true);
    },
  });

/** With its SQL; one of the service's own too. @throws RefusedError 404 where there is none of the name */
export const collectionQuery = (name: string) =>
  queryOptions({
    ...UNTIL_TOLD,
    queryKey: [SCHEMA, 'collection', name],
    queryFn: ({ signal }) => data<CollectionDocument>(`/collections/${encodeURIComponent(name)}`, signal),
  });

/** @param collection by its name at the head. @throws RefusedError where there is none of the name */
export const fieldsQuery = (collection: string) =>
  queryOptions({
    ...UNTIL_TOLD,
    queryKey: [SCHEMA, 'fields', collection],
    queryFn: ({ signal }) => data<FieldDocument[]>(`/fields/${encodeURIComponent(collection)}`, signal),
  });

/** Names and types of all fields: for the search. */
export const fieldNamesQuery = () =>
  queryOptions({
    ...UNTIL_TOLD,
    queryKey: [SCHEMA, 'field names'],
    queryFn: ({ signal }) =>
      data<Pick<FieldDocument, 'collection' | 'field' | 'type'>[]>('/fields?fields=collection,field,type', signal),
  });

/** Of the whole schema: pages filter them. */
export const relationsQuery = () =>
  queryOptions({
    ...UNTIL_TOLD,
    queryKey: [SCHEMA, 'relations'],
    queryFn: ({ signal }) =>
      data<Pick<RelationDocument, 'collection' | 'field' | 'related_collection' | 'meta' | 'schema'>[]>(
        '/relations?fields=collection,field,related_collection,meta,schema',
        signal,
      ),
  });

/** What PostgreSQL knows of a table: for admins and auditors. Rows come and go without the log: asked for again each time. */
export const databaseTableQuery = (collection: string) =>
  queryOptions({
    queryKey: [SCHEMA, 'table', collection],
    retry: false,
    queryFn: ({ signal }) => data<DatabaseTable>(`/collections/${encodeURIComponent(collection)}/table`, signal),
  });
