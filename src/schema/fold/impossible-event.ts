/** Events that cannot follow the current state. */
import type { Operation } from 'fast-json-patch';
import type { NewEvent } from '../model/events.js';
import { applyPatch } from './patch.js';
import { UnreadableEventError } from './upcasting.js';

export type SchemaChange = NewEvent & { position: number };

/** An event that cannot follow its state, because another program wrote the log. */
export class ImpossibleEventError extends UnreadableEventError {
  constructor(event: SchemaChange, why: string) {
    const place = `${event.type} ${event.collection}${event.field ? '.' + event.field : ''}`;
    super(event.position, `${why} (${place})`);
  }
}

/** Applies the patch of an event to a document. */
export function patched<T extends object>(document: T, event: SchemaChange, patch: readonly Operation[]): T {
  try {
    return applyPatch(document, patch);
  } catch (error) {
    throw new ImpossibleEventError(event, `its patch doesn't fit (${(error as Error).message.split('\n')[0]})`);
  }
}
