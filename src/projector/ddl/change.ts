/** The input of the planners: one event of a batch with the states before and after it. */
import type { NewEvent, SchemaEventType } from '../../schema/model/events.js';
import type { State } from '../../schema/model/state.js';
import type { BatchNeeds } from './batch-needs.js';

interface ChangeBy<E extends NewEvent> {
  event: E;
  /** The index of the event in its batch. */
  index: number;
  position: number;
  /** True if deleted objects go to the trash and return from it. False for a replay. */
  hasTrash: boolean;
  before: State;
  after: State;
  schema: string;
  /** For each collection, the index of the event of this batch that created its table. A restored table has rows. */
  createdAt: ReadonlyMap<string, number>;
  needs: BatchNeeds;
  /** The field that the statements concern, if it is not the field of the event. */
  about?: string;
  /** The statements that recreate the primary key are planned around the event. */
  recreatesKey?: boolean;
}

export type Change<T extends SchemaEventType = SchemaEventType> = ChangeBy<Extract<NewEvent, { type: T }>>;

/** Checks whether this batch created the table. Such a table is empty, and no other session can see or lock it. */
export function isNew({ createdAt, index }: Change, collection: string): boolean {
  return (createdAt.get(collection) ?? Infinity) <= index;
}

/** The field of an event. The fallback is not a valid field name. */
export const fieldNameOf = ({ field }: Pick<NewEvent, 'field'>): string => field ?? '';
