/** Groups: collections in collections, fields in fields. A chain of them ends, and stays among what can group. */
import { quoted } from '../../kernel/quoted.js';

/** One level of groups, as the chain of a name is walked. */
export interface Grouping {
  /** What `name` stands in; a sentence when it is nothing that can group others. */
  parentOf: (name: string) => { group: string | null } | string;
  /** Groups whose chain was walked to its end: many chains that share groups are walked once. */
  sound: Set<string>;
}

/** Why `name` can't stand in `group`; undefined when it can. */
export function groupFault(name: string, group: string | null, { parentOf, sound }: Grouping): string | undefined {
  const seen = new Set([name]);
  for (let at = group; at !== null && !sound.has(at);) {
    if (seen.has(at)) return `group ${quoted(group)} makes a cycle: ${quoted(at)} would be inside itself`;
    seen.add(at);
    const parent = parentOf(at);
    if (typeof parent === 'string') return parent;
    at = parent.group;
  }
  // Not the name itself: whether it can group others is not checked yet.
  seen.delete(name);
  for (const each of seen) sound.add(each);
  return undefined;
}
