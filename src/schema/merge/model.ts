/* Conflicts and resolutions of three-way merges. */
import {
  MAX_PROBLEMS,
  type Path,
  type Problem,
  type Result,
  invalidProblem,
  ok,
  problemsInSteps,
  refuse,
  renderPath,
  unknownMembers,
} from '../../kernel/problem.js';
import type { Resumable } from '../../kernel/resumable.js';
import { type Json, isObject } from '../../kernel/json.js';
import type { Step } from '../diff/entries.js';
import { type ObjectName, isObjectKind, objectLabel } from '../model/objects.js';

export interface CollectionLocation {
  part: 'collections' | 'fields' | 'relations';
  collection: string;
  field?: string;
  path?: Step[];
}

interface ObjectLocation extends ObjectName {
  part: 'objects';
  path?: Step[];
}

/**
 * The location of a document or, with `path`, of one of its members. Without `path`, a collection includes its fields
 * and relations.
 */
export type MergeLocation = CollectionLocation | ObjectLocation;

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
  /** A sentence for display. */
  message: string;
  /** The values on each side. A value is absent if it does not exist on that side. */
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
   * Returns the indexes of the first decisions that match no conflict. A decision about a location inside another
   * decided location is not included.
   */
  unused(): number[];
}

/** Returns a string that is equal for equal locations. */
const locationKey = (location: MergeLocation): string =>
  location.part === 'objects'
    ? JSON.stringify([location.part, location.kind, location.id, location.path ?? []])
    : JSON.stringify([location.part, location.collection, location.field, location.path ?? []]);

/** Returns the locations that contain a location. */
function holdersOf(location: MergeLocation): MergeLocation[] {
  if (location.part === 'objects') {
    const { path, ...object } = location;
    return path === undefined ? [] : [object];
  }
  const { part, collection, field, path } = location;
  const collectionPlace: MergeLocation = { part: 'collections', collection };
  const document = field === undefined ? [] : [{ part, collection, field }];
  return path === undefined ? (field === undefined ? [] : [collectionPlace]) : [collectionPlace, ...document];
}

/** If there are several decisions about one location, the last one counts. */
export function decisionsOf(resolutions: readonly Resolution[]): Decisions {
  const takes = new Map<string, Side>();
  for (const { place, take } of resolutions) {
    takes.set(locationKey(place), take);
  }
  const used = new Set<string>();
  const isUsed = (location: MergeLocation): boolean => used.has(locationKey(location));
  return {
    at(location) {
      const key = takes.size === 0 ? '' : locationKey(location);
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

/** Maximum number of steps of a location. Documents are less deeply nested. */
const LONGEST_PATH = 100;

const MEMBERS: ReadonlySet<string> = new Set(['place', 'take']);
const PARTS = new Set(['collections', 'fields', 'relations']);

/** Reads any number of submitted resolutions. */
export function* readResolutions(input: unknown): Resumable<Result<Resolution[]>> {
  if (input === undefined) return ok([]);
  if (!Array.isArray(input)) return refuse(invalidProblem(['resolve'], 'resolve must be an array of { place, take }'));
  const problems = yield* problemsInSteps(input, (each, index) => resolutionProblems(each, ['resolve', index]));
  return problems.length > 0 ? refuse(...problems) : ok(input as Resolution[]);
}

function resolutionProblems(input: unknown, at: Path): Problem[] {
  if (!isObject(input)) return [invalidProblem(at, 'must be an object with place and take')];
  const problems = unknownMembers(input, MEMBERS, at);
  const { place, take } = input;
  if (take !== 'ours' && take !== 'theirs')
    problems.push(invalidProblem([...at, 'take'], 'take must be ours or theirs'));
  if (!isPlace(place))
    problems.push(invalidProblem([...at, 'place'], 'place must be copied unchanged from a conflict'));
  return problems;
}

function isPlace(location: unknown): boolean {
  if (!isObject(location)) return false;
  const { path = [] } = location;
  const isStep = (step: unknown): boolean => typeof step === 'string' || Number.isInteger(step);
  return Array.isArray(path) && path.length <= LONGEST_PATH && path.every(isStep) && isDocument(location);
}

function isDocument({ part, collection, field, kind, id }: { [member: string]: unknown }): boolean {
  if (part === 'objects') return isObjectKind(kind) && typeof id === 'string';
  if (typeof part !== 'string' || !PARTS.has(part) || typeof collection !== 'string') return false;
  return part === 'collections' ? field === undefined : typeof field === 'string';
}

/** Formats a location for display: `fields posts.title, meta.note`. */
export function describeLocation(location: MergeLocation): string {
  const { path = [] } = location;
  return `${describeDocument(location)}${path.length > 0 ? `, ${renderPath(path)}` : ''}`;
}

function describeDocument(location: MergeLocation): string {
  if (location.part === 'objects') return objectLabel(location);
  const { part, collection, field } = location;
  const kind = { collections: 'collection', fields: 'field', relations: 'relation' }[part];
  return `${kind} ${field === undefined ? collection : `${collection}.${field}`}`;
}
