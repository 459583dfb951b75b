export interface ReferenceSearch {
  /** The id of the open operation. */
  op?: string;
}

/** Unknown ids open none. */
export const readReferenceSearch = ({ op }: Record<string, unknown>): ReferenceSearch =>
  typeof op === 'string' ? { op } : {};
