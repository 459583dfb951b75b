import type { TrashEntry } from '../../service/types.js';

/** `articles`, or `articles.title` */
export const nameOf = ({ collection, field }: Pick<TrashEntry, 'collection' | 'field'>): string =>
  field === null ? collection : `${collection}.${field}`;
