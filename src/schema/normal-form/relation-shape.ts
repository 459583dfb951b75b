/** The two shapes a relation comes in: flat (ours) and nested (`collection`, `field`, `related_collection`, `meta`). */
import { isObject, jsonEqual } from '../../kernel/json.js';
import { type Place, stepsIn } from '../../kernel/locate.js';
import type { Path } from '../../kernel/problem.js';
import { RELATION_MEMBERS } from '../model/model.js';
import { complain, type Reading } from './checks.js';

export interface FlatRelation {
  /** The members of the flat shape that were given, unchecked. */
  members: Record<string, unknown>;
  /** The foreign key as given; undefined is absent. */
  schema: unknown;
}

const FLAT: ReadonlySet<string> = new Set(RELATION_MEMBERS);

/** Names of the nested shape for members of the flat one. */
export const NESTED = new Map([
  ['collection', 'many_collection'],
  ['field', 'many_field'],
  ['related_collection', 'one_collection'],
] as const) as ReadonlyMap<string, (typeof RELATION_MEMBERS)[number]>;

/**
 * What is said twice must agree; unknown members are problems (unless imported); ids are ignored. Of a relation as it was
 * read, one of the shapes may be edited: where two places differ, the one that says what is there says nothing.
 */
export function flattenRelation(
  input: Record<string, unknown>,
  reading: Reading,
  existing?: Readonly<Record<string, unknown>>,
): FlatRelation {
  const into: Gathered = { members: {}, reading, existing };
  const { members } = into;
  const { meta, schema, ...top } = input;
  gather(top, NESTED, [], into);
  if (isObject(meta)) gather(meta, NO_OTHER_NAMES, ['meta'], into);
  else if (meta !== undefined && meta !== null) complain(reading, ['meta'], 'must be an object or null');
  return { members, schema };
}

const NO_OTHER_NAMES: ReadonlyMap<string, string> = new Map();

interface Gathered {
  members: Record<string, unknown>;
  reading: Reading;
  /** The relation as it is; undefined: a new one. */
  existing: Readonly<Record<string, unknown>> | undefined;
}

function gather(
  from: Record<string, unknown>,
  names: ReadonlyMap<string, string>,
  part: string[],
  into: Gathered,
): void {
  for (const name of Object.keys(from)) {
    const member = names.get(name) ?? (FLAT.has(name) ? name : undefined);
    const value = from[name];
    if (name === 'id' || value === undefined) continue;
    if (member !== undefined) put(member, value, [...part, name], into);
    else if (!into.reading.imported) complain(into.reading, [...part, name], 'is not a known member');
  }
}

function put(member: string, value: unknown, place: string[], { members, reading, existing }: Gathered): void {
  const other = members[member];
  if (other === undefined || isAsItWas(existing, member, other)) members[member] = value;
  else if (!jsonEqual(other, value) && !isAsItWas(existing, member, value)) {
    complain(reading, place, `must not differ from the other place where ${member} is given`);
  }
}

const isAsItWas = (existing: Gathered['existing'], member: string, value: unknown): boolean =>
  existing !== undefined && jsonEqual(existing[member], value);

/** The many side as a body in either shape names it; undefined where it doesn't. */
export function relationEnds(input: Record<string, unknown>): [collection: unknown, field: unknown] {
  const meta = isObject(input['meta']) ? input['meta'] : {};
  return [
    input['many_collection'] ?? input['collection'] ?? meta['many_collection'],
    input['many_field'] ?? input['field'] ?? meta['many_field'],
  ];
}

/** The steps to a member of the flat shape in a body as it was sent, or to where it would stand. */
export function relationSteps(steps: Path, input: Record<string, unknown>): Path {
  const [member, ...rest] = steps;
  return typeof member === 'string' && FLAT.has(member) ? [...placeOf(member, input), ...rest] : steps;
}

/** Where a member of the flat shape stands in a body, or would stand. */
function placeOf(member: string, input: Record<string, unknown>): string[] {
  const other = [...NESTED].find(([, flat]) => flat === member)?.[0];
  if (other !== undefined && input[other] !== undefined) return [other];
  if (input[member] !== undefined) return [member];
  const meta = input['meta'];
  if (isObject(meta) && meta[member] !== undefined) return ['meta', member];
  // Not sent: in the shape of what was.
  const isNested = [...NESTED.keys(), 'meta'].some((name) => input[name] !== undefined);
  if (!isNested || Object.keys(input).some((name) => FLAT.has(name))) return [member];
  return other === undefined ? ['meta', member] : [other];
}

/** A relation in either shape. */
export function relationPlace(at: Path, body: unknown): Place {
  return { at, stepsTo: (member) => (isObject(body) ? stepsIn(body, relationSteps(member, body)) : []) };
}
