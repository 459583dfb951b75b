/** A conflict in words. */
export interface ShownConflict {
  key: string;
  /** The label of the object: `articles.title`. */
  name: string;
  path: readonly (string | number)[];
  base: string;
  theirs: string;
  mine: string;
  /** The reason if the values do not show it. */
  why?: string;
}

export type Choice = 'mine' | 'theirs';
