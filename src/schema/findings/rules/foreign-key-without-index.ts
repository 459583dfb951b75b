import { extrasOf, primaryKeyOf } from '../../model/state.js';
import type { CollectionNode } from '../../model/state.js';
import { indexKeys } from '../../sql-text/columns.js';
import type { Relation, Rule, SaferWay } from '../model.js';
import { sized } from './common.js';

export const foreignKeyWithoutIndex: Rule = {
  code: 'FOREIGN_KEY_WITHOUT_INDEX',
  level: 'note',
  standing: true,
  title: 'Foreign key without an index on its column',
  what: 'A relation gets a foreign key, but its many field has no index.',
  why: 'Every delete in the other table reads the whole referencing table. So does every query for the rows that reference a row.',
  safer: 'Index the field, concurrently if the table has rows.',
  levels: '`note` on a new or small table, `warn` on a larger one.',
  example: {
    unsafe: 'POST /relations {"collection": "articles", "field": "author", "related_collection": "authors"}',
    safe: 'PATCH /fields/articles/author?concurrentIndexCreation {"schema": {"is_indexed": true}}',
  },
  relation({ old, now }, planned) {
    const { after } = planned;
    if (now.schema === null || old?.schema != null || after === undefined) return undefined;
    const { many_collection: table, many_field: field } = now;
    if (after.collection.meta.singleton || hasIndex(after, field)) return undefined;
    return {
      message: `point ${table}.${field} at ${now.one_collection}: the field has no index`,
      field,
      ...(planned.batch.isNew(table) ? { level: 'note' as const } : sized(planned, table, 'warn')),
      safer: saferWay(after, now),
    };
  },
};

function saferWay(node: CollectionNode, { many_collection: table, many_field: field }: Relation): SaferWay {
  const { partition_by: by, partition_of: of } = extrasOf(node);
  if (by !== undefined || of !== undefined)
    return {
      text: 'Index the column of the partitioned table in the database and accept the drift. Its partitions get the index too.',
    };
  const path = `/fields/${encodeURIComponent(table)}/${encodeURIComponent(field)}?concurrentIndexCreation`;
  return {
    text: 'Index the field concurrently, so that nobody waits for it.',
    request: { method: 'PATCH', path, body: { schema: { is_indexed: true } } },
  };
}

function hasIndex(node: CollectionNode, field: string): boolean {
  const schema = node.fields.get(field)?.schema;
  if (schema == null || schema.is_indexed || schema.is_unique) return true;
  const [first] = extrasOf(node).primary_key?.columns ?? primaryKeyOf(node).map((key) => key.field);
  if (first === field) return true;
  return (extrasOf(node).indexes ?? []).some(({ definition }) => indexKeys(definition)[0] === field);
}
