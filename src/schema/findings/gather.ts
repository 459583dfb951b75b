/**
 * Findings as they are shown. A batch may say the same of a thing more than once (a field that changes in two events), and
 * of hundreds of new tables: nobody reads the same note a hundred times.
 */
import type { Finding, PlannedBatch } from './model.js';

/** Places of a note that are listed. */
const MOST_PLACES = 50;

export interface Gathering {
  add(finding: Finding, batch: Pick<PlannedBatch, 'isNew'>): void;
  findings(): Finding[];
}

type Place = { collection: string; field?: string };

/** A note about new things: where its finding stands, and all that it is true of. */
interface Note {
  first: number;
  places: Place[];
  count: number;
}

export function createGathering(): Gathering {
  const found: Finding[] = [];
  const seen = new Set<string>();
  const notes = new Map<string, Note>();

  /** Whether the same note was made already. */
  function isNoted({ code, collection = '', field }: Finding): boolean {
    const place = { collection, ...(field !== undefined && { field }) };
    const known = notes.get(code);
    if (known === undefined) {
      notes.set(code, { first: found.length, places: [place], count: 1 });
      return false;
    }
    known.count += 1;
    if (known.places.length < MOST_PLACES) known.places.push(place);
    return true;
  }

  return {
    add(finding, { isNew }) {
      const key = keyOf(finding);
      if (seen.has(key)) return;
      seen.add(key);
      const isNote = finding.level === 'note' && isNew(finding.collection ?? '');
      if (!isNote || !isNoted(finding)) found.push(finding);
    },
    findings() {
      for (const { first, places, count } of notes.values()) {
        const finding = found[first];
        if (finding === undefined || count === 1) continue;
        found[first] = { ...finding, message: `${finding.message}; ${alsoText(places, count)}`, places };
      }
      return found;
    },
  };
}

const keyOf = ({ code, collection, field, object, message }: Finding): string =>
  [code, collection, field, object?.kind, object?.name, message].join('\0');

/** Names that a sentence has. */
const NAMED = 3;

function alsoText(places: readonly Place[], count: number): string {
  const others = places
    .slice(1, NAMED + 1)
    .map(({ collection, field }) => [collection, field].filter(Boolean).join('.'));
  const more = count - 1 - others.length;
  return `the same of ${others.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
