/** A client of the driver's that knows where the service's own tables are. */
import pg from 'pg';
import { nameOwnSchema } from './own-tables.js';

interface Wire {
  query(text: string): void;
  parse(message: { text: string }, more?: boolean): void;
}

export interface ServiceClientConfig extends pg.ClientConfig {
  serviceSchema: string;
}

/** A client that knows where our own tables are. Whatever is sent goes through these two. */
export class ServiceClient extends pg.Client {
  readonly serviceSchema: string;

  constructor(config: ServiceClientConfig) {
    super(config);
    const { serviceSchema } = config;
    this.serviceSchema = serviceSchema;
    const connection = (this as unknown as { connection: Wire }).connection;
    const query = connection.query.bind(connection);
    const parse = connection.parse.bind(connection);
    connection.query = (text) => query(nameOwnSchema(text, serviceSchema));
    connection.parse = (message, more) => parse({ ...message, text: nameOwnSchema(message.text, serviceSchema) }, more);
  }
}

/** A statement as this client sends it: for showing. @param client one of ours */
export const asSent = <T extends string>(client: pg.ClientBase, text: T): T =>
  nameOwnSchema(text, (client as unknown as ServiceClient).serviceSchema) as T;
