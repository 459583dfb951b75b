/** Parses the locations in errors. */

/** `theirs.fields[2]["a b"]` → `['theirs', 'fields', 2, 'a b']`. */
export function parsePlace(path: string): (string | number)[] {
  const steps: (string | number)[] = [];
  for (const [, name, index, quoted] of path.matchAll(/\.?([A-Za-z_$][\w$-]*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/g)) {
    if (index !== undefined) steps.push(Number(index));
    else steps.push(quoted === undefined ? (name ?? '') : (JSON.parse(quoted) as string));
  }
  return steps;
}
