/** What of a collection's page stands in its address. */
export const TABS = ['fields', 'relations', 'table', 'sql', 'history'] as const;
export type Tab = (typeof TABS)[number];

export interface CollectionSearch {
  tab?: Tab;
  /** The field that is looked at. */
  field?: string;
}

export function readCollectionSearch({ tab, field }: Record<string, unknown>): CollectionSearch {
  const found: CollectionSearch = {};
  if (TABS.some((each) => each === tab)) found.tab = tab as Tab;
  if (typeof field === 'string' || typeof field === 'number') found.field = String(field);
  return found;
}
