/** What of a review the policy stops, and what of that its reader knows of. */
import { placeText } from '../../../../schema/model/place.js';
import { keyOf, type Acknowledgement } from '../../../../schema/policy/index.js';
import type { Finding } from '../../../service/types.js';

/** A finding by what is acknowledged of it: `LOSES_DATA:articles.title`. */
export const acknowledgedAs = ({ code, ...place }: Finding): string => keyOf({ code, place: placeText(place) });

const STOPPING: ReadonlySet<string | undefined> = new Set(['acknowledge', 'approve', 'refuse']);

export interface Stop {
  key: string;
  finding: Finding;
  /** Nothing but its acknowledgement is missing. */
  canBeKnown: boolean;
  isKnown: boolean;
}

/** What the policy wants something for; each place of a code once, what is refused first. */
export function stopsOf(findings: readonly Finding[], known: ReadonlySet<string>): Stop[] {
  const stops = new Map<string, Stop>();
  for (const finding of findings) {
    if (!STOPPING.has(finding.action)) continue;
    const key = acknowledgedAs(finding);
    const canBeKnown = finding.action === 'acknowledge';
    if (!stops.has(key)) stops.set(key, { key, finding, canBeKnown, isKnown: canBeKnown && known.has(key) });
  }
  return [...stops.values()].sort((one, other) => Number(one.canBeKnown) - Number(other.canBeKnown));
}

/** As the service takes them: of those stops alone that their reader said to know of. */
export const acknowledgementsOf = (stops: readonly Stop[]): Acknowledgement[] =>
  stops.filter(({ isKnown }) => isKnown).map(({ finding: { code, ...place } }) => ({ code, place: placeText(place) }));
