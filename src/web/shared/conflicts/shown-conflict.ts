/** Something that two people made otherwise, in words. */
export interface ShownConflict {
  key: string;
  collection: string;
  field: string | null;
  path: readonly (string | number)[];
  base: string;
  theirs: string;
  mine: string;
  /** What is wrong with both together, where the values don't say it. */
  why?: string;
}

export type Choice = 'mine' | 'theirs';
