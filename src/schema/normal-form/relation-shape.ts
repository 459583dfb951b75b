/**
 * Converts between the two forms of a relation: flat (ours) and nested (`collection`, `field`, `related_collection`,
 * `meta`).
 */
import { isObject, jsonEqual } from '../../kernel/json.js';
import { type Place, stepsIn } from '../../kernel/locate.js';
import type { Path } from '../../kernel/problem.js';
import { RELATION_MEMBERS } from '../model/model.js';
import { complain, type Reading } from './checks.js';

export interface FlatRelation {
  /** The given members of the flat form, unchecked. */
  members: Record<string, unknown>;
  /** The given foreign key. Undefined if absent. */
  schema: unknown;
}

const FLAT: ReadonlySet<string> = new Set(RELATION_MEMBERS);

/** Names of flat members in the nested form. */
export const NESTED = new Map([
  ['collection', 'many_collection'],
  ['field', 'many_field'],
  ['related_collection', 'one_collection'],
] as const) as ReadonlyMap<string, (typeof RELATION_MEMBERS)[number]>;

/**
 * Duplicate members must match, unknown ones are problems (unless imported), and ids are ignored. A client may read a
 * relation and edit only one of the forms: of two different values, the one that equals the existing value is ignored.
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
  /** The existing relation. Undefined for a new one. */
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

/** Returns the many side of a body in either form. Undefined if it is missing. */
export function relationEnds(input: Record<string, unknown>): [collection: unknown, field: unknown] {
  const meta = isObject(input['meta']) ? input['meta'] : {};
  return [
    input['many_collection'] ?? input['collection'] ?? meta['many_collection'],
    input['many_field'] ?? input['field'] ?? meta['many_field'],
  ];
}

/** Returns the location of a flat member in the submitted body, or its expected location. */
export function relationSteps(steps: Path, input: Record<string, unknown>): Path {
  const [member, ...rest] = steps;
  return typeof member === 'string' && FLAT.has(member) ? [...placeOf(member, input), ...rest] : steps;
}

/** Returns the actual or expected location of a flat member. */
function placeOf(member: string, input: Record<string, unknown>): string[] {
  const other = [...NESTED].find(([, flat]) => flat === member)?.[0];
  if (other !== undefined && input[other] !== undefined) return [other];
  if (input[member] !== undefined) return [member];
  const meta = input['meta'];
  if (isObject(meta) && meta[member] !== undefined) return ['meta', member];
  // A missing member has its location in the form that the body uses.
  const isNested = [...NESTED.keys(), 'meta'].some((name) => input[name] !== undefined);
  if (!isNested || Object.keys(input).some((name) => FLAT.has(name))) return [member];
  return other === undefined ? ['meta', member] : [other];
}

/** The location of a relation in either form. */
export function relationPlace(at: Path, body: unknown): Place {
  return { at, stepsTo: (member) => (isObject(body) ? stepsIn(body, relationSteps(member, body)) : []) };
}
