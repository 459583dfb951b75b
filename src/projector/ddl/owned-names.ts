/** The names of a table's own constraints and indexes: the service's, unless they were adopted with others. */
import { indexName, primaryKeyName, uniqueName } from '../../schema/constraint-names.js';
import type { CollectionNode } from '../../schema/state.js';
import { primaryKeyOf } from '../../schema/state.js';
import type { ColumnField } from './column.js';

export function primaryKeyNameOf(node: CollectionNode): string {
  const { collection, schema } = node.collection;
  const [only, ...more] = primaryKeyOf(node);
  const own = more.length === 0 ? only?.schema?.extras?.primary_key_name : undefined;
  return schema?.extras?.primary_key?.name ?? own ?? primaryKeyName(collection);
}

export function uniqueNameOf({ collection, field, schema }: ColumnField): string {
  return schema.extras?.unique_name ?? uniqueName(collection, field);
}

export function indexNameOf({ collection, field, schema }: ColumnField): string {
  return schema.extras?.index_name ?? indexName(collection, field);
}
