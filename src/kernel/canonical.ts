/** Canonical JSON after RFC 8785: equal values have the same text, whatever the order of their members. */

/**
 * Sorts members by UTF-16 code unit and writes no white space. Numbers and strings follow ECMAScript, as RFC 8785
 * requires. Omits members whose value is undefined, as JSON.stringify does.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) {
    let text = '[';
    for (let index = 0; index < value.length; index++) text += (index === 0 ? '' : ',') + canonicalJson(value[index]);
    return text + ']';
  }
  return canonicalObject(value as Record<string, unknown>);
}

function canonicalObject(object: Record<string, unknown>): string {
  const members = Object.keys(object).sort();
  let text = '{';
  for (const member of members) {
    const value = object[member];
    if (value === undefined) continue;
    if (text !== '{') text += ',';
    text += nameText(member);
    text += typeof value === 'object' && value !== null ? canonicalJson(value) : JSON.stringify(value);
  }
  return `${text}}`;
}

/** Returns `"member":`. Documents repeat few names, so the texts are remembered. */
function nameText(member: string): string {
  return PLAIN.test(member) ? `"${member}":` : `${JSON.stringify(member)}:`;
}

const PLAIN = /^\w+$/;
