/** Three-way merge of documents, member by member. */
import { isObject, jsonEqual } from '../../kernel/json.js';

/** A member that both sides changed. `undefined` means that the member does not exist. */
export interface Difference {
  /** The path of the member. Empty if the whole document was created or removed. */
  path: string[];
  base: unknown;
  mine: unknown;
  theirs: unknown;
}

interface Sides {
  was: Members;
  mine: Members;
  now: Members;
}

type Members = { [member: string]: unknown };

const STRUCTURED = ['meta', 'schema'];

/**
 * Applies the changes from `was` to `mine` to `now`. `meta` and `schema` are merged member by member. Reports
 * conflicts.
 */
export function mergeSides(
  sides: { was: object; mine: object; now: object },
  report: (found: Difference) => void,
): object {
  const { was, mine, now } = sides as Sides;
  const [result, deep] = [{ ...now }, STRUCTURED.filter((member) => isDeep(sides as Sides, member))];
  for (const member of deep) {
    const inner = { was: was[member], mine: mine[member], now: now[member] } as Sides;
    result[member] = mergedMembers(inner, (conflict) => report({ ...conflict, path: [member, ...conflict.path] }));
  }
  const others = (document: Members) =>
    Object.fromEntries(Object.entries(document).filter(([member]) => !deep.includes(member)));
  const flat = mergedMembers({ was: others(was), mine: others(mine), now: others(now) }, report);
  return { ...flat, ...Object.fromEntries(deep.map((member) => [member, result[member]])) };
}

const isDeep = ({ was, mine, now }: Sides, member: string): boolean =>
  [was, mine, now].every((document) => isObject(document[member]));

function mergedMembers({ was, mine, now }: Sides, report: (found: Difference) => void): Members {
  const result = { ...now };
  for (const member of new Set([...Object.keys(was), ...Object.keys(mine)])) {
    const [base, own, theirs] = [was[member], mine[member], now[member]];
    if (jsonEqual(base, own)) continue;
    if (!jsonEqual(base, theirs) && !jsonEqual(own, theirs)) report({ path: [member], base, mine: own, theirs });
    if (own === undefined) delete result[member];
    else result[member] = own;
  }
  return result;
}

/** Returns `base` with the members of an incomplete document. */
export function overlayMembers(now: object, base: object): object {
  const merged = (from: unknown, what: unknown) => (isObject(from) && isObject(what) ? { ...from, ...what } : what);
  const members = Object.entries(base).map(([member, value]) => [
    member,
    STRUCTURED.includes(member) ? merged((now as Members)[member], value) : value,
  ]);
  return { ...now, ...(Object.fromEntries(members) as object) };
}
