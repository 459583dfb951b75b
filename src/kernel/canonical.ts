/** Canonical JSON: one text for one value, whatever the order its members were written in. After RFC 8785. */

/**
 * Members sorted by UTF-16 code unit, no white space, numbers and strings as ECMAScript writes them (which is what
 * RFC 8785 asks for). Members whose value is undefined are left out, as JSON.stringify does.
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

/** `"member":`. Documents repeat the same few names, which need no escaping. */
function nameText(member: string): string {
  return PLAIN.test(member) ? `"${member}":` : `${JSON.stringify(member)}:`;
}

const PLAIN = /^\w+$/;
