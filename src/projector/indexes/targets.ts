/** Finds the indexes that an event may have left to build or drop after its commit. Pure. */
import { isIndexed } from '../../schema/model/state.js';
import type { LogEvent, NewEvent } from '../../schema/model/events.js';

export interface IndexTarget {
  collection: string;
  field: string;
}

/**
 * Covers events that defer an index build, and events that drop an index. A build may have been running then, and
 * DROP INDEX does not see it.
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
