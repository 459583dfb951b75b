/**
 * Estimates the number of items that a JSON path can find. `$.**.**` visits all values below all values, and
 * `$[0,0][0,0]` doubles its input with each step. PostgreSQL collects the results in memory.
 */

/** The result can be `size ** depth * lists` times as large as the value. */
export interface PathGrowth {
  depth: number;
  lists: number;
}

/** Overestimates, because it also counts text and regular expressions within the path. */
export function growthOfPath(path: string): PathGrowth {
  const everything = path.match(/\*\*/g)?.length ?? 0;
  // A filter evaluates its wildcards for each item.
  const filtered = path.includes('?') ? (path.replaceAll('**', '').match(/\*/g)?.length ?? 0) : 0;
  const lists = [...path.matchAll(/\[([^\]]*)\]/g)].map(([, items = '']) => items.split(',').length);
  return { depth: Math.max(1, everything + filtered), lists: lists.reduce((product, each) => product * each, 1) };
}
