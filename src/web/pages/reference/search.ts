/** What of the reference stands in its address. */
export interface ReferenceSearch {
  /** The operation that is looked at, by its id. */
  op?: string;
}

/** An id that no operation has opens none. */
export const readReferenceSearch = ({ op }: Record<string, unknown>): ReferenceSearch =>
  typeof op === 'string' ? { op } : {};
