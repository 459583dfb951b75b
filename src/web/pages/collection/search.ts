import { EDITS, type EditName } from '../../editing/edit-names.js';

export const TABS = ['fields', 'relations', 'table', 'rows', 'sql', 'history'] as const;
export type Tab = (typeof TABS)[number];

export interface CollectionSearch {
  tab?: Tab;
  /** The selected field. */
  field?: string;
  edit?: EditName;
  /** The field to edit, or the field of the relation. */
  of?: string;
}

/** True for a name. The address parses a name of digits as a number. */
const isName = (value: unknown): value is string | number => typeof value === 'string' || typeof value === 'number';

/** Reads the query of the address. Unknown tabs and forms are ignored, so that every address can be opened. */
export function readCollectionSearch({ tab, field, edit, of }: Record<string, unknown>): CollectionSearch {
  const search: CollectionSearch = {};
  if (TABS.some((each) => each === tab)) search.tab = tab as Tab;
  if (isName(field)) search.field = String(field);
  if (EDITS.some((each) => each === edit)) search.edit = edit as EditName;
  if (isName(of)) search.of = String(of);
  return search;
}
