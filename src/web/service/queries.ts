import { queryOptions } from '@tanstack/react-query';
import type { Collection } from '../../schema/model/model.js';
import type { ObjectName } from '../../schema/model/objects.js';
import { request } from './request.js';
import type { CollectionDocument, FieldDocument, ListedCollection } from './types.js';

/** The schema is refetched only after new events: see app/follow-log.ts. */
const UNTIL_TOLD = { staleTime: Infinity } as const;

/** The key prefix of queries that a schema change invalidates. */
export const SCHEMA = 'schema';

/** The key prefix of queries about one change request. */
export const CHANGE = 'change';

/** Release, head of the log and database version. Refreshed by app/follow-log.ts. */
export const infoQuery = () =>
  queryOptions({ queryKey: ['info'], queryFn: async ({ signal }) => (await request('getInfo', { signal })).data });

/** All user collections without system collections and SQL. */
export const collectionsQuery = () =>
  queryOptions({
    ...UNTIL_TOLD,
    queryKey: [SCHEMA, 'collections'],
    queryFn: async ({ signal }) => {
      const fields = ['collection', 'meta', 'schema'] as const;
      const { data } = await request('listCollections', { query: { fields: [...fields] }, signal });
      return (data as ListedCollection[]).filter(({ meta }) => meta.system !== true);
    },
  });

/**
 * A collection with its SQL. Also works for system collections.
 * @throws ServiceError 404 for an unknown name
 */
export const collectionQuery = (name: string) =>
  queryOptions({
    ...UNTIL_TOLD,
    queryKey: [SCHEMA, 'collection', name],
    queryFn: async ({ signal }) =>
      (await request('getCollection', { params: { id: name }, signal })).data as CollectionDocument,
  });

/**
 * The fields of a collection.
 * @param collection the name of the collection at the head
 * @throws ServiceError for an unknown name
 */
export const fieldsQuery = (collection: string) =>
  queryOptions({
    ...UNTIL_TOLD,
    queryKey: [SCHEMA, 'fields', collection],
    queryFn: async ({ signal }) =>
      (await request('listFieldsOfCollection', { params: { collection }, signal })).data as FieldDocument[],
  });

/** Names and types of all fields, for the search. */
export const fieldNamesQuery = () =>
  queryOptions({
    ...UNTIL_TOLD,
    queryKey: [SCHEMA, 'field names'],
    queryFn: async ({ signal }) =>
      (await request('listFields', { query: { fields: ['collection', 'field', 'type'] }, signal })).data,
  });

/** All relations of the schema; pages filter them. */
export const relationsQuery = () =>
  queryOptions({
    ...UNTIL_TOLD,
    queryKey: [SCHEMA, 'relations'],
    queryFn: async ({ signal }) => {
      const fields = ['collection', 'field', 'related_collection', 'meta', 'schema'] as const;
      return (await request('listRelations', { query: { fields: [...fields] }, signal })).data;
    },
  });

/**
 * Database facts of a table, for admins and auditors. Row counts change without events, so it is always refetched.
 */
export const databaseTableQuery = (collection: string) =>
  queryOptions({
    queryKey: [SCHEMA, 'table', collection],
    retry: false,
    queryFn: async ({ signal }) => (await request('getTable', { params: { id: collection }, signal })).data,
  });

/** Some rows of a table, for admins and auditors. */
export const sampleQuery = (collection: string) =>
  queryOptions({
    queryKey: [SCHEMA, 'sample', collection],
    retry: false,
    queryFn: async ({ signal }) => (await request('getSample', { params: { id: collection }, signal })).data,
  });

/** Extras of a table, which lists do not contain. For users who may read snapshots. */
export const extrasQuery = (collection: string) =>
  queryOptions({
    ...UNTIL_TOLD,
    queryKey: [SCHEMA, 'extras', collection],
    queryFn: async ({ signal }) => {
      const query = { includeCollections: [collection] };
      const { collections } = (await request('getSnapshot', { query, signal })) as { collections: Collection[] };
      return collections[0]?.schema?.extras ?? {};
    },
  });

/** Maximum number of names in the address of a request. */
const MOST_NAMES = 200;

/** Extras of several tables by their names, like `extrasQuery`. */
export const extrasOfQuery = (collections: readonly string[]) =>
  queryOptions({
    ...UNTIL_TOLD,
    queryKey: [SCHEMA, 'extras', collections],
    queryFn: async ({ signal }) => {
      const query = collections.length > MOST_NAMES ? {} : { includeCollections: [...collections] };
      const snapshot = (await request('getSnapshot', { query, signal })) as { collections: Collection[] };
      return new Map(snapshot.collections.map(({ collection, schema }) => [collection, schema?.extras ?? {}]));
    },
  });

/* Views, functions and other objects. */

export const objectsQuery = () =>
  queryOptions({
    ...UNTIL_TOLD,
    queryKey: [SCHEMA, 'objects'],
    queryFn: async ({ signal }) => (await request('listObjects', { signal })).data,
  });

/** The objects in PostgreSQL that depend on an object, for admins and auditors. */
export const dependentsQuery = ({ kind, id }: ObjectName) =>
  queryOptions({
    queryKey: [SCHEMA, 'dependents', kind, id],
    queryFn: async ({ signal }) => (await request('listDependents', { params: { kind, id }, signal })).data,
  });

/** The objects that use a collection, by its name at the head. */
export const usersQuery = (collection: string) =>
  queryOptions({
    ...UNTIL_TOLD,
    queryKey: [SCHEMA, 'objects', collection],
    queryFn: async ({ signal }) => (await request('listObjects', { query: { collection }, signal })).data,
  });
