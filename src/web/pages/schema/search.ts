/** What of the schema page stands in its address, so that a link shows what I see. */
export const DEPTHS = ['names', 'keys', 'columns'] as const;
export type Depth = (typeof DEPTHS)[number];

export interface SchemaSearch {
  /** The chosen collection. */
  c?: string;
  /** How much of each table the diagram shows; `keys` unless said. */
  depth?: Depth;
  /** Steps around the chosen collection that the diagram shows; all of it unless said. */
  near?: 1 | 2;
  /** Hidden collections are shown as well. */
  hidden?: true;
  /** The language that collections are called in; by their own names unless said. */
  lang?: string;
  /** The position of the log that is shown; the schema as it is unless said. */
  at?: number;
  /** What the database has otherwise is marked. */
  drift?: true;
}

/** Leaves out what can't be; a collection or a moment that isn't there is found out later. */
export function readSchemaSearch(given: Record<string, unknown>): SchemaSearch {
  const found: SchemaSearch = {};
  const { c, depth, near, hidden, lang, at, drift } = given;
  // A name of digits alone comes as a number.
  if (typeof c === 'string' || typeof c === 'number') found.c = String(c);
  if (DEPTHS.some((each) => each === depth)) found.depth = depth as Depth;
  if (near === 1 || near === 2) found.near = near;
  if (hidden === true) found.hidden = true;
  if (typeof lang === 'string') found.lang = lang;
  if (isPosition(at)) found.at = at;
  return { ...found, ...(drift === true && { drift }) };
}

const isPosition = (given: unknown): given is number =>
  typeof given === 'number' && Number.isSafeInteger(given) && given >= 0;
