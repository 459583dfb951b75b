/** Similar tables by their field names. */
import { runToEnd } from '../../../src/kernel/resumable.js';
import { similarTables } from '../../../src/schema/compare/looks-renamed.js';

export const table = (name: string, fields: string) => ({ name, fields: new Set(fields.split(' ')) });

/** `removed → added` of each pair. */
export const renamePairs = (gone: ReturnType<typeof table>[], come: ReturnType<typeof table>[]): string[] =>
  runToEnd(similarTables(gone, come)).map((pair) => pair.join(' → '));
