/**
 * Groups findings for display. A batch may report an object more than once, if a field changes in two events. A note
 * about hundreds of new tables is shown once.
 */
import { foundBy } from './finding.js';
import type { Finding, Observed, PlannedEvent, Rule } from './model.js';
import { placeText } from '../model/place.js';

/** Locations that a note lists. */
export const MOST_PLACES = 50;

export interface Gathering {
  /** @param statement its index in the plan */
  add(rule: Rule, observed: Observed, planned: PlannedEvent, statement?: number): void;
  findings(): Finding[];
}

export type Place = { collection: string; field?: string };

/** A note about new objects: its finding and all objects it applies to. */
interface Note {
  first: number;
  places: Place[];
  /** Names of all these objects. */
  known: Set<string>;
}

/** Returns the group of a note about new objects. Undefined for a note that is not grouped. */
export type GroupOf = (code: string, place: Place) => string | undefined;

/**
 * Returns findings in the order of addition and ignores repetitions about existing objects.
 * @param groupOf groups notes about new objects. By default each rule has one group.
 */
export function createGathering(groupOf: GroupOf = (code) => code): Gathering {
  const found: Finding[] = [];
  /** For existing objects. A new object is checked only once. */
  const seen = new Set<string>();
  const notes = new Map<string, Note>();

  /** True if the same note already exists. */
  function isNoted({ code }: Rule, place: Place): boolean {
    const group = groupOf(code, place);
    if (group === undefined) return false;
    const name = JSON.stringify([place.collection, place.field]);
    const note = notes.get(group);
    if (note === undefined) {
      notes.set(group, { first: found.length, places: [place], known: new Set([name]) });
      return false;
    }
    // One table may need several objects of a kind.
    if (!note.known.has(name) && note.places.length < MOST_PLACES) note.places.push(place);
    note.known.add(name);
    return true;
  }

  function isSeen(finding: Finding): boolean {
    const key = keyOf(finding);
    if (seen.has(key)) return true;
    seen.add(key);
    return false;
  }

  return {
    add(rule, observed, planned, statement) {
      const place = placeOf(observed, planned);
      const isNew = planned.batch.isNew(place.collection);
      if (isNew && (observed.level ?? rule.level) === 'note' && isNoted(rule, place)) return;
      const finding = foundBy(rule, observed, planned, statement);
      if (isNew || !isSeen(finding)) found.push(finding);
    },
    findings() {
      for (const { first, places, known } of notes.values()) {
        const finding = found[first];
        if (finding === undefined || known.size === 1) continue;
        found[first] = { ...finding, message: `${finding.message}; ${alsoText(places, known.size)}`, places };
      }
      return found;
    },
  };
}

function placeOf({ collection, field: observed }: Observed, { event }: PlannedEvent): Place {
  const field = observed === undefined ? event.field : observed;
  return { collection: collection ?? event.collection, ...(field !== null && { field }) };
}

const keyOf = ({ code, collection, field, object, message }: Finding): string =>
  JSON.stringify([code, collection, field, object, message]);

/** Names per sentence. */
const NAMED = 3;

/** @param places the first is the location of the finding. `count`: of all locations */
export function alsoText(places: readonly Place[], count: number): string {
  const others = places.slice(1, NAMED + 1).map(placeText);
  const more = count - 1 - others.length;
  return `the same of ${others.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
