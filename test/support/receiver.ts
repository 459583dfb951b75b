/** A receiver of webhooks on a free port of this machine. */
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';

interface Received {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
}

/** Answers a request. It may also leave it unanswered. */
type Respond = (response: ServerResponse, received: Received) => void | Promise<void>;

export interface Receiver {
  url: string;
  port: number;
  /** Requests in the order of their arrival. */
  received: Received[];
  /** Replaces the response, which is 204 by default. */
  respond: Respond;
  /** Closes all connections and the port. */
  stop(): Promise<void>;
  /** Listens on the same port again. */
  start(): Promise<void>;
}

const accept: Respond = (response) => void response.writeHead(204).end();

/**
 * The caller stops it.
 * @param port for a receiver that is restarted (`freePort`); otherwise the system chooses one
 */
export async function startReceiver(port = 0): Promise<Receiver> {
  const server = createServer((request, response) => {
    void readText(request).then(
      (body) => {
        const received = { method: request.method ?? '', path: request.url ?? '', headers: request.headers, body };
        receiver.received.push(received);
        return receiver.respond(response, received);
      },
      () => undefined,
    );
  });
  const start = (): Promise<void> => new Promise((resolve) => server.listen(receiver.port, '127.0.0.1', resolve));
  const receiver: Receiver = {
    url: '',
    port,
    received: [],
    respond: accept,
    start,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  await start();
  receiver.port = (server.address() as AddressInfo).port;
  receiver.url = `http://127.0.0.1:${receiver.port}/hook`;
  return receiver;
}
