/** Problems that several operations share. */
import type { Problem } from '../../kernel/problem.js';
import { isSystemCollection } from '../model/system-collections.js';

/** NOT_FOUND, with the submitted name. */
export function missingCollection(collection: string): Problem {
  return { code: 'NOT_FOUND', message: `there is no collection ${JSON.stringify(collection)}`, collection };
}

/** FORBIDDEN. Undefined if the name is no system collection. */
export function systemCollection(collection: string): Problem | undefined {
  if (!isSystemCollection(collection)) return undefined;
  const message = `${JSON.stringify(collection)} is a system collection; it can't be changed through the API`;
  return { code: 'FORBIDDEN', message, collection };
}

/** For reads within a collection. System collections are listed, but their contents are not. */
export function noFieldsListed(collection: string): Problem {
  if (!isSystemCollection(collection)) return missingCollection(collection);
  const message = `${JSON.stringify(collection)} belongs to the service: its fields and relations are not shown`;
  return { code: 'NOT_FOUND', message, collection };
}

/** NOT_FOUND, in an existing collection. */
export function missingField(collection: string, field: string): Problem {
  const message = `there is no field ${JSON.stringify(field)} in ${JSON.stringify(collection)}`;
  return { code: 'NOT_FOUND', message, collection, field };
}
