/** What of the page for a new collection stands in its address. */
export interface NewSearch {
  as?: 'folder';
  /** The collection that it stands in. */
  group?: string;
}

/** A name of digits alone comes as a number, and is text again. */
export function readNewSearch({ as, group }: Record<string, unknown>): NewSearch {
  return {
    ...(as === 'folder' && { as }),
    ...((typeof group === 'string' || typeof group === 'number') && { group: String(group) }),
  };
}
