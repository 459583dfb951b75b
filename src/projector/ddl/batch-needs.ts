/** What the tables of a batch use beside themselves, each seen to once. */
import type { Need } from '../../schema/model/extras.js';
import { jsonEqual } from '../../kernel/json.js';
import { needLabel, needsOfNode } from '../../schema/model/needs.js';
import type { State } from '../../schema/model/state.js';

export interface BatchNeeds {
  /** Records the need and says what tables had until now. */
  record(need: Need, collection: string): { old: Need | undefined; isUnchanged: boolean };
  /** Whether what is there must be as it is said. Not in a replay: its difference shows at the end. */
  isCompared: boolean;
}

/** `state`: before the batch. It is looked through only when something asks: most batches need nothing. */
export function batchNeeds({ collections }: State, isCompared: boolean): BatchNeeds {
  let known: ReadonlyMap<string, Need> | undefined;
  const seen = new Map<string, Need>();
  /** What a table itself has comes first: by hand, others may have been told otherwise. */
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
      // A sequence goes with its column, and may have to be made again.
      const isUnchanged = need.kind !== 'sequence' && last !== undefined && jsonEqual(last, need);
      return { old: last ?? before(label, collection), isUnchanged };
    },
  };
}
