/*
 * Sends several messages in one flight, without waiting, and reads their results. The driver would wait after each
 * query.
 */
import type pg from 'pg';
import { ExchangeError, LostConnectionError } from './errors.js';

/** Rows of one statement. Empty for commands without rows. */
interface Result<Row> {
  /** The command tag: `INSERT 0 3`, `COMMIT`. */
  command: string;
  rows: Row[];
}

type StatementResult = Result<Record<string, unknown>>;

/** A statement with parameters. jsonb and other types are sent as text. */
export interface Parameterised {
  text: string;
  values?: readonly Value[];
  /** True if the text varies between calls. The server then keeps no prepared statement for it. */
  once?: boolean;
}

/** The value of a parameter. Arrays of strings are sent as text[]. */
type Value = string | number | boolean | null | readonly string[];

interface RowDescription {
  fields: { name: string; dataTypeID: number; format: 'text' }[];
}

type Column = { name: string; parse: (text: string) => unknown };

/** Converts a row to a value. */
type ConvertRow<Row> = (columns: readonly Column[], fields: readonly (string | null)[]) => Row;

/** Writes the messages of one exchange. The last one must make the server send ReadyForQuery. */
type Write = (connection: pg.Connection) => void;

interface ExchangeOptions<Row> {
  write: Write;
  toRow: ConvertRow<Row>;
  /** Called in the order of the statements, when the last row of each has arrived. */
  onRows?: (rows: Row[]) => void;
  /** Called for each completed statement, even if its rows cannot be parsed. */
  onCompleted?: () => void;
}

function toObject(columns: readonly Column[], fields: readonly (string | null)[]): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  columns.forEach(({ name, parse }, index) => {
    row[name] = valueOf(parse, fields[index]);
  });
  return row;
}

function toArray(columns: readonly Column[], fields: readonly (string | null)[]): unknown[] {
  return columns.map(({ parse }, index) => valueOf(parse, fields[index]));
}

function valueOf(parse: Column['parse'], text: string | null | undefined): unknown {
  return text === null || text === undefined ? null : parse(text);
}

/**
 * The methods that pg's client calls for incoming messages (pg/lib/client.js). They follow the order of the protocol.
 * So results are counted by CommandComplete, and an error belongs to the next statement.
 */
class Exchange<Row> implements pg.Submittable {
  readonly done: Promise<Result<Row>[]>;
  readonly #results: Result<Row>[] = [];
  #resolve!: (results: Result<Row>[]) => void;
  #reject!: (error: Error) => void;
  #columns: Column[] = [];
  #rows: Row[] = [];
  #parseError: unknown;
  #isSent = false;
  readonly #options: ExchangeOptions<Row>;
  readonly #types: Pick<pg.ClientBase, 'getTypeParser'>;

