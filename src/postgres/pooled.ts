/**
 * Connections through a pooler: the session behind them is another one for each transaction, and may have been left in
 * any state. So the settings go along with whatever begins a transaction, explicit or not, and their results are hidden
 * from whoever waits for those of the statements. It costs no round trip.
 */

/** What we use of the driver's connection. */
export interface Wire {
  query(text: string): void;
  parse(message: { text: string; name?: string; types?: number[] }, more?: boolean): void;
  bind(message: object, more?: boolean): void;
  execute(message: object, more?: boolean): void;
  emit(event: string, ...given: unknown[]): boolean;
}

/** A transaction that is begun, perhaps after another one's end: in our texts nothing else comes first. */
const BEGINS = /^\s*(?:ROLLBACK\s*;\s*)?(?:BEGIN|START\s+TRANSACTION)\b[^;]*/i;

const ENDS = /^\s*(?:COMMIT|ROLLBACK)\b(?!\s+TO\b)/i;

/**
 * What a transaction takes from its session as it starts, and nothing in it can put right: a session that another client
 * left read-only refuses every change, and one that the database or the account makes so has to.
 */
const BEFORE = ['BEGIN', 'RESET default_transaction_read_only', 'COMMIT'];

/** Makes every transaction on a connection begin with `settings`, a statement. */
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
  connection.emit = (event, ...given) => (preamble.hides(event, given[0]) ? true : emit(event, ...given));
}

const bound = (connection: Wire): Wire => ({
  query: connection.query.bind(connection),
  parse: connection.parse.bind(connection),
  bind: connection.bind.bind(connection),
  execute: connection.execute.bind(connection),
  emit: connection.emit.bind(connection),
});

/** Where the settings come in a flight of messages, and which of its results are theirs. */
class Preamble {
  readonly #settings: string;
  readonly #wire: Wire;
  /** The settings hold for what comes next. */
  #holds = false;
  /** Of the flight under way: statements sent, those of them that are ours, and how many have finished. */
  #sent = 0;
  readonly #ours = new Set<number>();
  #finished = 0;
  /** What the statement that is being sent does to the transaction. */
  #effect: 'begins' | 'ends' | null = null;

  constructor(connection: Wire, settings: string) {
    this.#wire = bound(connection);
    this.#settings = settings;
  }

  /** The text of a simple query, with the settings where they belong. */
  withSettings(text: string): string {
    const [begin] = BEGINS.exec(text) ?? [];
    // An empty query begins nothing.
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

  /** Whether what has come in is a result of the settings. */
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
