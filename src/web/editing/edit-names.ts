/** The editing forms of a collection. */
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
  'definitions',
] as const;
export type EditName = (typeof EDITS)[number];
