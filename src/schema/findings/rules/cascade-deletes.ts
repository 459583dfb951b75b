import type { Rule } from '../model.js';
import { sized } from './common.js';

export const cascadeDeletes: Rule = {
  code: 'CASCADE_DELETES',
  level: 'note',
  standing: true,
  title: 'Cascading deletes',
  what: 'A foreign key deletes the rows that reference a deleted row. Junction rows (`junction_field`) are meant to be deleted with either side and are not reported.',
  why: 'One DELETE may delete any number of rows in one transaction. On a large table it holds locks for a long time.',
  safer: 'Delete dependent rows in batches from the application, or use `RESTRICT`.',
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
