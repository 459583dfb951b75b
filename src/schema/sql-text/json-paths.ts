/**
 * How many items a path of JSON may find: `$.**.**` visits everything below everything, and `$[0,0][0,0]` doubles what
 * it is given with each step. In PostgreSQL that is memory, because what is found is collected.
 */

/** A path that could find `size ** depth * lists` times as much as one value is. */
export interface PathGrowth {
  depth: number;
  lists: number;
}

/** Overestimates: what stands in the texts and regular expressions of the path counts as well. */
export function growthOfPath(path: string): PathGrowth {
  const everything = path.match(/\*\*/g)?.length ?? 0;
  // A filter looks at its own wildcards for each item that it is asked about.
  const filtered = path.includes('?') ? (path.replaceAll('**', '').match(/\*/g)?.length ?? 0) : 0;
  const lists = [...path.matchAll(/\[([^\]]*)\]/g)].map(([, items = '']) => items.split(',').length);
  return { depth: Math.max(1, everything + filtered), lists: lists.reduce((product, each) => product * each, 1) };
}
