/**
 * Locations in the schema as text, for findings, acknowledgements and arguments of `dps`. Dots in names are escaped, so
 * that each text has one meaning.
 */

/** The location of a collection or a field. Without either, the location of the whole schema. */
export interface SchemaLocation {
  collection?: string | null | undefined;
  field?: string | null | undefined;
}

/**
 * Formats a location as `articles` or `articles.title`. Within a name `%2E` is a dot, `%2C` a comma (lists contain
 * commas) and `%25` a percent sign.
 */
export const locationText = ({ collection, field }: SchemaLocation): string =>
  [collection, field]
    .filter((name) => name !== undefined && name !== null)
    .map((name) => name.replaceAll(/[%.,]/g, (character) => ESCAPED[character] ?? character))
    .join('.');

const ESCAPED: Readonly<Record<string, string>> = { '%': '%25', '.': '%2E', ',': '%2C' };

/** The message about an invalid location, as the end of a sentence. */
export const INVALID_LOCATION =
  'a place is a collection or a field (articles.title); in a name, write %2E for a dot, %2C for a comma and %25 for a percent sign';

/** Returns the canonical text of a location, which escapes no more than necessary. */
export function canonicalLocation(text: string): string | undefined {
  const location = parseLocation(text);
  return location && locationText(location);
}

/** Parses a location. Undefined if it is invalid. */
export function parseLocation(text: string): SchemaLocation | undefined {
  if (text === '') return {};
  try {
    const [collection = '', field, ...more] = text.split('.').map(decodeURIComponent);
    if (collection === '' || field === '' || more.length > 0) return undefined;
    return field === undefined ? { collection } : { collection, field };
  } catch {
    // The text contains an invalid percent escape.
    return undefined;
  }
}
