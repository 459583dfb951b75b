import type { Rule } from '../model.js';
import { sized } from './common.js';

export const cascadeDeletes: Rule = {
  code: 'CASCADE_DELETES',
  level: 'note',
  standing: true,
  title: 'Deletes that cascade',
  what: 'A foreign key deletes the rows that point at a deleted one. Rows that only join two others (`junction_field`) are meant to go with either, and nothing is said of them.',
  why: 'One DELETE takes any number of rows along, in one transaction and without being asked; on a large table that holds locks for long.',
  safer: 'Let the application delete what belongs together, in batches; or `RESTRICT`, so that nothing goes unasked.',
  levels: '`note` on a new or small table, `warn` on a larger one.',
  example: {
    unsafe:
      'POST /relations {"collection": "comments", "field": "article", "related_collection": "articles", "schema": {"on_delete": "CASCADE"}}',
  },
  relation({ old, now }, planned) {
    if (now.schema?.on_delete !== 'CASCADE' || old?.schema?.on_delete === 'CASCADE') return undefined;
    if (now.junction_field !== null) return undefined;
    const { many_collection: table, many_field: field, one_collection: one } = now;
    return {
      message: `point ${table}.${field} at ${one}: a row deleted there takes all rows of ${table} along that point at it`,
      field,
      ...(planned.batch.isNew(table) ? { level: 'note' as const } : sized(planned, table, 'warn')),
    };
  },
};
