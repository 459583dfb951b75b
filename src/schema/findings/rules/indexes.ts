import { type CollectionNode, isFolder, primaryKeyOf, extrasOf } from '../../model/state.js';
import type { PlannedEvent, Rule, Relation, SaferWay } from '../model.js';
import { isDeletion } from '../../model/events.js';
import { rateBySize, findAdded } from './common.js';
import { indexKeys } from '../../sql-text/definitions.js';

export const dropsIndex: Rule = {
  code: 'DROPS_INDEX',
  level: 'note',
  title: 'Index is dropped',
  what: 'An index is dropped from an existing table.',
  why: 'Queries that used it read the whole table. Dropping it takes a short exclusive lock.',
  safer: 'Check in pg_stat_user_indexes whether it is used.',
  levels: 'Depends on the size of the table; at most `warn`.',
  aliases: {
    squawk: ['require-concurrent-index-deletion', 'ban-drop-index'],
    strong_migrations: ['remove_index'],
    atlas: ['PG102'],
  },
  statement(statement, planned) {
    const dropped = statement.drops.find(({ kind }) => kind === 'index');
    const { collection, field } = statement.source;
    if (dropped === undefined || isDeletion(statement.source)) return undefined;
    const object = { kind: dropped.kind, name: dropped.name };
    const message = `${statement.summary}: queries that use it will read the whole table`;
    return { message, field, object, ...rateBySize(planned, dropped.table ?? collection, 'warn') };
  },
};

/** Indexes with more columns are reported, because further columns are rarely useful. */
const ENOUGH = 3;

export const indexOfManyColumns: Rule = {
  code: 'INDEX_OF_MANY_COLUMNS',
  level: 'note',
  standing: true,
  title: 'Index on many columns',
  what: 'A non-unique index has more than three columns.',
  why: 'The first columns narrow a search. Each further column makes the index larger and every write slower.',
  safer: 'Keep the most selective columns and omit the others.',
  aliases: { strong_migrations: ['add_index_columns'] },
  event: (planned) =>
    findAdded(planned, 'indexes').flatMap(({ name, unique, definition }) =>
      unique !== true && indexKeys(definition).length > ENOUGH
        ? [
            {
              message: `index ${name} of ${planned.event.collection} has ${indexKeys(definition).length} columns`,
              object: { kind: 'index', name },
            },
          ]
        : [],
    ),
};

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
      message: `${table}.${field} references ${now.one_collection}: the field has no index`,
      field,
      ...(planned.batch.isNew(table) ? { level: 'note' as const } : rateBySize(planned, table, 'warn')),
      safer: suggestIndex(after, now),
    };
  },
};

function suggestIndex(node: CollectionNode, { many_collection: table, many_field: field }: Relation): SaferWay {
  const { partition_by: by, partition_of: of } = extrasOf(node);
  if (by !== undefined || of !== undefined)
    return {
      text: 'Add the index to schema.extras.indexes of the partitioned table and of all its partitions in a snapshot. Or create it on the partitioned table in the database, which also creates it on the partitions, and accept the drift of all of them.',
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

export const noPrimaryKey: Rule = {
  code: 'NO_PRIMARY_KEY',
  level: 'warn',
  standing: true,
  title: 'No primary key',
  what: 'A table is created without a primary key, or loses its primary key.',
  why: 'Rows cannot be identified: no relation can reference them, logical replication cannot update them, and the trash cannot keep values of a deleted field.',
  safer: 'Add a primary key. A partition inherits the primary key of its table.',
  aliases: { atlas: ['CD103'] },
  event(planned) {
    const { event, before, after } = planned;
    if (after === undefined || !LOSING.has(event.type) || hasKey(after) || !hadKey(planned)) return undefined;
    const what = before === undefined ? 'create table' : 'alter table';
    return { message: `${what} ${event.collection}: it has no primary key`, field: null };
  },
};

const LOSING: ReadonlySet<string> = new Set([
  'collection.created',
  'collection.adopted',
  'collection.updated',
  'field.updated',
  'field.deleted',
]);

const hasKey = (node: CollectionNode): boolean =>
  isFolder(node) || primaryKeyOf(node).length > 0 || extrasOf(node).partition_of !== undefined;

/**
 * True if the event creates or adopts the table, or if the table had a primary key before. In all other cases the
 * missing key was already reported.
 */
const hadKey = ({ event, before }: PlannedEvent): boolean =>
  event.type === 'collection.created'
    ? event.data.restored === undefined
    : event.type === 'collection.adopted' || (before !== undefined && hasKey(before));
