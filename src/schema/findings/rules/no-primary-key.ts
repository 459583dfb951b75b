import { type CollectionNode, isFolder, primaryKeyOf, extrasOf } from '../../model/state.js';
import type { PlannedEvent, Rule } from '../model.js';

export const noPrimaryKey: Rule = {
  code: 'NO_PRIMARY_KEY',
  level: 'warn',
  standing: true,
  title: 'No primary key',
  what: 'A table is created without a primary key, or loses its primary key.',
  why: 'Rows cannot be identified: no relation can reference them, logical replication cannot update them, and the trash cannot keep values of a deleted field.',
  safer: 'Add a primary key. A partition has that of its table.',
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

/** A table that never had a key is reported once, when it is created. */
const hadKey = ({ event, before }: PlannedEvent): boolean =>
  event.type === 'collection.created'
    ? event.data.restored === undefined
    : event.type === 'collection.adopted' || (before !== undefined && hasKey(before));
