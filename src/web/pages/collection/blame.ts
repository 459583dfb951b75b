/** Finds the last event that changed each field. */
import type { CollectionEvent } from '../../service/types.js';
import { changesOf } from '../../shared/changes/sentences.js';

/** @param events newest first */
export function blameOf(events: readonly CollectionEvent[]): ReadonlyMap<string, CollectionEvent> {
  const last = new Map<string, CollectionEvent>();
  for (const event of events) {
    for (const field of fieldsOf(event)) if (!last.has(field)) last.set(field, event);
  }
  return last;
}

/** Fields created with their collection have no event of their own. */
function fieldsOf(event: CollectionEvent): string[] {
  return changesOf(event.diff).flatMap(({ field }) => (field === null ? [] : [field]));
}
