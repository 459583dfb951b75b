/** A place where fold, metadata rows and catalog don't say the same. */
import type { Json } from '../../kernel/json.js';

export interface Difference {
  /**
   * Which of them disagrees with the fold; `trash`: the list of what was deleted, with the log or the catalog; `changes`:
   * the rows of change requests, with their states; `accounts`: users and API tokens.
   */
  where: 'metadata' | 'catalog' | 'trash' | 'changes' | 'accounts';
  collection: string;
  field?: string;
  /** What of it: `table`, `column`, `type`, `primary key`, `index articles_title_index`, `meta.note`. */
  member: string;
  /** What the fold says; null: nothing of the kind. */
  expected: Json;
  /** What is there; null: nothing of the kind. */
  found: Json;
}
