/** Views, functions and other objects. Changes are for admins. */
import { queryOptions } from '@tanstack/react-query';
import type { SchemaObject } from '../../schema/model/objects.js';
import { SCHEMA } from './queries.js';
import { reasonHeader, request } from './request.js';

export type ObjectName = Pick<SchemaObject, 'kind' | 'id'>;

export const objectsQuery = () =>
  queryOptions({
    queryKey: [SCHEMA, 'objects'],
    staleTime: Infinity,
    queryFn: async ({ signal }) => (await request('listObjects', { signal })).data,
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

/** @throws ServiceError if other objects use it */
export const deleteObject = (object: ObjectName, reason: string) =>
  request('deleteObject', { params: object, headers: reasonHeader(reason) });
