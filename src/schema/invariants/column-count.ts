/** The maximum number of columns. */
import { quoted } from '../../kernel/quoted.js';
import { type Problem, about } from '../../kernel/problem.js';
import type { CollectionNode } from '../model/state.js';

/** MaxHeapAttributeNumber of PostgreSQL. Dropped columns count as well, which PostgreSQL checks. */
const MAX_COLUMNS = 1_600;

/** Reports the first column beyond the limit. */
export function columnCountProblems(node: CollectionNode): Problem[] {
  if (node.fields.size <= MAX_COLUMNS) return [];
  const { collection } = node.collection;
  let columns = 0;
  for (const { field, schema } of node.fields.values()) {
    if (schema !== null) columns += 1;
    if (columns <= MAX_COLUMNS) continue;
    const message = `${quoted(field)} is one column too many: a table of PostgreSQL has at most ${MAX_COLUMNS.toLocaleString('en')}; a field of type "alias" has none`;
    return [about({ kind: 'field', collection, field, member: ['field'] }, message)];
  }
  return [];
}
