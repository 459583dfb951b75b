/** Three-way merging: its conflicts, and what was decided about them. */
import { MAX_PROBLEMS } from '../../kernel/problem.js';
import type { Resumable } from '../../kernel/resumable.js';
import type { Json } from '../../kernel/json.js';
import type { Step } from '../diff/entries.js';

export type Part = 'collections' | 'fields' | 'relations';

/** A document, or with `path` a member of it. Of a collection without `path`: its fields and relations too. */
export interface MergePlace {
  part: Part;
  collection: string;
  field?: string;
  path?: Step[];
}

export type Side = 'ours' | 'theirs';

/**
 * - `changed`: both changed the same member, each otherwise.
 * - `removed`: one removed what the other changed.
 * - `renamed`: both gave it another name.
 * - `name_taken`: the two sides gave one name to two things.
 * - `invalid`: together they are no valid schema; the message says why.
 */
export type ConflictKind = 'changed' | 'removed' | 'renamed' | 'name_taken' | 'invalid';

export interface MergeConflict {
  kind: ConflictKind;
  place: MergePlace;
  /** A sentence for people. */
  message: string;
  /** What stands there; absent where there is nothing. */
  base?: Json;
  ours?: Json;
  theirs?: Json;
}

/** What was decided about a place. */
export interface Resolution {
  place: MergePlace;
  take: Side;
}

/** The decisions, by place; each may be asked for often, and what nobody asked for is told. */
export interface Decisions {
  at(place: MergePlace): Side | undefined;
  /** Indexes of the first of those about places where there was nothing to decide; what is below a decided place needs none. */
  unused(): Resumable<number[]>;
}

const keyOf = ({ part, collection, field, path }: MergePlace): string =>
  JSON.stringify([part, collection, field, path ?? []]);

/** The places that hold a place. */
function holdersOf({ part, collection, field, path }: MergePlace): MergePlace[] {
  const whole: MergePlace = { part: 'collections', collection };
  const document = field === undefined ? [] : [{ part, collection, field }];
  return path === undefined ? (field === undefined ? [] : [whole]) : [whole, ...document];
}

/** Of several about one place the last one counts. */
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
