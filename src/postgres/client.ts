/** A client of the driver's that knows where the service's own tables are, and which of several hosts to connect to. */
import pg from 'pg';
import { LostConnectionError } from './errors.js';
import type { Host } from './hosts/address.js';
import type { Hosts } from './hosts/index.js';
import { nameOwnSchema } from './own-tables.js';

interface Wire {
  query(text: string): void;
  parse(message: { text: string }, more?: boolean): void;
}

export interface ServiceClientConfig extends pg.ClientConfig {
  serviceSchema: string;
  /** Of an address with several hosts; absent or null: the address names the one there is. */
  hosts?: Hosts | null;
  /** This one and no other, whatever is chosen: for questions about a connection to it. */
  at?: Host | undefined;
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

  constructor(config: ServiceClientConfig) {
    super(config);
    const { serviceSchema } = config;
    this.serviceSchema = serviceSchema;
    this.#hosts = config.hosts ?? null;
    this.#at = config.at;
    this.#timeout = config.connectionTimeoutMillis || Infinity;
    const connection = (this as unknown as { connection: Wire }).connection;
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
}

/** A statement as this client sends it: for showing. @param client one of ours */
export const asSent = <T extends string>(client: pg.ClientBase, text: T): T =>
  nameOwnSchema(text, (client as unknown as ServiceClient).serviceSchema) as T;
