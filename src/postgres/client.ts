/** A client of the driver's that knows where the service's own tables are, which host to connect to, and of a pooler. */
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
  /** Of an address with several hosts; absent or null: the address names the one there is. */
  hosts?: Hosts | null;
  /** This one and no other, whatever is chosen: for questions about a connection to it. */
  at?: Host | undefined;
  /** Behind a pooler: the statement that every transaction begins with. */
  settings?: string;
  /** Behind a pooler: the way to the server itself. */
  direct?: ServiceClientConfig;
}

type Connected = ((error: Error) => void) | ((error: null, client: pg.Client) => void);

/** What the driver keeps to itself. */
interface Inside {
  connection: { stream: { destroyed: boolean } };
  connectionParameters: { host: string; port: number };
  _ending: boolean;
}

/** Milliseconds that connecting takes at least, after a host was chosen. */
const TO_CONNECT = 500;

/** A client that knows where our own tables are. Whatever is sent goes through these two. */
export class ServiceClient extends pg.Client {
  readonly serviceSchema: string;
  readonly #hosts: Hosts | null;
  readonly #at: Host | undefined;
  readonly #timeout: number;
  /** A pooler is between: the session is ours until the end of the transaction, no longer. */
  readonly pooled: boolean;

  constructor(config: ServiceClientConfig) {
    super(config);
    // The pool adds its listener after `connect` has answered. A server that ends the session right behind its first
    // ReadyForQuery would find none, and an event without a listener ends the process. Queries are rejected anyway.
    this.on('error', () => undefined);
    const { serviceSchema, settings } = config;
    this.serviceSchema = serviceSchema;
    this.#hosts = config.hosts ?? null;
    this.#at = config.at;
    this.#timeout = config.connectionTimeoutMillis || Infinity;
    this.pooled = settings !== undefined;
    const { connection } = this as unknown as { connection: Wire & EventEmitter };
    // First of all listeners: nothing that a caller, a log or a document gets to see contains a value of a row.
    connection.prependListener('errorMessage', (error: pg.DatabaseError) => withoutValues(error, serviceSchema));
    if (settings !== undefined) this.#expectNoSession(connection, settings);
    const query = connection.query.bind(connection);
    const parse = connection.parse.bind(connection);
    connection.query = (text) => query(nameOwnSchema(text, serviceSchema));
    connection.parse = (message, more) => parse({ ...message, text: nameOwnSchema(message.text, serviceSchema) }, more);
  }

  /** As the driver's; with several hosts, to the one that is chosen, and it waits until there is one. */
  override connect(): Promise<pg.Client>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<pg.Client> | void {
    const connecting = this.#connectTo();
    if (callback === undefined) return connecting;
    const told = callback as (error: Error | null, client?: pg.Client) => void;
    connecting.then(
      () => told(null, this),
      (error: unknown) => told(error as Error),
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

/** A query without the name that the server would keep it under. */
function unnamed(config: unknown): unknown {
  const isNamed = typeof config === 'object' && config !== null && 'name' in config && !('submit' in config);
  return isNamed ? { ...config, name: undefined } : config;
}

/** Whether a pooler is between this client, one of ours, and the server. */
export const isPooled = (client: pg.ClientBase): boolean => (client as unknown as ServiceClient).pooled;

/** A statement as this client sends it: for showing. @param client one of ours */
export const asSent = <T extends string>(client: pg.ClientBase, text: T): T =>
  nameOwnSchema(text, (client as unknown as ServiceClient).serviceSchema) as T;
