/** New names of tables and renamed columns. Names of new columns are checked with their fields. */
import { hasColumn, hasTable } from '../../model/state.js';
import type { Observed, PlannedEvent } from '../model.js';

export interface GivenName {
  name: string;
  label: string;
  /** By new names, as in a diff. */
  place: Pick<Observed, 'collection' | 'field'>;
}

/** Empty for folders, aliases and all other events. */
export function namesGiven({ event, after, batch }: PlannedEvent): GivenName[] {
  const { collection } = event;
  switch (event.type) {
    case 'collection.created':
    case 'collection.adopted':
      return event.data.collection.schema === null ? [] : [ofTable(collection)];
    case 'collection.renamed':
      return hasTable(batch.after, event.data.to) ? [ofTable(event.data.to)] : [];
    case 'field.renamed': {
      const { to } = event.data;
      const given = { name: to, label: `${collection}.${to}`, place: { field: to } };
      return hasColumn(after?.fields.get(to)) ? [given] : [];
    }
    default:
      return [];
  }
}

const ofTable = (name: string): GivenName => ({ name, label: name, place: { collection: name, field: null } });
