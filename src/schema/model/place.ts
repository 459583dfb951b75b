/**
 * Places of a schema as text: where findings are, what acknowledgements and arguments of `dps` name. Names may have dots in
 * them, so that these are escaped there: each text names one place.
 */

/** A collection, or a field of one; neither: the schema as a whole. */
export interface SchemaPlace {
  collection?: string | null | undefined;
  field?: string | null | undefined;
}

/** `articles`, `articles.title`; in a name `%2E` is a dot, `%2C` a comma (lists have commas), `%25` a percent sign. */
export const placeText = ({ collection, field }: SchemaPlace): string =>
  [collection, field]
    .filter((name) => name !== undefined && name !== null)
    .map((name) => name.replaceAll(/[%.,]/g, (found) => ESCAPED[found] ?? found))
    .join('.');

const ESCAPED: Readonly<Record<string, string>> = { '%': '%25', '.': '%2E', ',': '%2C' };

/** What is wrong with a text that is no place, as the end of a sentence. */
export const NO_PLACE =
  'a place is a collection or a field of one (articles.title); in a name, %2E stands for a dot, %2C for a comma and %25 for a percent sign';

/** The text of what a text names: another one of the same place, where more is escaped in it than has to be. */
export function samePlace(text: string): string | undefined {
  const place = readPlace(text);
  return place && placeText(place);
}

/** What a text names, whatever is escaped in it; undefined: it is no place. */
export function readPlace(text: string): SchemaPlace | undefined {
  if (text === '') return {};
  try {
    const [collection = '', field, ...more] = text.split('.').map(decodeURIComponent);
    if (collection === '' || field === '' || more.length > 0) return undefined;
    return field === undefined ? { collection } : { collection, field };
  } catch {
    // A stray percent sign.
    return undefined;
  }
}
