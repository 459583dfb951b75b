/** The names of the statements that are prepared on a connection. */
import type pg from 'pg';

/** Prepared on one connection at most: texts that are different each time must not fill the server's memory. */
const PREPARED_AT_MOST = 100;

export interface Preparations {
  /** text → name */
  names: Map<string, string>;
  /** How many names were given, to statements that failed too: a name is never given twice. */
  given: number;
}

const preparations = new WeakMap<object, Preparations>();

/** Behind a pooler: what is prepared on a session is met by others there, or is gone. */
export function prepareNothingOn(connection: object): void {
  preparations.set(connection, { names: new Map(), given: PREPARED_AT_MOST });
}

/** What is to be added to as statements are prepared; empty for a connection that is met for the first time. */
export function preparationsOn(connection: pg.Connection): Preparations {
  let known = preparations.get(connection);
  if (known === undefined) preparations.set(connection, (known = { names: new Map(), given: 0 }));
  return known;
}

/** Empty, for a statement that isn't kept, when there are enough. */
export function nextName(known: Preparations): string {
  if (known.given >= PREPARED_AT_MOST) return '';
  known.given += 1;
  return `batch_${known.given}`;
}
