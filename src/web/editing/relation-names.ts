/** Suggests free names. */
export interface DraftedNames {
  /** Tables that can be referenced. */
  collections: readonly string[];
  /** All names in use, including folders. */
  taken: ReadonlySet<string>;
}

/** `articles_tags`, then `articles_tags_1` … */
export function freeName(wanted: string, taken: ReadonlySet<string>): string {
  let name = wanted;
  for (let count = 1; taken.has(name); count++) name = `${wanted}_${count}`;
  return name;
}

/** @returns the error of each name, by its input */
export function namesFaults(
  given: Readonly<Record<string, string>>,
  needed: readonly string[],
): Record<string, string> {
  return Object.fromEntries(
    needed.filter((name) => (given[name] ?? '').trim() === '').map((name) => [name, 'Enter a name.']),
  );
}
