/** What of a collection's page stands in its address. */
export const TABS = ['fields', 'relations', 'table', 'sql', 'history'] as const;
export type Tab = (typeof TABS)[number];

/** What is edited, beside the page. */
export const EDITS = [
  'collection',
  'rename',
  'delete',
  'new-field',
  'new-relation',
  'field',
  'rename-field',
  'delete-field',
  'relation',
  'delete-relation',
] as const;
export type EditName = (typeof EDITS)[number];

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

export function readCollectionSearch({ tab, field, edit, of }: Record<string, unknown>): CollectionSearch {
  const found: CollectionSearch = {};
  if (TABS.some((each) => each === tab)) found.tab = tab as Tab;
  if (isName(field)) found.field = String(field);
  if (EDITS.some((each) => each === edit)) found.edit = edit as EditName;
  if (isName(of)) found.of = String(of);
  return found;
}
