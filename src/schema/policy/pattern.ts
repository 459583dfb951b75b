/**
 * Matches a name against a pattern, in which `*` matches any characters including none. Not a regular expression, whose
 * time could grow exponentially with the number of stars.
 */
export const fits = (pattern: string, name: string): boolean => fitting(pattern)(name);

/** Compiles the pattern for many names. */
export function fitting(pattern: string): (name: string) => boolean {
  const [first = '', ...parts] = pattern.split('*');
  const last = parts.pop();
  return last === undefined ? (name) => name === pattern : (name) => fitsParts(name, first, parts, last);
}

function fitsParts(name: string, first: string, parts: readonly string[], last: string): boolean {
  if (name.length < first.length + last.length || !name.startsWith(first) || !name.endsWith(last)) return false;
  const end = name.length - last.length;
  let at = first.length;
  for (const part of parts) {
    const found = name.indexOf(part, at);
    if (found < 0 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}
