/* A client of the driver that knows the schema of the service's own tables, several hosts, and poolers. */
import type { EventEmitter } from 'node:events';
import pg from 'pg';
import { LostConnectionError, withoutValues } from './errors.js';
import type { Host } from './hosts/address.js';
import type { Hosts } from './hosts/choose-host.js';
import { nameOwnSchema } from './own-tables.js';
import { type Wire, beginWithSettings } from './pooled.js';
import { prepareNothingOn } from './preparations.js';

export interface ServiceClientConfig extends pg.ClientConfig {
  serviceSchema: string;
  /** The hosts of an address that names several. Absent or null for a single host. */
  hosts?: Hosts | null;
  /** Connects to this host only, to ask about a connection to it. */
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

/** A client that names our own tables. Everything that it sends passes through these two methods. */
export class ServiceClient extends pg.Client {
  readonly serviceSchema: string;
  readonly #hosts: Hosts | null;
  readonly #at: Host | undefined;
  readonly #timeout: number;
  /** True behind a pooler, where a session is ours only until the end of the transaction. */
  readonly pooled: boolean;
  /**
   * True if a statement may have left something in the session. Only prepared statements leave nothing: they are
   * constants of ours that read and write the service's own tables.
   */
  needsReset = false;
  /** The server process, as the server reports it. Undefined until a transaction has asked, and behind a pooler. */
  session: Backend | undefined;

  constructor(config: ServiceClientConfig) {
    super(config);
    // The pool adds its listener only after `connect`. A server may end the session right after its first
    // ReadyForQuery, and an error event without a listener ends the process. Queries are rejected anyway.
    this.on('error', () => undefined);
    const { serviceSchema, settings } = config;
    this.serviceSchema = serviceSchema;
    this.#hosts = config.hosts ?? null;
    this.#at = config.at;
    this.#timeout = config.connectionTimeoutMillis || Infinity;
    this.pooled = settings !== undefined;
    const { connection } = this as unknown as { connection: Wire & EventEmitter };
    // This listener is the first, so that callers, logs and documents never see values of rows.
    connection.prependListener('errorMessage', (error: pg.DatabaseError) => withoutValues(error, serviceSchema));
    if (settings !== undefined) this.#expectNoSession(connection, settings);
    const query = connection.query.bind(connection);
    const parse = connection.parse.bind(connection);
    connection.query = (text) => {
      this.needsReset = true;
      query(nameOwnSchema(text, serviceSchema));
    };
    connection.parse = (message, more) => {
      if (!message.name) this.needsReset = true;
      parse({ ...message, text: nameOwnSchema(message.text, serviceSchema) }, more);
    };
  }

  /** Connects like the driver. With several hosts it waits for a suitable one. */
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
    this.query = ((config: unknown, ...more: unknown[]) => query(unnamed(config), ...more)) as typeof this.query;
  }
}

/** Removes the name under which the server would keep the statement. */
function unnamed(config: unknown): unknown {
  const isNamed = typeof config === 'object' && config !== null && 'name' in config && !('submit' in config);
  return isNamed ? { ...config, name: undefined } : config;
}

/** True if a pooler is between the server and this client of ours. */
export const isPooled = (client: pg.ClientBase): boolean => (client as unknown as ServiceClient).pooled;

/** Returns a statement as this client sends it, for display. @param client one of ours */
export const asSent = <T extends string>(client: pg.ClientBase, text: T): T =>
  nameOwnSchema(text, (client as unknown as ServiceClient).serviceSchema) as T;

/* Identifies the server process of a transaction, to find it from another connection. */

export interface Backend {
  pid: number;
  /**
   * Start of the session, because process ids repeat after a crash of a server in a container. Behind a pooler, start of
   * the transaction, because the process serves another client as soon as it ends. Null if unknown.
   */
  since: string | null;
}

/** Columns of a statement in the transaction, for `backendOf`. */
export const BACKEND = 'pg_backend_pid() AS backend, now()::text AS began';

/** @param row with the columns of `BACKEND` */
export function backendOf(client: pg.ClientBase, row: Record<string, unknown> | undefined): Backend {
  if (!isPooled(client)) return sessionOf(client) ?? { pid: Number(row?.['backend']), since: null };
  return { pid: Number(row?.['backend']), since: String(row?.['began']) };
}

/** The server process of a connection that has asked `SESSION`. The driver's own answer may be that of a pooler. */
export const sessionOf = (client: pg.ClientBase): Backend | undefined => (client as unknown as ServiceClient).session;

const SESSION = {
  text: `SELECT pid AS backend, backend_start::text AS began
           FROM pg_catalog.pg_stat_get_activity(pg_catalog.pg_backend_pid())`,
};

/** Asks for the session, once for each connection. */
export const sessionQuery = (client: pg.ClientBase): typeof SESSION | undefined =>
  isPooled(client) || sessionOf(client) !== undefined ? undefined : SESSION;

/** @param row of `sessionQuery`, if it was sent */
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
  /** The server to ask, if the address names several. Process ids are only valid on their server. */
  at?: Host;
}

/**
 * Runs `work` on a separate connection like those of the pool, to ask about connections that may be dead. It bypasses a
 * pooler, whose connections may all be in use. Connecting may take `milliseconds`, and so may each query.
 */
export async function withOwnClient<T>(
  { options, at }: Target,
  milliseconds: number,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const limits = { connectionTimeoutMillis: milliseconds, query_timeout: milliseconds };
  const config = options as ServiceClientConfig;
  // Behind a pooler the host of the connection is not the server.
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