  constructor(options: ExchangeOptions<Row>, types: Pick<pg.ClientBase, 'getTypeParser'>) {
    this.#options = options;
    this.#types = types;
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** Sends the messages. The driver does not call this if the connection is lost while the exchange is queued. */
  submit(connection: pg.Connection): Error | null {
    // A closed socket discards what is written to it, before the driver learns that it is closed.
    if (!connection.stream.writable) return new LostConnectionError('the connection is closed');
    this.#isSent = true;
    // Corking the socket combines the messages into one packet if they fit.
    connection.stream.cork();
    try {
      this.#options.write(connection);
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
    try {
      this.#rows.push(this.#options.toRow(this.#columns, message.fields));
    } catch (error) {
      this.#parseError ??= error;
    }
  }

  handleCommandComplete(message: { text: string }): void {
    this.#results.push({ command: message.text, rows: this.#rows });
    this.#options.onCompleted?.();
    if (this.#parseError === undefined) this.#options.onRows?.(this.#rows);
    this.#rows = [];
    this.#columns = [];
  }

  handleEmptyQuery(): void {
    this.handleCommandComplete({ text: '' });
  }

  handleReadyForQuery(): void {
    if (this.#parseError !== undefined) this.handleError(this.#parseError);
    else this.#resolve(this.#results);
  }

  handleError(error: unknown): void {
    this.#reject(new ExchangeError(error, this.#results, { isSent: this.#isSent }));
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

/**
 * Sends parameterised statements with one Sync after the last, in one round trip. Each has its own snapshot. After an
 * error the server skips the rest, including a COMMIT. A text is prepared when it is first sent on a connection, which
 * saves a sixth of the time of a small command. So texts should be constants.
 * @throws ExchangeError
 */
export function sendBatch(client: pg.ClientBase, statements: readonly Parameterised[]): Promise<StatementResult[]> {
  let named: ReturnType<typeof nameStatements> | undefined;
  return exchange(client, {
    write(connection) {
      const { names, isNew } = (named = nameStatements(preparationsOn(connection), statements));
      for (const [index, { text, values }] of statements.entries()) {
        const name = names[index] ?? '';
        if (isNew[index] === true) connection.parse({ text, name, types: [] }, true);
        execute(connection, name, values);
      }
      connection.sync();
    },
    toRow: toObject,
    onCompleted: () => named?.onCompleted(),
  });
}

function execute(
  connection: pg.Connection,
  statement: string,
  values: Parameterised['values'] = [],
  toText = textOf,
): void {
  connection.bind({ statement, values: values.map(toText) }, true);
  connection.describe({ type: 'P', name: '' }, true);
  connection.execute({}, true);
}

function textOf(value: Value): string | null {
  if (value === null) return null;
  if (typeof value !== 'object') return String(value);
  return `{${value.map((each) => `"${each.replaceAll(/["\\]/g, '\\$&')}"`).join(',')}}`;
}

function memoizeTextOf(): typeof textOf {
  const textByValue = new Map<Value, string | null>();
  return (value) => {
    const text = textByValue.get(value) ?? textOf(value);
    textByValue.set(value, text);
    return text;
  };
}

/**
 * Sends reading statements in one round trip. It returns a promise of rows (as arrays) for each, settled when its last
 * row has arrived. So the caller processes early results while the server continues. The statements are not kept on the
 * connection.
 * @throws ExchangeError from each promise that has not settled
 */
export function sendReads(client: pg.ClientBase, statements: readonly Parameterised[]): Promise<unknown[][]>[] {
  const answers = statements.map(createDeferredRows);
  const left = answers.values();
  const done = exchange(client, {
    write(connection) {
      // The statements share their parameters, so ten thousand names are encoded once.
      const toText = memoizeTextOf();
      for (const { text, values } of statements) {
        connection.parse({ text, name: '', types: [] }, true);
        execute(connection, '', values, toText);
        // Without a flush, the server keeps the last rows until its buffer is full.
        connection.flush();
      }
      connection.sync();
    },
    toRow: toArray,
    onRows: (rows) => left.next().value?.resolve(rows),
  });
  done.catch((error: unknown) => {
    for (const { reject } of answers) reject(error);
  });
  return answers.map(({ rows }) => rows);
}

function createDeferredRows() {
  let resolve!: (rows: unknown[][]) => void;
  let reject!: (error: unknown) => void;
  const rows = new Promise<unknown[][]>((...both) => ([resolve, reject] = both));
  // Prevents an unhandled rejection, because the caller may still be awaiting another promise.
  rows.catch(() => undefined);
  return { rows, resolve, reject };
}

function send(client: pg.ClientBase, write: Write): Promise<StatementResult[]> {
  return exchange(client, { write, toRow: toObject });
}

function exchange<Row>(client: pg.ClientBase, options: ExchangeOptions<Row>): Promise<Result<Row>[]> {
  const made = new Exchange(options, client);
  client.query(made);
  return made.done;
}

/* Sends statements of one flight by name, so that inserting a statement cannot mix up the results. */

/**
 * Like `sendBatch`, with names in the order of the members. Undefined statements are not sent and return no rows.
 * @throws ExchangeError with the name of the failed statement in `at`
 */
export async function sendNamed<Name extends string>(
  client: pg.ClientBase,
  statements: Readonly<Record<Name, Parameterised | undefined>>,
): Promise<Record<Name, StatementResult['rows']>> {
  const entries = Object.entries(statements) as [Name, Parameterised | undefined][];
  const sent = entries.flatMap(([name, statement]) => (statement === undefined ? [] : [{ name, statement }]));
  const results = await sendBatch(
    client,
    sent.map(({ statement }) => statement),
  ).catch((error: unknown) => {
    if (!(error instanceof ExchangeError)) throw error;
    const { cause, results: finished, isSent } = error;
    throw new ExchangeError(cause, finished, { at: sent[finished.length]?.name, isSent });
  });
  const rows = new Map(sent.map(({ name }, index) => [name, results[index]?.rows ?? []]));
  return Object.fromEntries(entries.map(([name]) => [name, rows.get(name) ?? []])) as Record<
    Name,
    StatementResult['rows']
  >;
}

/* Sends a long list of statements in few messages. */

/** Characters of SQL per message. The server parses a whole message before it runs the first statement. */
const CHARACTERS_PER_MESSAGE = 1_000_000;

/**
 * Runs statements in order until the first error. Each is exactly one SQL statement without a final semicolon. Call it
 * inside a transaction.
 * @returns one result per statement
 * @throws ExchangeError, whose `results` contain those of all finished statements
 */
export async function runScript(client: pg.ClientBase, statements: readonly string[]): Promise<StatementResult[]> {
  const results: StatementResult[] = [];
  for (const message of messages(statements)) {
    try {
      results.push(...(await sendScript(client, message)));
    } catch (error) {
      if (!(error instanceof ExchangeError)) throw error;
      throw new ExchangeError(error.cause, [...results, ...error.results], error);
    }
  }
  return results;
}

function* messages(statements: readonly string[]): Iterable<string> {
  let gathered: string[] = [];
  let length = 0;
  for (const statement of statements) {
    if (length > 0 && length + statement.length > CHARACTERS_PER_MESSAGE) {
      yield gathered.join(';\n');
      gathered = [];
      length = 0;
    }
    gathered.push(statement);
    length += statement.length + 2;
  }
  if (gathered.length > 0) yield gathered.join(';\n');
}

/* Names of the prepared statements of a connection. */

/** Maximum prepared statements per connection, so that varying statements do not fill the server's memory. */
const PREPARED_AT_MOST = 100;

interface Preparations {
  /** Maps the SQL of statements to names. */
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
