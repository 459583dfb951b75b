/** purge-trash: what was kept of a deletion is gone for good. */
import { ok } from '../../kernel/problem.js';
import { type OtherEvent, trashSubject } from '../model/events.js';
import type { Operation } from './operation.js';

export interface PurgeTrash {
  /** What the trash holds, by the names that it had. */
  entries: readonly { position: number; collection: string; field: string | null }[];
  /** Its time is over; else somebody asked. */
  expired: boolean;
}

export const purgeTrash: Operation<'purge-trash', PurgeTrash, PurgeTrash, OtherEvent> = {
  name: 'purge-trash',

  parse: (input) => ok(input),

  *decide(_state, { entries, expired }) {
    yield;
    return ok(
      entries.map(({ position, collection, field }) => ({
        type: 'trash.purged' as const,
        version: 1,
        collection,
        field,
        subject: trashSubject(position),
        data: { position, ...(expired && { expired }) },
      })),
    );
  },
};
