/** One flight of messages to the server and what it answers. The driver waits after each query; this doesn't. */
import type pg from 'pg';
import { ExchangeError } from './errors.js';

/** Rows of one statement. Commands without rows have none. */
export interface StatementResult {
  /** The command tag: `INSERT 0 3`, `COMMIT`. */
  command: string;
  rows: Record<string, unknown>[];
}

/** A statement with parameters; jsonb and others go as text. */
export interface Parameterised {
  text: string;
  values?: readonly (string | number | boolean | null)[];
}

interface RowDescription {
  fields: { name: string; dataTypeID: number; format: 'text' }[];
}

type Column = { name: string; parse: (text: string) => unknown };

/** Writes the messages of one exchange; it must end with what makes the server answer ReadyForQuery. */
type Write = (connection: pg.Connection) => void;

/**
 * What pg's client calls while the answer comes in (pg/lib/client.js). It is the protocol's own order, so results can
 * be counted by the server's CommandComplete and an error belongs to the statement after the last one.
 */
class Exchange implements pg.Submittable {
  readonly results: StatementResult[] = [];
  readonly done: Promise<StatementResult[]>;
  #resolve!: (results: StatementResult[]) => void;
  #reject!: (error: Error) => void;
  #columns: Column[] = [];
  #rows: Record<string, unknown>[] = [];
  #parseError: unknown;
  readonly #write: Write;
  readonly #types: Pick<pg.ClientBase, 'getTypeParser'>;

  constructor(write: Write, types: Pick<pg.ClientBase, 'getTypeParser'>) {
    this.#write = write;
    this.#types = types;
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  submit(connection: pg.Connection): null {
    // One packet where it fits; the socket is told to wait until everything is in its buffer.
    connection.stream.cork();
    try {
      this.#write(connection);
    } finally {
      connection.stream.uncork();
    }
    return null;
  }

  handleRowDescription(message: RowDescription): void {
    this.#columns = message.fields.map(({ name, dataTypeID, format }) => ({
      name,
      parse: this.#types.getTypeParser(dataTypeID, format) as Column['parse'],
    }));
  }

  handleDataRow(message: { fields: (string | null)[] }): void {
    const row: Record<string, unknown> = {};
    try {
      this.#columns.forEach(({ name, parse }, index) => {
        const text = message.fields[index] ?? null;
        row[name] = text === null ? null : parse(text);
      });
    } catch (error) {
      this.#parseError ??= error;
    }
    this.#rows.push(row);
  }

  handleCommandComplete(message: { text: string }): void {
    this.results.push({ command: message.text, rows: this.#rows });
    this.#rows = [];
    this.#columns = [];
  }

  handleEmptyQuery(): void {
    this.handleCommandComplete({ text: '' });
  }

  handleReadyForQuery(): void {
    if (this.#parseError !== undefined) this.handleError(this.#parseError);
    else this.#resolve(this.results);
  }

  handleError(error: unknown): void {
    this.#reject(new ExchangeError(error, this.results));
  }

  handlePortalSuspended(): void {}

  handleCopyData(): void {}

  handleCopyInResponse(connection: pg.Connection & { sendCopyFail?: (why: string) => void }): void {
    connection.sendCopyFail?.('COPY is not used here');
  }
}

/**
 * Sends statements with the simple protocol as one message.
 * @throws ExchangeError
 */
export function sendScript(client: pg.ClientBase, text: string): Promise<StatementResult[]> {
  return send(client, (connection) => connection.query(text));
}

/** Prepared on one connection at most: texts that are different each time must not fill the server's memory. */
const PREPARED_AT_MOST = 100;

interface Preparations {
  /** text → name */
  names: Map<string, string>;
  /** How many names were given, to statements that failed too: a name is never given twice. */
  given: number;
}

const preparations = new WeakMap<pg.Connection, Preparations>();

/**
 * Sends parameterised statements together, with one Sync behind the last: one round trip, each with the snapshot of its
 * own moment, and after an error the server skips the rest, a COMMIT among them too. A text is prepared when it is first
 * sent on a connection, which spares a sixth of the time of a small command; so texts should be constants.
 * @throws ExchangeError
 */
export async function sendBatch(
  client: pg.ClientBase,
  statements: readonly Parameterised[],
): Promise<StatementResult[]> {
  const fresh = new Map<string, string>();
  const results = await send(client, (connection) => {
    const known = preparationsOn(connection);
    for (const { text, values } of statements) {
      let name = known.names.get(text) ?? fresh.get(text);
      if (name === undefined) {
        name = nextName(known);
        connection.parse({ text, name, types: [] }, true);
        if (name !== '') fresh.set(text, name);
      }
      const parameters = values?.map((value) => (value === null ? null : String(value))) ?? [];
      connection.bind({ statement: name, values: parameters }, true);
      connection.describe({ type: 'P', name: '' }, true);
      connection.execute({}, true);
    }
    connection.sync();
  });
  const { names } = preparationsOn((client as pg.PoolClient).connection);
  for (const [text, name] of fresh) names.set(text, name);
  return results;
}

function preparationsOn(connection: pg.Connection): Preparations {
  let known = preparations.get(connection);
  if (known === undefined) preparations.set(connection, (known = { names: new Map(), given: 0 }));
  return known;
}

/** Empty, for a statement that isn't kept, when there are enough. */
function nextName(known: Preparations): string {
  if (known.given >= PREPARED_AT_MOST) return '';
  known.given += 1;
  return `batch_${known.given}`;
}

function send(client: pg.ClientBase, write: Write): Promise<StatementResult[]> {
  const exchange = new Exchange(write, client);
  client.query(exchange);
  return exchange.done;
}
