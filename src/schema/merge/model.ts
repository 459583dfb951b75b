/** Conflicts and resolutions of three-way merges. */
import { MAX_PROBLEMS } from '../../kernel/problem.js';
import type { Resumable } from '../../kernel/resumable.js';
import type { Json } from '../../kernel/json.js';
import type { Step } from '../diff/entries.js';

type Part = 'collections' | 'fields' | 'relations';

/** A document, or with `path` one of its members. A collection without `path` includes its fields and relations. */
export interface MergePlace {
  part: Part;
  collection: string;
  field?: string;
  path?: Step[];
}

export type Side = 'ours' | 'theirs';

/**
 * `changed`: both sides changed the same member differently. `removed`: one side removed what the other changed.
 * `renamed`: both sides renamed it differently. `name_taken`: the sides gave one name to two objects. `invalid`: the
 * result is no valid schema, see the message.
 */
export type ConflictKind = 'changed' | 'removed' | 'renamed' | 'name_taken' | 'invalid';

export interface MergeConflict {
  kind: ConflictKind;
  place: MergePlace;
  /** A sentence for people. */
  message: string;
  /** Absent values do not exist. */
  base?: Json;
  ours?: Json;
  theirs?: Json;
}

/** The decision about a location. */
export interface Resolution {
  place: MergePlace;
  take: Side;
}

/** Decisions by location. Each may be used repeatedly, and unused ones are reported. */
export interface Decisions {
  at(place: MergePlace): Side | undefined;
  /** Indexes of the first decisions without a conflict. Locations within a decided one need none. */
  unused(): Resumable<number[]>;
}

const keyOf = ({ part, collection, field, path }: MergePlace): string =>
  JSON.stringify([part, collection, field, path ?? []]);

/** Returns the locations that contain a location. */
function holdersOf({ part, collection, field, path }: MergePlace): MergePlace[] {
  const whole: MergePlace = { part: 'collections', collection };
  const document = field === undefined ? [] : [{ part, collection, field }];
  return path === undefined ? (field === undefined ? [] : [whole]) : [whole, ...document];
}

/** The last of several decisions about one location counts. */
export function* decisionsOf(resolutions: readonly Resolution[]): Resumable<Decisions> {
  const takes = new Map<string, Side>();
  for (const { place, take } of resolutions) {
    takes.set(keyOf(place), take);
    yield;
  }
  const used = new Set<string>();
  const isUsed = (place: MergePlace): boolean => used.has(keyOf(place));
  return {
    at(place) {
      const key = takes.size === 0 ? '' : keyOf(place);
      const take = takes.get(key);
      if (take !== undefined) used.add(key);
      return take;
    },
    *unused() {
      const found: number[] = [];
      for (const [index, { place }] of resolutions.entries()) {
        if (!isUsed(place) && !holdersOf(place).some(isUsed)) found.push(index);
        if (found.length >= MAX_PROBLEMS) break;
        yield;
      }
      return found;
    },
  };
}
