/** The change of a column. */
import type { ColumnSchema } from '../model/model.js';
import type { GivenColumn } from './types/column-type.js';

export interface ColumnChange {
  type: string;
  /** The given members, except derived ones. */
  given: GivenColumn;
  existing: ColumnSchema | null;
  /** The field type of the existing column. Members that depend on the type are reset if it changes. */
  existingType: string | undefined;
  /** True to accept the values of other vendors. */
  imported: boolean;
}
