/* A client of the driver that knows the schema of the service's own tables and supports several hosts and poolers. */
import type { EventEmitter } from 'node:events';
import pg from 'pg';
import { LostConnectionError, removeValues } from './errors.js';
import type { Host } from './hosts/address.js';
import type { Hosts } from './hosts/choose-host.js';
import { nameOwnSchema } from './own-tables.js';
import { prepareNothingOn } from './exchange.js';

export interface ServiceClientConfig extends pg.ClientConfig {
  serviceSchema: string;
  /** The role of OBJECTS_OWNER. Absent or null if there is none. */
  objectsOwner?: string | null;
  /** The hosts of an address that lists several. Absent or null for a single host. */
  hosts?: Hosts | null;
  /** Connects only to this host, to query the state of a connection to it. */
  at?: Host | undefined;
  /** Behind a pooler: the statement that begins every transaction. */
  settings?: string;
  /** Behind a pooler: the configuration for a direct connection. */
  direct?: ServiceClientConfig;
}

type Connected = ((error: Error) => void) | ((error: null, client: pg.Client) => void);

/** Private members of the driver. */
interface Inside {
  connection: { stream: { destroyed: boolean } };
  connectionParameters: { host: string; port: number };
  _ending: boolean;
}

/** Minimum milliseconds for connecting after a host was chosen. */
const TO_CONNECT = 500;

/**
 * A client that inserts the schema name of our own tables. All SQL that it sends passes through `connection.query` and
 * `connection.parse`, which the constructor wraps.
 */
export class ServiceClient extends pg.Client {
  readonly serviceSchema: string;
  readonly objectsOwner: string | undefined;
  readonly #hosts: Hosts | null;
  readonly #at: Host | undefined;
  readonly #timeout: number;
  /**
   * The server process, as reported by the server. Undefined behind a pooler, and until a transaction has queried it.
   */
  readonly pooled: boolean;
  /**
   * True if a statement may have left settings or objects in the session. Only prepared statements cannot: they are
   * constants of ours that read and write the service's own tables.
   */
  needsReset = false;
  /** True behind a pooler. A session is then ours only until the end of the transaction. */
  session: Backend | undefined;

  constructor(config: ServiceClientConfig) {
    super(config);
    // Without a listener, an error event would end the process.
    this.on('error', () => undefined);
    const { serviceSchema, settings } = config;
    this.serviceSchema = serviceSchema;
    this.objectsOwner = config.objectsOwner ?? undefined;
    this.#hosts = config.hosts ?? null;
    this.#at = config.at;
    this.#timeout = config.connectionTimeoutMillis || Infinity;
    this.pooled = settings !== undefined;
    const { connection } = this as unknown as { connection: Wire & EventEmitter };
    /** The statements since the server was last ready. */
    let sent: string[] = [];
    connection.prependListener('readyForQuery', () => (sent = []));
    // Removes values of rows from errors before the driver's own listeners read them.
    connection.prependListener('errorMessage', (error: pg.DatabaseError) => removeValues(error, serviceSchema, sent));
    if (settings !== undefined) this.#expectNoSession(connection, settings);
    const query = connection.query.bind(connection);
    const parse = connection.parse.bind(connection);
    connection.query = (text) => {
      this.needsReset = true;
      sent.push(text);
      query(nameOwnSchema(text, serviceSchema));
    };
    connection.parse = (message, more) => {
      if (!message.name) {
        this.needsReset = true;
        sent.push(message.text);
      }
      parse({ ...message, text: nameOwnSchema(message.text, serviceSchema) }, more);
    };
  }

  /** Connects like the driver. If the address lists several hosts, it first waits for a host that matches. */
  override connect(): Promise<pg.Client>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<pg.Client> | void {
    const connecting = this.#connectTo();
    if (callback === undefined) return connecting;
    const onConnect = callback as (error: Error | null, client?: pg.Client) => void;
    connecting.then(
      () => onConnect(null, this),
      (error: unknown) => onConnect(error as Error),
    );
  }

  async #connectTo(): Promise<pg.Client> {
    const host = this.#at ?? (await this.#hosts?.choose(Math.max(TO_CONNECT, this.#timeout - TO_CONNECT)));
    if (host === undefined) return super.connect();
    const inside = this as unknown as Inside;
    if (inside._ending || inside.connection.stream.destroyed)
      throw new LostConnectionError('no host was chosen in time');
    Object.assign(this, { host: host.name, port: host.port });
    Object.assign(inside.connectionParameters, { host: host.name, port: host.port });
    try {
      await super.connect();
    } catch (error) {
      this.#hosts?.doubt();
      throw error;
    }
    if (this.#at === undefined) this.#hosts?.joined(this, host);
    return this;
  }

