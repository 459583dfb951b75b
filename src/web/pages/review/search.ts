/** What is reviewed stands in the address; nothing: the draft. */
export interface ReviewSearch {
  /** A moment to go back to: a position or a time. */
  to?: string | number;
  /** A file that was brought, by its name in this browser. */
  file?: string;
  /** The moment that the file was made from; `now`: it is compared as it is. */
  base?: string | number;
  /** Delete collections, fields and relations that are missing from the file. */
  mirror?: true;
  /** The file may be of another release, vendor or service. */
  force?: true;
  /** A change request. */
  change?: string;
  /** What was applied: its batch. */
  done?: string;
  /** Something is to be brought, whatever is drafted. */
  bring?: true;
}

const MOMENT = /^[0-9A-Za-z:.+-]{1,64}$/;
const ID = /^[0-9a-f-]{36}$/;

/** Leaves out what has not the shape of a moment or an id. Whether there is such a thing is found out later. */
export function readReviewSearch(given: Record<string, unknown>): ReviewSearch {
  const found: ReviewSearch = {};
  for (const name of ['to', 'base'] as const) {
    const moment = given[name];
    // A position is a number, so that the address has no quotes.
    if (typeof moment === 'number' || (typeof moment === 'string' && MOMENT.test(moment))) found[name] = moment;
  }
  for (const name of ['file', 'change', 'done'] as const) {
    const id = given[name];
    if (typeof id === 'string' && ID.test(id)) found[name] = id;
  }
  for (const flag of ['mirror', 'force', 'bring'] as const) if (given[flag] === true) found[flag] = true;
  return found;
}
