/** What a column is to become, and what it was. */
import type { ColumnSchema } from '../model/model.js';
import type { GivenColumn } from './types/column-type.js';

export interface ColumnChange {
  type: string;
  /** The members that were given, derived ones aside. */
  given: GivenColumn;
  existing: ColumnSchema | null;
  /** The field type of the existing column; with another one, what belongs to the type is reset. */
  existingType: string | undefined;
  /** What other vendors write is understood. */
  imported: boolean;
}
