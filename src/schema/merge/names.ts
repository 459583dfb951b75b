/** Which names things have after a merge: what one side renamed is called so; what both sides did must agree. */
import { byName } from '../model/state.js';
import type { ConflictKind, Side } from './model.js';

/** Something of the base, by its names. */
export interface NamedThing {
  base: string;
  /** Undefined: that side removed it. */
  ours: string | undefined;
  theirs: string | undefined;
  /** Whether a side that has it, where the other one removed it, changed it too. */
  isChanged: () => boolean;
}

export interface Naming {
  things: readonly NamedThing[];
  /** Whether a side has a thing of that name which the base doesn't have. */
  isNew(side: Side, name: string): boolean;
  /** What was decided about the name of something: by its name in the base, or the one that two things are given. */
  decided(name: string): Side | undefined;
  conflict(about: { kind: ConflictKind; message: string; base: string } & Partial<Record<Side, string>>): void;
}

/** By the name in the base, the name after the merge; of things that are called otherwise on one of the sides. */
export function mergedNames(naming: Naming): ReadonlyMap<string, string> {
  const final = new Map<string, string>();
  const things: NamedThing[] = [];
  for (const thing of naming.things) {
    const name = nameOf(thing, naming);
    // As long as it isn't decided, it is in nobody's way.
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

/** The things that one of the sides gave the name have it, or the name that the other side left them. */
function decideTaken({ decided, conflict }: Naming, { things, final, name }: Taken): void {
  const take = decided(name);
  const given = things.filter(({ base }) => final.get(base) === name);
  if (take === undefined) conflict({ kind: 'name_taken', message: TAKEN, base: name, ...namesGiven(given, name) });
  for (const thing of given) final.set(thing.base, thing[take ?? 'ours'] ?? thing.base);
}

const TAKEN = 'the two sides gave this name to two things';

/** What had another name before, by the side that gave it this one. */
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

/** Those that a name is for, once merged; what one side removed and the other didn't touch is gone. */
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
