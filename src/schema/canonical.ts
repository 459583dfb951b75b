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
  const object = value as Record<string, unknown>;
  let text = '';
  for (const member of Object.keys(object).sort()) {
    if (object[member] === undefined) continue;
    text += (text === '' ? '' : ',') + JSON.stringify(member) + ':' + canonicalJson(object[member]);
  }
  return `{${text}}`;
}
