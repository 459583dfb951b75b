export interface ObjectsSearch {
  /** The object that is shown. */
  kind?: string;
  id?: string;
  /** Opens the form for a new object. */
  new?: true;
}

export const readObjectsSearch = ({ kind, id, new: isNew }: Record<string, unknown>): ObjectsSearch => ({
  ...(typeof kind === 'string' && (typeof id === 'string' || typeof id === 'number') && { kind, id: String(id) }),
  ...(isNew === true && { new: true }),
});
