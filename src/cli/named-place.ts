import { NO_PLACE, readPlace } from '../schema/model/place.js';
import { UsageError } from './command.js';

/** The object that an argument such as `posts` or `posts.title` names. */
export interface NamedPlace {
  collection: string;
  field?: string;
}

/**
 * Parses an argument.
 * @throws UsageError
 */
export function namedPlace(text: string): NamedPlace {
  const { collection, field } = readPlace(text) ?? {};
  if (typeof collection !== 'string')
    throw new UsageError(`${JSON.stringify(text)} is not a valid place: ${NO_PLACE}.`);
  return typeof field === 'string' ? { collection, field } : { collection };
}
