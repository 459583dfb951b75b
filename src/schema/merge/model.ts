/* Conflicts and resolutions of three-way merges. */
import {
  MAX_PROBLEMS,
  type Path,
  type Problem,
  type Result,
  invalid,
  ok,
  problemsInSteps,
  refuse,
  renderPath,
  unknownMembers,
} from '../../kernel/problem.js';
import type { Resumable } from '../../kernel/resumable.js';
import { type Json, isObject } from '../../kernel/json.js';
import type { Step } from '../diff/entries.js';

type Part = 'collections' | 'fields' | 'relations';

/** A document, or with `path` one of its members. Without `path`, a collection includes its fields and relations. */
export interface MergeLocation {
  part: Part;
  collection: string;
  field?: string;
  path?: Step[];
}

export type Side = 'ours' | 'theirs';

/**
 * `changed`: both sides changed the same member differently. `removed`: one side removed what the other changed.
 * `renamed`: both sides renamed it differently. `name_taken`: the sides gave one name to two objects. `invalid`: the
 * result is not a valid schema, see the message.
 */
export type ConflictKind = 'changed' | 'removed' | 'renamed' | 'name_taken' | 'invalid';

export interface MergeConflict {
  kind: ConflictKind;
  place: MergeLocation;
  /** A sentence for people. */
  message: string;
  /** A value is absent if it does not exist on that side. */
  base?: Json;
  ours?: Json;
  theirs?: Json;
}

/** A decision about a conflict, identified by its location. */
export interface Resolution {
  place: MergeLocation;
  take: Side;
}

/** Looks up decisions by location. A decision may be used several times. Unused ones are reported. */
export interface Decisions {
  at(place: MergeLocation): Side | undefined;
  /**
   * Indexes of the first decisions that match no conflict. A decision about a location within a decided one is not
   * reported.
   */
  unused(): number[];
}

const keyOf = ({ part, collection, field, path }: MergeLocation): string =>
  JSON.stringify([part, collection, field, path ?? []]);

/** Returns the locations that contain a location. */
function holdersOf({ part, collection, field, path }: MergeLocation): MergeLocation[] {
  const collectionPlace: MergeLocation = { part: 'collections', collection };
  const document = field === undefined ? [] : [{ part, collection, field }];
  return path === undefined ? (field === undefined ? [] : [collectionPlace]) : [collectionPlace, ...document];
}

/** If there are several decisions about one location, the last one counts. */
export function decisionsOf(resolutions: readonly Resolution[]): Decisions {
  const takes = new Map<string, Side>();
  for (const { place, take } of resolutions) {
    takes.set(keyOf(place), take);
  }
  const used = new Set<string>();
  const isUsed = (location: MergeLocation): boolean => used.has(keyOf(location));
  return {
    at(location) {
      const key = takes.size === 0 ? '' : keyOf(location);
      const take = takes.get(key);
      if (take !== undefined) used.add(key);
      return take;
    },
    unused() {
      const indexes: number[] = [];
      for (const [index, { place }] of resolutions.entries()) {
        if (!isUsed(place) && !holdersOf(place).some(isUsed)) indexes.push(index);
        if (indexes.length >= MAX_PROBLEMS) break;
      }
      return indexes;
    },
  };
}

/* Reads submitted resolutions, and describes conflicts. */

/** Maximum steps of a location. Documents are less deeply nested. */
const LONGEST_PATH = 100;

const MEMBERS: ReadonlySet<string> = new Set(['place', 'take']);
const PARTS = new Set(['collections', 'fields', 'relations']);

/** Reads any number of submitted resolutions. */
export function* readResolutions(input: unknown): Resumable<Result<Resolution[]>> {
  if (input === undefined) return ok([]);
  if (!Array.isArray(input)) return refuse(invalid(['resolve'], 'resolve must be an array of { place, take }'));
  const problems = yield* problemsInSteps(input, (each, index) => resolutionProblems(each, ['resolve', index]));
  return problems.length > 0 ? refuse(...problems) : ok(input as Resolution[]);
}

function resolutionProblems(input: unknown, at: Path): Problem[] {
  if (!isObject(input)) return [invalid(at, 'must be an object with place and take')];
  const problems = unknownMembers(input, MEMBERS, at);
  const { place, take } = input;
  if (take !== 'ours' && take !== 'theirs') problems.push(invalid([...at, 'take'], 'take must be ours or theirs'));
  if (!isPlace(place)) problems.push(invalid([...at, 'place'], 'place must be copied unchanged from a conflict'));
  return problems;
}

function isPlace(location: unknown): boolean {
  if (!isObject(location)) return false;
  const { part, collection, field, path = [] } = location;
  if (typeof part !== 'string' || !PARTS.has(part) || typeof collection !== 'string') return false;
  const isNamed = part === 'collections' ? field === undefined : typeof field === 'string';
  const isStep = (step: unknown): boolean => typeof step === 'string' || Number.isInteger(step);
  return isNamed && Array.isArray(path) && path.length <= LONGEST_PATH && path.every(isStep);
}

/** Formats a location for display: `fields posts.title, meta.note`. */
export function describeLocation({ part, collection, field, path = [] }: MergeLocation): string {
  const thing = field === undefined ? collection : `${collection}.${field}`;
  const kind = { collections: 'collection', fields: 'field', relations: 'relation' }[part];
  return `${kind} ${thing}${path.length > 0 ? `, ${renderPath(path)}` : ''}`;
}
