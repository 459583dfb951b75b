/** What the planners get: one event of a batch with the states around it. */
import type { NewEvent, SchemaEventType } from '../../schema/model/events.js';
import type { State } from '../../schema/model/state.js';
import type { BatchNeeds } from './batch-needs.js';

interface ChangeBy<E extends NewEvent> {
  event: E;
  /** The event's index in its batch. */
  index: number;
  /** The event's place in the log. */
  position: number;
  /** Whether there is a trash, which what is deleted goes to and comes back from: not where a log is replayed. */
  hasTrash: boolean;
  before: State;
  after: State;
  /** PostgreSQL's schema that holds the tables. */
  schema: string;
  /** By collection, the index of the event of this batch that made its table; one that was restored has rows. */
  createdAt: ReadonlyMap<string, number>;
  needs: BatchNeeds;
  /** The field that statements are about, where it isn't the event's. */
  about?: string;
  /** The primary key is recreated around the event: its statements are planned around that. */
  recreatesKey?: boolean;
}

/** `T`: the event's type. */
export type Change<T extends SchemaEventType = SchemaEventType> = ChangeBy<Extract<NewEvent, { type: T }>>;

/** Whether the table was made by this batch: it is empty then, and no other session can see or lock it. */
export function isNew({ createdAt, index }: Change, collection: string): boolean {
  return (createdAt.get(collection) ?? Infinity) <= index;
}

/** The field that an event is about. No field is called as that of an event which is about none. */
export const fieldNameOf = ({ field }: Pick<NewEvent, 'field'>): string => field ?? '';
