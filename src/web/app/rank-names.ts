const MOST = 30;

/** Equal names first, then prefixes, then other matches. */
export function best<T>(items: readonly T[], wanted: string, nameOf: (item: T) => string): T[] {
  const groups: [T[], T[], T[]] = [[], [], []];
  for (const item of items) {
    const name = nameOf(item).toLowerCase();
    const at = name.indexOf(wanted);
    if (at < 0) continue;
    const group = name.length === wanted.length ? groups[0] : at === 0 ? groups[1] : groups[2];
    if (group.length < MOST) group.push(item);
  }
  return groups.flat().slice(0, MOST);
}
