/** PostgreSQL protocol messages as text: one entry per round trip, with statements and values. */

interface Sending {
  waiting: Buffer;
  /** Earlier messages, those of the connection startup, have no type. */
  begun: boolean;
  prepared: Map<string, string>;
  flight: string[];
}

export interface Wire {
  /** Receives what a connection has sent, in pieces. */
  feed(sent: Buffer, connection: number): void;
  /** The round trips since the last call, in order. */
  take(): string[][];
}

export function createWire(): Wire {
  const connections = new Map<number, Sending>();
  let flights: string[][] = [];

  const onMessage = (source: Sending, type: string, body: Buffer): void => {
    if (type === 'Q') flights.push([body.toString('utf8', 0, body.length - 1)]);
    if (type === 'P') {
      const [name = '', text = ''] = body.toString('utf8').split('\0');
      source.prepared.set(name, text);
    }
    if (type === 'B') {
      const { statement, values } = bound(body);
      source.flight.push(
        `${source.prepared.get(statement) ?? statement}${values.length === 0 ? '' : ` -- ${values.join(' | ')}`}`,
      );
    }
    if (type !== 'S') return;
    if (source.flight.length > 0) flights.push(source.flight);
    source.flight = [];
  };

  return {
    feed(sent, connection) {
      const source = connections.get(connection) ?? {
        waiting: Buffer.alloc(0),
        begun: false,
        prepared: new Map(),
        flight: [],
      };
      connections.set(connection, source);
      source.waiting = Buffer.concat([source.waiting, sent]);
      for (;;) {
        const head = source.begun ? 1 : 0;
        if (source.waiting.length < head + 4) return;
        const length = source.waiting.readInt32BE(head);
        if (source.waiting.length < head + length) return;
        const body = source.waiting.subarray(head + 4, head + length);
        if (source.begun) onMessage(source, String.fromCharCode(source.waiting[0] ?? 0), body);
        source.begun = true;
        source.waiting = source.waiting.subarray(head + length);
      }
    },
    take: () => {
      // An empty query only keeps a slow transaction alive.
      const taken = flights.filter(([text]) => text !== '');
      flights = [];
      return taken;
    },
  };
}

/** The statement of a Bind message and its values as text. */
function bound(body: Buffer): { statement: string; values: string[] } {
  const portal = body.indexOf(0) + 1;
  const end = body.indexOf(0, portal);
  let at = end + 1;
  const next16 = (): number => body.readInt16BE((at += 2) - 2);
  const formats = next16();
  at += 2 * formats;
  const values = Array.from({ length: next16() }, () => {
    const length = body.readInt32BE(at);
    at += 4;
    if (length < 0) return 'NULL';
    at += length;
    return body.toString('utf8', at - length, at);
  });
  return { statement: body.toString('utf8', portal, end), values };
}
