/** A proxy that can fall silent: sockets stay open and forward nothing, like a firewall that drops state. */
import net from 'node:net';
import { Transform } from 'node:stream';

export interface Proxy {
  /** The address of the server through the proxy. */
  connectionString: string;
  /** The number of connections so far. */
  connections(): number;
  /** Stops forwarding in both directions. New connections still work. */
  fallSilent(): void;
  /** Stops forwarding from the server on the current connections. Data from the client still passes. */
  muffle(): void;
  /**
   * Handles everything a client sends: forwards it, closes the connection after or instead of that, or stops responding
   * after or instead of that with open sockets. The server may also receive it after its client is gone. `connection`:
   * its number.
   */
  intercept(judge: (sent: Buffer, connection: number) => Verdict): void;
  /**
   * While enabled, a silenced connection sends the client a meaningless message from time to time, so that the client
   * cannot detect the silence.
   */
  murmur(on: boolean): void;
  /** Forwards what was to pass later. */
  passNow(): void;
  /** Ends all connections. */
  cut(): void;
  /** The treatment of new connections: forwarded, refused, or accepted and left waiting. */
  answer(how: 'through' | 'refused' | 'never'): void;
  /** Ends all connections. New ones connect to another server with the same database and user. */
  leadTo(target: string): void;
  close(): Promise<void>;
}

export type Verdict =
  'pass' | 'pass and hang up' | 'hang up' | 'hang up and pass later' | 'pass and fall silent' | 'fall silent';

/** PostgreSQL may send this at any time: the value of a setting. */
const PARAMETER_STATUS = Buffer.from('S\0\0\0\u0017application_name\0x\0', 'latin1');

interface Link {
  client: net.Socket;
  server: net.Socket;
}

export async function startProxy(target: string): Promise<Proxy> {
  const url = new URL(target);
  const { hostname } = url;
  let { port } = url;
  const links = new Set<Link>();
  const delayed: (() => void)[] = [];
  let count = 0;
  let mode: 'through' | 'refused' | 'never' = 'through';

  let judge: (sent: Buffer, connection: number) => Verdict = () => 'pass';

  let murmurs = false;
  const murmurTo = (client: net.Socket): void => {
    const timer = setInterval(() => murmurs && client.write(PARAMETER_STATUS), 100);
    client.on('close', () => clearInterval(timer));
  };

  const silence = (socket: net.Socket): void => {
    socket.unpipe();
    socket.resume();
  };
  const proxy = net.createServer((client) => {
    count += 1;
    const number = count;
    client.on('error', () => client.destroy());
    if (mode === 'refused') client.destroy();
    if (mode !== 'through') {
      client.resume();
      return;
    }
    const link = { client, server: net.connect(Number(port), hostname) };
    links.add(link);
    let deaf = false;
    const watch = new Transform({
      transform: (sent: Buffer, _encoding, forward) => {
        if (deaf) return forward();
        const verdict = judge(sent, number);
        if (verdict.startsWith('pass')) forward(null, sent);
        if (verdict === 'pass') return;
        if (verdict.endsWith('fall silent')) {
          deaf = true;
          silence(link.server);
          murmurTo(link.client);
          if (verdict === 'fall silent') forward();
          return;
        }
        if (verdict === 'hang up and pass later') delayed.push(() => void link.server.write(sent));
        link.client.off('close', hangUp);
        link.client.destroy();
      },
    });
    const hangUp = (): void => void link.server.destroy();
    link.client.pipe(watch).pipe(link.server).pipe(link.client);
    link.client.on('close', hangUp);
    link.server.on('error', () => link.client.destroy());
    link.server.on('close', () => link.client.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  url.host = `127.0.0.1:${(proxy.address() as net.AddressInfo).port}`;

  const cut = (): void => {
    for (const { client, server } of links) {
      client.destroy();
      server.destroy();
    }
    links.clear();
  };
  return {
    connectionString: url.href,
    connections: () => count,
    fallSilent: () => {
      for (const { client, server } of links) {
        silence(client);
        silence(server);
      }
    },
    muffle: () => {
      for (const { server } of links) silence(server);
    },
    murmur: (on) => {
      murmurs = on;
    },
    intercept: (value) => {
      judge = value;
    },
    passNow: () => {
      for (const each of delayed.splice(0)) each();
    },
    cut,
    leadTo: (other) => {
      ({ port } = new URL(other));
      cut();
    },
    answer: (value) => {
      mode = value;
    },
    close: async () => {
      cut();
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}
