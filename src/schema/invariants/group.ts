/** Groups of collections and of fields. A chain of groups must end, and contain only members that can group others. */
import { quoted } from '../../kernel/quoted.js';

/** One namespace of groups. */
export interface Grouping {
  /** Returns the group of `name`, or a sentence if it cannot group others. */
  parentOf: (name: string) => { group: string | null } | string;
  /** Groups with a verified chain, so that shared chains are walked once. */
  sound: Set<string>;
}

/** Returns why `name` cannot be in `group`. Undefined if it can. */
export function groupFault(name: string, group: string | null, { parentOf, sound }: Grouping): string | undefined {
  const seen = new Set([name]);
  for (let at = group; at !== null && !sound.has(at);) {
    if (seen.has(at)) return `group ${quoted(group)} makes a cycle: ${quoted(at)} would be inside itself`;
    seen.add(at);
    const parent = parentOf(at);
    if (typeof parent === 'string') return parent;
    at = parent.group;
  }
  // The name itself is excluded, because its ability to group others is not checked yet.
  seen.delete(name);
  for (const each of seen) sound.add(each);
  return undefined;
}
