/** purge-trash: removes the trash entries of deletions permanently. */
import { ok } from '../../kernel/problem.js';
import { type OtherEvent, trashSubject } from '../model/events.js';
import type { Operation } from './operation.js';

export interface PurgeTrash {
  /** Trash entries by their former names. */
  entries: readonly { position: number; collection: string; field: string | null }[];
  /** True if the retention period is over, false if a user requested it. */
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
