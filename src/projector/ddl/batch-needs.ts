/** Collects the objects that the tables of a batch need, each once. */
import type { Need } from '../../schema/model/extras.js';
import { jsonEqual } from '../../kernel/json.js';
import { needLabel, needsOfNode } from '../../schema/model/needs.js';
import type { State } from '../../schema/model/state.js';

export interface BatchNeeds {
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
