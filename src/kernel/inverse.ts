/** Of pairs, each once on either side: what leads to which. */
export const inverse = <K, V>(map: ReadonlyMap<K, V>): Map<V, K> =>
  new Map([...map].map(([key, value]) => [value, key]));
