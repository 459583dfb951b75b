export interface ReviewSearch {
  /** A point in time to revert to: a position or a time. */
  to?: string | number;
  /** The name of an imported file in this browser. */
  file?: string;
  /** The point in time at which the file was created. `now` compares the file with the current schema. */
  base?: string | number;
  /** True to delete collections, fields and relations that are missing from the file. */
  mirror?: true;
  /** True to accept a file of another release, vendor or service. */
  force?: true;
  /** The id of an environment whose changes are brought here. */
  environment?: string;
  /** The id of a change request. */
  change?: string;
  /** The id of the applied batch. */
  done?: string;
  /** True to review the draft. */
  draft?: true;
  /** True to show the import form first. */
  bring?: true;
}

const MOMENT = /^[0-9A-Za-z:.+-]{1,64}$/;
const ID = /^[0-9a-f-]{36}$/;

/**
 * Reads the query of the address. Invalid points in time and ids are ignored. A later check finds those that do not
 * exist.
 */
export function readReviewSearch(search: Record<string, unknown>): ReviewSearch {
  const valid: ReviewSearch = {};
  for (const name of ['to', 'base'] as const) {
    const moment = search[name];
    // A position is a number, so that the address needs no quotes.
    if (typeof moment === 'number' || (typeof moment === 'string' && MOMENT.test(moment))) valid[name] = moment;
  }
  for (const name of ['file', 'environment', 'change', 'done'] as const) {
    const id = search[name];
    if (typeof id === 'string' && ID.test(id)) valid[name] = id;
  }
  for (const flag of ['mirror', 'force', 'draft', 'bring'] as const) if (search[flag] === true) valid[flag] = true;
  return valid;
}
