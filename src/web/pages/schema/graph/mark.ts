/** The effect of a batch on an object. */
export type Doing = 'made' | 'changed' | 'removed';

/** Or the current state: drift, a change in preparation, or an index being built. */
export type Mark = Doing | 'drift' | 'prepared' | 'indexing';

/** By collection; fields and relations by `fieldKey`. */
export interface DrawnMarks {
  collections: ReadonlyMap<string, Mark>;
  /** For collections that stay. */
  fields: ReadonlyMap<string, Mark>;
  relations: ReadonlyMap<string, Mark>;
}

/** A unique text for a pair of names. */
export const fieldKey = ({ collection, field }: { collection: string; field: string }): string =>
  JSON.stringify([collection, field]);
