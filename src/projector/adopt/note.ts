/** An object that a snapshot cannot represent, or can represent only in part. */
export interface Note {
  table: string | null;
  kind: string;
  name: string;
  /** A stable code such as `TRIGGER_NOT_REPRESENTED`. */
  code: string;
  message: string;
}

export interface Refused {
  table: string;
  code: 'NAME_NOT_ALLOWED' | 'COLUMN_NOT_ALLOWED' | 'PARENT_NOT_ADOPTED' | 'BELONGS_TO_EXTENSION' | 'NOT_REPRESENTABLE';
  message: string;
}
