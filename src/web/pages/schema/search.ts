const DEPTHS = ['names', 'keys', 'columns'] as const;
export type Depth = (typeof DEPTHS)[number];

export interface SchemaSearch {
  /** The selected collection. */
  c?: string;
  /** How much of each table is shown; `keys` by default. */
  depth?: Depth;
  /** Shows only this many steps around the selected collection. */
  near?: 1 | 2;
  /** The diagram shows only the tables in this folder. */
  folder?: string;
  /** Shows hidden collections. */
  hidden?: true;
  /** The language of collection names; their own names by default. */
  lang?: string;
  /** The shown position of the log; the current schema by default. */
  at?: number;
  /** Marks drift. */
  drift?: true;
}

/**
 * Reads the query of the address. Invalid values are ignored. A later check finds collections and positions that do not
 * exist.
 */
export function readSchemaSearch(search: Record<string, unknown>): SchemaSearch {
  const valid: SchemaSearch = { ...namesOf(search) };
  const { depth, near, hidden, lang, at, drift } = search;
  if (DEPTHS.some((each) => each === depth)) valid.depth = depth as Depth;
  if (near === 1 || near === 2) valid.near = near;
  if (hidden === true) valid.hidden = true;
  if (typeof lang === 'string') valid.lang = lang;
  if (isPosition(at)) valid.at = at;
  return { ...valid, ...(drift === true && { drift }) };
}

/** The address parses a name of digits as a number. */
const namesOf = (search: Record<string, unknown>): Pick<SchemaSearch, 'c' | 'folder'> =>
  Object.fromEntries(
    (['c', 'folder'] as const).flatMap((member) => {
      const name = search[member];
      return typeof name === 'string' || typeof name === 'number' ? [[member, String(name)]] : [];
    }),
  );

const isPosition = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
