import { queryOptions } from '@tanstack/react-query';
import type { Collection } from '../../schema/model/model.js';
import type { SchemaObject } from '../../schema/model/objects.js';
import { request, reasonHeader } from './request.js';
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

/* Views, functions and other objects. Changes are for admins. */

export type ObjectName = Pick<SchemaObject, 'kind' | 'id'>;

export const objectsQuery = () =>
  queryOptions({
    queryKey: [SCHEMA, 'objects'],
    staleTime: Infinity,
    queryFn: async ({ signal }) => (await request('listObjects', { signal })).data,
  });

/** The objects in PostgreSQL that depend on an object, for admins and auditors. */
export const dependentsQuery = ({ kind, id }: ObjectName) =>
  queryOptions({
    queryKey: [SCHEMA, 'dependents', kind, id],
    queryFn: async ({ signal }) => (await request('listDependents', { params: { kind, id }, signal })).data,
  });

export interface ObjectInput {
  definition: string;
  /** The comment. Empty for none. */
  comment: string;
}

interface SavedObject {
  /** The object to change. Null to create one. */
  object: ObjectName | null;
  kind: SchemaObject['kind'];
  input: ObjectInput;
  reason: string;
}

/** @throws ServiceError at `definition` or `comment` */
export async function saveObject({ object, kind, input, reason }: SavedObject): Promise<ObjectName> {
  const { definition, comment } = input;
  const body = { definition, comment: comment === '' ? null : comment };
  const headers = reasonHeader(reason);
  const saved = await (object === null
    ? request('createObject', { body: { kind, ...body }, headers })
    : request('updateObject', { params: object, body, headers }));
  return saved.data;
}

/** @throws ServiceError at `to` */
export async function renameObject({ kind, id }: ObjectName, to: string, reason: string): Promise<ObjectName> {
  const renamed = await request('renameObject', { params: { kind, id }, body: { to }, headers: reasonHeader(reason) });
  return renamed.data;
}

/** @throws ServiceError if other objects use it */
export const deleteObject = (object: ObjectName, reason: string) =>
  request('deleteObject', { params: object, headers: reasonHeader(reason) });
