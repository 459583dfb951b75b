/** Names of the prepared statements of a connection. */
import type pg from 'pg';

/** Maximum prepared statements per connection, so that varying texts do not fill the server's memory. */
const PREPARED_AT_MOST = 100;

export interface Preparations {
  /** Statement text to name. */
  names: Map<string, string>;
  /** Number of assigned names, including failed statements. A name is never reused. */
  given: number;
}

const preparations = new WeakMap<object, Preparations>();

/** Behind a pooler, prepared statements may be lost, or visible to other clients. */
export function prepareNothingOn(connection: object): void {
  preparations.set(connection, { names: new Map(), given: PREPARED_AT_MOST });
}

/** The caller adds prepared statements to the result. Empty for a new connection. */
export function preparationsOn(connection: pg.Connection): Preparations {
  let known = preparations.get(connection);
  if (known === undefined) preparations.set(connection, (known = { names: new Map(), given: 0 }));
  return known;
}

/** Returns an empty name, for a statement that is not kept, once the limit is reached. */
export function nextName(known: Preparations): string {
  if (known.given >= PREPARED_AT_MOST) return '';
  known.given += 1;
  return `batch_${known.given}`;
}
