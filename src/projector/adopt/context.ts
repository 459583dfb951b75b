/** What the conversion of one table needs to know beside the table. */
import type { CollectionNode, State } from '../../schema/model/state.js';
import type { CatalogObjects } from '../catalog/objects.js';
import type { CatalogTable } from '../catalog/model.js';
import type { Note } from './note.js';

export interface Converting {
  /** PostgreSQL's schema that is managed. */
  schema: string;
  table: CatalogTable;
  objects: CatalogObjects;
  /** What is managed already. */
  state: State;
  /** Tables that are converted together, by name. */
  together: ReadonlyMap<string, CatalogTable>;
  /** The collection as it is known: where the catalog can be said in several ways, it is said as there. */
  like?: CollectionNode | undefined;
  notes: Note[];
}

/** Adds to the notes of the conversion, under the table's name. */
export function note({ table, notes }: Converting, found: Omit<Note, 'table'>): void {
  notes.push({ table: table.name, ...found });
}
