/** Reads which findings a caller acknowledges: from the header X-Acknowledge or from the body. */
import { isObject } from '../../kernel/json.js';
import { type Problem, invalid, unknownMembers } from '../../kernel/problem.js';
import type { Acknowledgements } from '../../pipeline/types.js';
import { NO_PLACE, samePlace } from '../../schema/model/place.js';
import type { Acknowledgement } from '../../schema/policy/index.js';
import { Refused } from '../errors.js';
import { acknowledgeOf } from '../request/request-headers.js';
import type { Call } from '../route.js';

/** The member of a body. */
const MEMBER = 'acknowledge';

/** More than anyone would read. */
const MOST = 1_000;

const taken = new WeakMap<object, Acknowledgement[]>();

/**
 * Removes the acknowledgements from the body and stores them for `acknowledgedBy`.
 * @throws Refused
 */
export function takeAcknowledged<T extends Pick<Call<unknown>, 'req' | 'body'>>(call: T): T {
  const { body, req } = call;
  if (!isObject(body) || !Object.hasOwn(body, MEMBER)) return call;
  const { [MEMBER]: list, ...rest } = body;
  taken.set(req, read(list));
  return { ...call, body: rest };
}

/** @throws Refused if the header is malformed, or if both header and body acknowledge findings */
export function acknowledgedBy({ req }: Pick<Call<unknown>, 'req'>): Acknowledgements | undefined {
  const inHeader = acknowledgeOf(req);
  const inBody = taken.get(req);
  if (inHeader !== undefined && inBody !== undefined)
    throw new Refused([invalid([MEMBER], 'said in the body or in X-Acknowledge, not in both')]);
  if (inBody !== undefined) return { findings: inBody, at: (index) => [MEMBER, index] };
  return inHeader && { findings: inHeader, at: () => ['X-Acknowledge'] };
}

function read(list: unknown): Acknowledgement[] {
  if (!Array.isArray(list) || list.length > MOST)
    throw new Refused([invalid([MEMBER], `must be an array of at most ${MOST} objects with code and place`)]);
  const problems = list.flatMap((each: unknown, index) => problemsOf(each, index));
  if (problems.length > 0) throw new Refused(problems);
  return (list as Acknowledgement[]).map(asPlaced);
}

/** Uses the location format of findings. */
export const asPlaced = ({ code, place }: Acknowledgement): Acknowledgement => ({
  code,
  place: samePlace(place) ?? place,
});

function problemsOf(each: unknown, index: number): Problem[] {
  const at = [MEMBER, index];
  if (!isObject(each)) return [invalid(at, 'must be an object with code and place')];
  const problems = unknownMembers(each, new Set(['code', 'place']), at);
  for (const member of ['code', 'place'])
    if (typeof each[member] !== 'string') problems.push(invalid([...at, member], `${member} is required, a string`));
  const { place } = each;
  if (typeof place === 'string' && samePlace(place) === undefined) problems.push(invalid([...at, 'place'], NO_PLACE));
  return problems;
}
