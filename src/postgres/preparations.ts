/** Names of the prepared statements of a connection. */
import type pg from 'pg';

/** Maximum prepared statements per connection, so that varying texts do not fill the server's memory. */
const PREPARED_AT_MOST = 100;

export interface Preparations {
  /** Maps statement texts to names. */
  names: Map<string, string>;
  /** Number of names that the server has seen, including those of failed statements. They are never reused. */
  nameCount: number;
}

const preparations = new WeakMap<object, Preparations>();

/** Disables prepared statements on a connection. Behind a pooler, they may be lost, or visible to other clients. */
export function prepareNothingOn(connection: object): void {
  preparations.set(connection, { names: new Map(), nameCount: PREPARED_AT_MOST });
}

/** Returns the prepared statements of a connection. A new connection has none. */
export function preparationsOn(connection: pg.Connection): Preparations {
  let existing = preparations.get(connection);
  if (existing === undefined) preparations.set(connection, (existing = { names: new Map(), nameCount: 0 }));
  return existing;
}

interface StatementNames {
  /** Names in the order of the statements. An empty name means that the server does not keep the statement. */
  names: readonly string[];
  /** True at the index of each statement that must be parsed. */
  isNew: readonly boolean[];
  /** Called when the server has completed the next statement. */
  onCompleted(): void;
}

/**
 * Names the statements of one flight. The server parses each statement after it has completed the previous one, and
 * none after a failure. A name therefore counts only when the server reaches its statement. Later flights can reuse it.
 */
export function nameStatements(
  prepared: Preparations,
  statements: readonly { text: string; once?: boolean }[],
): StatementNames {
  const fresh = new Map<string, string>();
  const isNew: boolean[] = [];
  const names = statements.map(({ text, once = false }) => {
    const earlier = once ? undefined : (prepared.names.get(text) ?? fresh.get(text));
    isNew.push(earlier === undefined);
    if (earlier !== undefined) return earlier;
    const number = prepared.nameCount + fresh.size + 1;
    if (once || number > PREPARED_AT_MOST) return '';
    fresh.set(text, `batch_${number}`);
    return `batch_${number}`;
  });
  const isKept = (index: number): boolean => isNew[index] === true && names[index] !== '';
  let at = 0;
  const reach = (): void => void (prepared.nameCount += isKept(at) ? 1 : 0);
  reach();
  return {
    names,
    isNew,
    onCompleted: () => {
      const text = statements[at]?.text;
      if (text !== undefined && isKept(at)) prepared.names.set(text, names[at] ?? '');
      at += 1;
      reach();
    },
  };
}
