/** The items of a diff in order of execution. */
import type { CollectionDiff, FieldDiff, RelationDiff, SchemaDiff } from './diff.js';
import { isRemoval } from './entries.js';

/** An item of a diff with its location. */
export type DiffItem =
  | { part: 'collections'; index: number; item: CollectionDiff }
  | { part: 'fields'; index: number; item: FieldDiff }
  | { part: 'relations'; index: number; item: RelationDiff };

/** Removals come first, so that new objects can take their names. */
export function itemsInOrder({ collections, fields, relations }: SchemaDiff): DiffItem[] {
  const ofFields = fields.map((item, index) => ({ part: 'fields' as const, index, item }));
  const ofRelations = relations.map((item, index) => ({ part: 'relations' as const, index, item }));
  const goes = ({ item }: DiffItem): boolean => isRemoval(item.diff);
  const comes = (each: DiffItem): boolean => !goes(each);
  return [
    ...ofRelations.filter(goes),
    ...ofFields.filter(goes),
    ...collections.map((item, index) => ({ part: 'collections' as const, index, item })),
    ...ofFields.filter(comes),
    ...ofRelations.filter(comes),
  ];
}
