/** Checks whether a diff is empty. */
import type { SchemaDiff } from '../../../service/types.js';

/** A missing part counts as empty. */
export const isEmptyDiff = ({ collections = [], fields = [], relations = [] }: Partial<SchemaDiff>): boolean =>
  collections.length + fields.length + relations.length === 0;
