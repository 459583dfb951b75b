import { INVALID_LOCATION, parseLocation } from '../schema/model/location.js';
import { UsageError } from './command.js';

/** The object that an argument such as `posts` or `posts.title` names. */
export interface NamedObject {
  collection: string;
  field?: string;
}

/**
 * Parses an argument.
 * @throws UsageError
 */
export function parseObjectName(text: string): NamedObject {
  const { collection, field } = parseLocation(text) ?? {};
  if (typeof collection !== 'string')
    throw new UsageError(`${JSON.stringify(text)} is not a valid place: ${INVALID_LOCATION}.`);
  return typeof field === 'string' ? { collection, field } : { collection };
}
