/**
 * Sets the session settings behind a pooler. Each transaction may use another session, in an unknown state. The
 * settings are therefore sent with every text that begins a transaction, explicitly or implicitly. Their results are
 * hidden from the driver. This costs no round trip.
 */

/** The methods of the driver's connection that this module wraps. */
export interface Wire {
  query(text: string): void;
  parse(message: { text: string; name?: string; types?: number[] }, more?: boolean): void;
  bind(message: object, more?: boolean): void;
  execute(message: object, more?: boolean): void;
  emit(event: string, ...given: unknown[]): boolean;
}

/** Matches a text that begins a transaction, possibly after a ROLLBACK. Our texts contain nothing else before BEGIN. */
const BEGINS = /^\s*(?:ROLLBACK\s*;\s*)?(?:BEGIN|START\s+TRANSACTION)\b[^;]*/i;

const ENDS = /^\s*(?:COMMIT|ROLLBACK)\b(?!\s+TO\b)/i;

/**
 * A transaction inherits read-only mode from its session and cannot change it later. A session that another client left
 * read-only would reject every change, so it is reset. The default of the database or role still applies.
 */
const BEFORE = ['BEGIN', 'RESET default_transaction_read_only', 'COMMIT'];

/** Makes every transaction on a connection begin with the statement `settings`. */
export function beginWithSettings(connection: Wire, settings: string): void {
  const preamble = new Preamble(connection, settings);
  const { query, parse, execute, emit } = bound(connection);
  connection.query = (text) => query(preamble.withSettings(text));
  connection.parse = (message, more) => {
    preamble.beforeStatement(message.text);
    parse(message, more);
  };
  connection.execute = (message, more) => {
    execute(message, more);
    preamble.afterStatement();
  };
  connection.emit = (event, ...args) => (preamble.hides(event, args[0]) ? true : emit(event, ...args));
}

const bound = (connection: Wire): Wire => ({
  query: connection.query.bind(connection),
  parse: connection.parse.bind(connection),
  bind: connection.bind.bind(connection),
  execute: connection.execute.bind(connection),
  emit: connection.emit.bind(connection),
});

/** Tracks where the settings are in a flight of messages, and which results belong to them. */
class Preamble {
  readonly #settings: string;
  readonly #wire: Wire;
  /** True if the settings are in effect for the next statement. */
  #holds = false;
  /**
   * Counts for the current flight: the statements sent, which of them are settings, and the statements that have
   * finished.
   */
  #sent = 0;
  readonly #ours = new Set<number>();
  #finished = 0;
  /** How the statement that is being sent affects the transaction. */
  #effect: 'begins' | 'ends' | null = null;

  constructor(connection: Wire, settings: string) {
    this.#wire = bound(connection);
    this.#settings = settings;
  }

  /** Inserts the settings into the text of a simple query. */
  withSettings(text: string): string {
    const [begin] = BEGINS.exec(text) ?? [];
    // An empty query begins no transaction.
    if (begin === undefined && (this.#holds || text === '')) return text;
    const before = this.#holds ? [] : BEFORE;
    const first = begin === undefined ? [] : begin.split(';');
    const at = before.length + first.length;
    for (const index of [...before.keys(), at]) this.#ours.add(index);
    const rest = begin === undefined ? `; ${text}` : text.slice(begin.length);
    return `${[...before, ...first, this.#settings].join('; ')}${rest}`;
  }

  beforeStatement(text: string): void {
    this.#effect = BEGINS.test(text) ? 'begins' : ENDS.test(text) ? 'ends' : null;
    if (this.#effect === 'ends' || this.#holds) return;
    for (const each of BEFORE) this.#send(each);
    if (this.#effect === null) this.#send(this.#settings);
    this.#holds = true;
  }

  afterStatement(): void {
    this.#sent += 1;
    if (this.#effect === 'begins') this.#send(this.#settings);
    if (this.#effect === 'ends') this.#holds = false;
  }

  #send(text: string): void {
    this.#ours.add(this.#sent);
    this.#sent += 1;
    this.#wire.parse({ text, name: '', types: [] }, true);
    this.#wire.bind({}, true);
    this.#wire.execute({}, true);
  }

  /** True if an incoming message is a result of the settings. */
  hides(event: string, message: unknown): boolean {
    const ours = this.#ours.has(this.#finished);
    switch (event) {
      case 'rowDescription':
      case 'dataRow': {
        return ours;
      }
      case 'commandComplete':
      case 'emptyQuery': {
        this.#finished += 1;
        return ours;
      }
      case 'readyForQuery': {
        this.#landed((message as { status?: string } | undefined)?.status ?? 'I');
        return false;
      }
      default: {
        return false;
      }
    }
  }

  #landed(status: string): void {
    this.#holds = status !== 'I';
    this.#sent = this.#finished = 0;
    this.#ours.clear();
  }
}
