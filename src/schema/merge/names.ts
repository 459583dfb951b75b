/** Merges names: a rename on one side applies, and renames on both sides must agree. */
import { byName } from '../model/state.js';
import type { ConflictKind, Side } from './model.js';

/** An object of the base with its names. */
export interface NamedThing {
  base: string;
  /** Undefined if that side removed it. */
  ours: string | undefined;
  theirs: string | undefined;
  /** True if one side removed it and the other changed it. */
  isChanged: () => boolean;
}

export interface Naming {
  things: readonly NamedThing[];
  /** True if a side has a new object of that name. */
  isNew(side: Side, name: string): boolean;
  /** Returns the decision about a name: by the name in the base, or the name given to two objects. */
  decided(name: string): Side | undefined;
  conflict(about: { kind: ConflictKind; message: string; base: string } & Partial<Record<Side, string>>): void;
}

/** Maps names in the base to merged names, for objects that a side renamed. */
export function mergedNames(naming: Naming): ReadonlyMap<string, string> {
  const final = new Map<string, string>();
  const things: NamedThing[] = [];
  for (const thing of naming.things) {
    const name = nameOf(thing, naming);
    // An undecided name conflicts with nothing.
    if (name === undefined) continue;
    things.push(thing);
    if (isRenamed(thing)) final.set(thing.base, name);
  }
  const holders = holdersOf(things, final);
  for (const name of [...new Set(final.values())].sort(byName)) {
    if ((holders.get(name) ?? []).length > 1 || isTaken(naming, name)) decideTaken(naming, { things, final, name });
  }
  return final;
}

interface Taken {
  things: readonly NamedThing[];
  final: Map<string, string>;
  name: string;
}

/** Objects get the name of the selected side, or keep the name of the other side. */
function decideTaken({ decided, conflict }: Naming, { things, final, name }: Taken): void {
  const take = decided(name);
  const given = things.filter(({ base }) => final.get(base) === name);
  if (take === undefined) conflict({ kind: 'name_taken', message: TAKEN, base: name, ...namesGiven(given, name) });
  for (const thing of given) final.set(thing.base, thing[take ?? 'ours'] ?? thing.base);
}

const TAKEN = 'the two sides gave this name to two things';

/** Renamed objects with this name, by side. */
const namesGiven = (things: readonly NamedThing[], name: string): Partial<Record<Side, string>> =>
  Object.fromEntries(
    (['ours', 'theirs'] as const).flatMap((side) => {
      const thing = things.find((each) => each[side] === name && each.base !== name);
      return thing === undefined ? [] : [[side, thing.base]];
    }),
  );

const isRenamed = ({ base, ours = base, theirs = base }: NamedThing): boolean => ours !== base || theirs !== base;

function nameOf({ base, ours = base, theirs = base }: NamedThing, { decided, conflict }: Naming): string | undefined {
  if (ours === theirs || theirs === base) return ours;
  if (ours === base) return theirs;
  const take = decided(base);
  if (take !== undefined) return take === 'theirs' ? theirs : ours;
  conflict({ kind: 'renamed', message: 'both gave it another name', base, ours, theirs });
  return undefined;
}

/**
 * Returns the objects that would have a name after the merge. Objects that one side removed and the other left
 * unchanged are gone.
 */
function holdersOf(
  things: readonly NamedThing[],
  final: ReadonlyMap<string, string>,
): ReadonlyMap<string, NamedThing[]> {
  const holders = new Map<string, NamedThing[]>();
  for (const thing of things) {
    const name = final.get(thing.base) ?? thing.base;
    const isThere = (thing.ours !== undefined && thing.theirs !== undefined) || thing.isChanged();
    if (isThere) holders.set(name, [...(holders.get(name) ?? []), thing]);
  }
  return holders;
}

const isTaken = ({ isNew }: Naming, name: string): boolean => isNew('ours', name) || isNew('theirs', name);
