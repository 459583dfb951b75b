/** What of the change requests stands in the address. */
export interface ChangesSearch {
  /** The one that is looked at, by its id. */
  change?: string;
}

export const readChangesSearch = ({ change }: Record<string, unknown>): ChangesSearch =>
  typeof change === 'string' ? { change } : {};
