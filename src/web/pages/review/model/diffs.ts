/** Whether a diff says anything. */
import type { SchemaDiff } from '../../../service/types.js';

/** A part that is missing says nothing. */
export const isEmptyDiff = ({ collections = [], fields = [], relations = [] }: Partial<SchemaDiff>): boolean =>
  collections.length + fields.length + relations.length === 0;
