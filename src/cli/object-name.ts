import { OBJECT_KINDS, type ObjectName } from '../schema/model/objects.js';
import { INVALID_LOCATION, parseLocation } from '../schema/model/location.js';
import { UsageError } from './command.js';

/** The collection or field that an argument such as `posts` or `posts.title` names. */
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

/**
 * Parses the argument for an object other than a table: `view:active_posts`. Undefined if it names a collection or
 * field.
 */
export function parseObjectKind(text: string): ObjectName | undefined {
  const kind = OBJECT_KINDS.find((each) => text.startsWith(`${each}:`));
  return kind && { kind, id: text.slice(kind.length + 1) };
}

/** Returns the argument that `parseObjectKind` reads. */
export const objectArgument = ({ kind, id }: ObjectName): string => `${kind}:${id}`;
