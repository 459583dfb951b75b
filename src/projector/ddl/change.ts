/** The input of the planners: one event of a batch with the states before and after it. */
import type { NewEvent, SchemaEventType } from '../../schema/model/events.js';
import type { State } from '../../schema/model/state.js';
import type { Need } from '../../schema/model/extras.js';
import { jsonEqual } from '../../kernel/json.js';
import { needLabel, needsOfNode } from '../../schema/model/needs.js';

/* Collects the objects that the tables of a batch need, each once. */

interface BatchNeeds {
  /** Records the need. Returns the definition that tables had until now. */
  record(need: Need, collection: string): { old: Need | undefined; isUnchanged: boolean };
  /**
   * True if an existing object must match the definition. Disabled in a replay, where a difference shows at the end.
   */
  isCompared: boolean;
}

/** `state`: before the batch. It is scanned on first use, because most batches need nothing. */
export function batchNeeds({ collections }: State, isCompared: boolean): BatchNeeds {
  let known: ReadonlyMap<string, Need> | undefined;
  const seen = new Map<string, Need>();
  /** The table's own definition takes precedence: other tables may record another one after changes by hand. */
  const before = (label: string, collection: string): Need | undefined => {
    const own = needsOfNode(collections.get(collection)).find((each) => needLabel(each) === label);
    if (own !== undefined) return own;
    known ??= new Map([...collections.values()].flatMap(needsOfNode).map((each) => [needLabel(each), each]));
    return known.get(label);
  };
  return {
    isCompared,
    record(need, collection) {
      const label = needLabel(need);
      const last = seen.get(label);
      seen.set(label, need);
      // A sequence is dropped with its column and may have to be created again.
      const isUnchanged = need.kind !== 'sequence' && last !== undefined && jsonEqual(last, need);
      return { old: last ?? before(label, collection), isUnchanged };
    },
  };
}

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
