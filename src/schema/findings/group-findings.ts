/**
 * Findings as they are shown. A batch may say the same of a thing more than once (a field that changes in two events), and
 * of hundreds of new tables: nobody reads the same note a hundred times.
 */
import { foundBy } from './finding.js';
import type { Finding, Observed, PlannedEvent, Rule } from './model.js';
import { placeText } from '../model/place.js';

/** Places of a note that are listed. */
export const MOST_PLACES = 50;

export interface Gathering {
  /** @param statement its index in the plan */
  add(rule: Rule, observed: Observed, planned: PlannedEvent, statement?: number): void;
  findings(): Finding[];
}

export type Place = { collection: string; field?: string };

/** A note about new things: where its finding stands, and all that it is true of. */
interface Note {
  first: number;
  places: Place[];
  /** All of them, by their names. */
  known: Set<string>;
}

/** Notes that are said once of all new things, by what they have in common; undefined: each is said. */
export type GroupOf = (code: string, place: Place) => string | undefined;

/**
 * Findings come out in the order they went in. What is said again of a thing that was there before is passed over.
 * @param groupOf without it, the notes of one rule about new things are one
 */
export function createGathering(groupOf: GroupOf = (code) => code): Gathering {
  const found: Finding[] = [];
  /** Of things that were there before: a new one is judged once. */
  const seen = new Set<string>();
  const notes = new Map<string, Note>();

  /** Whether the same note was made already. */
  function isNoted({ code }: Rule, place: Place): boolean {
    const group = groupOf(code, place);
    if (group === undefined) return false;
    const name = JSON.stringify([place.collection, place.field]);
    const note = notes.get(group);
    if (note === undefined) {
      notes.set(group, { first: found.length, places: [place], known: new Set([name]) });
      return false;
    }
    // One table may need several things of a kind.
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

/** Names that a sentence has. */
const NAMED = 3;

/** @param places the first is that of the finding; `count`: of all there are */
export function alsoText(places: readonly Place[], count: number): string {
  const others = places.slice(1, NAMED + 1).map(placeText);
  const more = count - 1 - others.length;
  return `the same of ${others.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
