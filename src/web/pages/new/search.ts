export interface NewSearch {
  as?: 'folder';
  /** The parent collection. */
  group?: string;
}

export function readNewSearch({ as, group }: Record<string, unknown>): NewSearch {
  return {
    ...(as === 'folder' && { as }),
    ...((typeof group === 'string' || typeof group === 'number') && { group: String(group) }),
  };
}
