/** The names of tables and renamed columns that an event gives; those of new columns come with their fields. */
import { hasColumn, hasTable } from './common.js';
import type { PlannedEvent } from '../model.js';

export interface GivenName {
  name: string;
  /** null: of the collection. */
  field: string | null;
  label: string;
}

export function namesGiven({ event, after, batch }: PlannedEvent): GivenName[] {
  const { collection } = event;
  switch (event.type) {
    case 'collection.created':
    case 'collection.adopted':
      return event.data.collection.schema === null ? [] : [{ name: collection, field: null, label: collection }];
    case 'collection.renamed':
      return hasTable(batch.after, event.data.to) ? [{ name: event.data.to, field: null, label: event.data.to }] : [];
    case 'field.renamed': {
      const { to } = event.data;
      return hasColumn(after?.fields.get(to)) ? [{ name: to, field: to, label: `${collection}.${to}` }] : [];
    }
    default:
      return [];
  }
}
