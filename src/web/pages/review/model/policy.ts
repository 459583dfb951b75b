/** The findings that the policy blocks, and their acknowledgements. */
import { placeText } from '../../../../schema/model/place.js';
import { keyOf, type Acknowledgement } from '../../../../schema/policy.js';
import type { Finding } from '../../../service/types.js';

/** The acknowledgement text of a finding: `LOSES_DATA:articles.title`. */
export const acknowledgedAs = ({ code, ...place }: Finding): string => keyOf({ code, place: placeText(place) });

const STOPPING: ReadonlySet<string | undefined> = new Set(['acknowledge', 'approve', 'refuse']);

export interface Stop {
  key: string;
  finding: Finding;
  /** An acknowledgement is enough. */
  canBeKnown: boolean;
  isKnown: boolean;
}

/** Blocked findings; each location of a code once, rejections first. */
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

/** For the service, only those that the user acknowledged. */
export const acknowledgementsOf = (stops: readonly Stop[]): Acknowledgement[] =>
  stops.filter(({ isKnown }) => isKnown).map(({ finding: { code, ...place } }) => ({ code, place: placeText(place) }));
