/** Swaps keys and values. The values must be unique. */
export const invertMap = <K, V>(map: ReadonlyMap<K, V>): Map<V, K> =>
  new Map([...map].map(([key, value]) => [value, key]));
