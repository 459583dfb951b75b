/** What of a collection's page stands in its address. */
import { EDITS, type EditName } from '../../editing/edit-names.js';

export const TABS = ['fields', 'relations', 'table', 'sql', 'history'] as const;
export type Tab = (typeof TABS)[number];

export interface CollectionSearch {
  tab?: Tab;
  /** The field that is looked at. */
  field?: string;
  edit?: EditName;
  /** The field that is edited, or the one that holds the relation. */
  of?: string;
}

/** A name of digits alone comes as a number. */
const isName = (value: unknown): value is string | number => typeof value === 'string' || typeof value === 'number';

/** Leaves out what is no tab and no form, so that any address can be opened. */
export function readCollectionSearch({ tab, field, edit, of }: Record<string, unknown>): CollectionSearch {
  const found: CollectionSearch = {};
  if (TABS.some((each) => each === tab)) found.tab = tab as Tab;
  if (isName(field)) found.field = String(field);
  if (EDITS.some((each) => each === edit)) found.edit = edit as EditName;
  if (isName(of)) found.of = String(of);
  return found;
}
