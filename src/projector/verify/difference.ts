/** A difference between the fold, the metadata rows and the catalog. */
import type { Json } from '../../kernel/json.js';

export interface Difference {
  /**
   * The source that disagrees with the fold. `trash`: the list of deleted objects; `changes`: the rows of change
   * requests; `accounts`: users and API tokens.
   */
  where: 'metadata' | 'catalog' | 'trash' | 'changes' | 'accounts';
  collection: string;
  field?: string;
  /** Set for an object other than a table. `collection` is then its id. */
  object?: { kind: string; id: string };
  /** The member that differs: `table`, `column`, `type`, `primary key`, `index articles_title_index`, `meta.note`. */
  member: string;
  /** The value in the fold; null if it has none. */
  expected: Json;
  /** The value in the other source; null if there is none. */
  found: Json;
}