  #expectNoSession(connection: Wire, settings: string): void {
    beginWithSettings(connection, settings);
    prepareNothingOn(connection);
    const query = this.query.bind(this) as (...given: unknown[]) => unknown;
    this.query = ((config: unknown, ...more: unknown[]) => query(removeName(config), ...more)) as typeof this.query;
  }
}

/** Removes the name under which the server would keep the statement. */
function removeName(config: unknown): unknown {
  const isNamed = typeof config === 'object' && config !== null && 'name' in config && !('submit' in config);
  return isNamed ? { ...config, name: undefined } : config;
}

/** True if a pooler is between the server and this client. */
export const isPooled = (client: pg.ClientBase): boolean => (client as unknown as ServiceClient).pooled;

/** Returns a statement as this client sends it, for display. @param client one of our clients */
export const nameSentSchema = <T extends string>(client: pg.ClientBase, text: T): T =>
  nameOwnSchema(text, (client as unknown as ServiceClient).serviceSchema) as T;

/** Returns the role that owns managed tables and objects. Undefined if they belong to the role of the connection. */
export const objectsOwnerOf = (client: Pick<pg.ClientBase, 'query'>): string | undefined =>
  (client as Partial<ServiceClient>).objectsOwner;

/* Identifies the server process of a transaction, to find it from another connection. */

export interface Backend {
  pid: number;
  /**
   * Start time of the session, because process ids repeat after a server in a container crashes. Behind a pooler it is
   * the start of the transaction, because the process serves another client afterwards. Null if unknown.
   */
  since: string | null;
}

/** Columns of a statement in the transaction, for `backendOf`. */
export const BACKEND = 'pg_backend_pid() AS backend, now()::text AS began';

/** @param row the result of a statement with the columns of `BACKEND` */
export function backendOf(client: pg.ClientBase, row: Record<string, unknown> | undefined): Backend {
  if (!isPooled(client)) return sessionOf(client) ?? { pid: Number(row?.['backend']), since: null };
  return { pid: Number(row?.['backend']), since: String(row?.['began']) };
}

/**
 * Returns the server process of a connection that has run `SESSION`. The process id that the driver knows may come from
 * a pooler.
 */
export const sessionOf = (client: pg.ClientBase): Backend | undefined => (client as unknown as ServiceClient).session;

const SESSION = {
  text: `SELECT pid AS backend, backend_start::text AS began
           FROM pg_catalog.pg_stat_get_activity(pg_catalog.pg_backend_pid())`,
};

/** Returns the query for the server process if the connection has not run it yet. */
export const sessionQuery = (client: pg.ClientBase): typeof SESSION | undefined =>
  isPooled(client) || sessionOf(client) !== undefined ? undefined : SESSION;

/** @param row the result of `sessionQuery`, if it was sent */
export function rememberSession(client: pg.ClientBase, row: Record<string, unknown> | undefined): void {
  if (typeof row?.['began'] !== 'string') return;
  (client as unknown as ServiceClient).session = { pid: Number(row['backend']), since: row['began'] };
}

/** SQL condition: a row `a` of pg_stat_activity is the backend given by the parameters $1 and $2. */
export const IS_BACKEND =
  '(a.pid = $1::int AND ($2::timestamptz IS NULL OR $2::timestamptz IN (a.backend_start, a.xact_start)))';

/* A connection for a single query. */

/** A pool, or the configuration of one client. */
export interface Target {
  options: pg.ClientConfig;
  /** The server to connect to, if the address lists several. Process ids are only valid on their server. */
  at?: Host;
}

/**
 * Runs `work` on a separate connection with the settings of the pool, to query the state of connections that may be
 * dead. It bypasses a pooler, whose connections may all be in use. Connecting may take `milliseconds`, and so may each
 * query.
 */
export async function withOwnClient<T>(
  { options, at }: Target,
  milliseconds: number,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const limits = { connectionTimeoutMillis: milliseconds, query_timeout: milliseconds };
  const config = options as ServiceClientConfig;
  // Behind a pooler, the host of the connection is the pooler, not the server.
  const where = config.direct ?? { ...config, at };
  const client = new ServiceClient({ ...where, ...limits });
  try {
    await client.connect();
    return await work(client);
  } finally {
    // Not awaited, because closing may take as long as the work.
    client.end().catch(() => undefined);
  }
}

/*
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

/** Matches SQL that begins a transaction, possibly after a ROLLBACK. Our SQL contains nothing else before BEGIN. */
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
