/** The context in which one table is converted. */
import type { CollectionNode, State } from '../../schema/model/state.js';
import type { CatalogObjects } from '../catalog/objects.js';
import type { CatalogTable } from '../catalog/model.js';
import type { Note } from './note.js';

export interface Converting {
  schema: string;
  table: CatalogTable;
  objects: CatalogObjects;
  state: State;
  /** Tables converted in the same operation, by name. */
  together: ReadonlyMap<string, CatalogTable>;
  /** The collection in the current state. Where several representations are equal, the conversion uses this one. */
  like?: CollectionNode | undefined;
  notes: Note[];
}

/** Records a note under the table's name. */
export function note({ table, notes }: Converting, found: Omit<Note, 'table'>): void {
  notes.push({ table: table.name, ...found });
}
