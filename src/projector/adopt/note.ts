/** Something that a snapshot can't hold, or not all of it. */
export interface Note {
  /** null: it belongs to no table. */
  table: string | null;
  /** `trigger`, `view`, `index` … */
  kind: string;
  name: string;
  /** Stable: `TRIGGER_NOT_REPRESENTED`. */
  code: string;
  message: string;
}

/** A table that can't be adopted, and why. */
export interface Refused {
  table: string;
  code: 'NAME_NOT_ALLOWED' | 'COLUMN_NOT_ALLOWED' | 'PARENT_NOT_ADOPTED' | 'BELONGS_TO_EXTENSION' | 'NOT_REPRESENTABLE';
  message: string;
}
