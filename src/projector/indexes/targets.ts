/** Which indexes an event may have left to be built, or to be dropped, after its commit. Pure. */
import { isIndexed } from '../../schema/model/state.js';
import type { LogEvent, NewEvent } from '../../schema/model/events.js';

export interface IndexTarget {
  collection: string;
  field: string;
}

/**
 * Events that asked for an index to be built after the commit; and those that took an index away, because one may have
 * been under construction then, where DROP INDEX doesn't see it.
 */
export function indexTargets(event: LogEvent): IndexTarget[] {
  switch (event.type) {
    case 'collection.created':
      if (event.data.concurrent_indexes !== true) return [];
      return event.data.fields.filter(isIndexed).map(({ field }) => ({ collection: event.collection, field }));
    case 'field.created':
      return event.data.concurrent_indexes === true ? targetOf(event) : [];
    case 'field.updated':
      return event.data.concurrent_indexes === true || touchesIndex(event.data.patch) ? targetOf(event) : [];
    default:
      return [];
  }
}

function targetOf({ collection, field }: NewEvent): IndexTarget[] {
  return field === null ? [] : [{ collection, field }];
}

function touchesIndex(patch: readonly { path: string }[]): boolean {
  return patch.some(({ path }) => path === '' || path === '/schema' || path === '/schema/is_indexed');
}
