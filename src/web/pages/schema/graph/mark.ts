/** What a batch did to something. */
export type Doing = 'made' | 'changed' | 'removed';

/** Or how it stands now: the database has it otherwise; a change of it is being prepared; an index of it is being made. */
export type Mark = Doing | 'drift' | 'prepared' | 'indexing';

/** By collection, and by `fieldKey` of a field and of the field that holds a relation. */
export interface DrawnMarks {
  collections: ReadonlyMap<string, Mark>;
  /** Of collections that stay. */
  fields: ReadonlyMap<string, Mark>;
  relations: ReadonlyMap<string, Mark>;
}

/** A text that no other pair of names has. */
export const fieldKey = ({ collection, field }: { collection: string; field: string }): string =>
  JSON.stringify([collection, field]);
