/*
 * Sends the requests of a tool to the routes of this process. They pass through the same server as requests from the
 * network, with the credentials and the address of the agent, so that roles, limits and the log treat them alike.
 */
import { type IncomingMessage, type RequestListener, type Server, createServer, request } from 'node:http';
import { duplexPair } from 'node:stream';

/** Thrown if the service rejects a request or does not respond. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
  /** The errors in the response. They may contain names and text from users. */
  readonly errors: unknown;

  constructor(errors: unknown) {
    super('The service rejected the request from the tool.');
    this.errors = errors;
  }
}

type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** The requests that tools may send. */
export interface ToolService {
  readonly release: string;
  /** @throws ToolError */
  get(path: string, query?: Query): Promise<unknown>;
  /** @throws ToolError */
  post(path: string, body: unknown, query?: Query): Promise<unknown>;
}

/** Builds a path and encodes each value, so that a name cannot reach another route. */
export const path = (texts: TemplateStringsArray, ...values: readonly string[]): string =>
  texts.map((text, index) => text + encodeURIComponent(values[index] ?? '')).join('');

/** The headers that the tools copy from the agent's request. */
const FORWARDED = ['authorization', 'host', 'traceparent', 'x-forwarded-for', 'x-log-position-at-least'] as const;

/** Maximum size of a response in bytes. Parsing a larger one would block the process. */
const MAX_BYTES = 4 * 1024 ** 2;

const servers = new WeakMap<RequestListener, Server>();

function serverOf(app: RequestListener): Server {
  const server = servers.get(app) ?? createServer({ requireHostHeader: false }, app);
  servers.set(app, server);
  return server;
}

export interface AgentRequest {
  req: IncomingMessage;
  app: RequestListener;
  requestId: string;
  release: string;
  /** Aborted when the agent disconnects. */
  signal: AbortSignal;
}

export function createToolService(agent: AgentRequest): ToolService {
  const { req, release } = agent;
  const headers: Record<string, string> = {
    'user-agent': `${req.headers['user-agent'] ?? ''} (mcp)`.trim(),
    'x-request-id': agent.requestId,
  };
  for (const name of FORWARDED) {
    const value = req.headers[name];
    if (value !== undefined) headers[name] = String(value);
  }
  return {
    release,
    get: (to, query) => send(agent, { method: 'GET', path: to + textOf(query), headers }),
    post: (to, body, query) => {
      const content = Buffer.from(JSON.stringify(body));
      const json = { 'content-type': 'application/json', 'content-length': String(content.length) };
      return send(agent, { method: 'POST', path: to + textOf(query), headers: { ...headers, ...json }, content });
    },
  };
}

function textOf(query: Query = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value));
  return parameters.size === 0 ? '' : `?${parameters.toString()}`;
}

interface ToolRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  content?: Buffer;
}

async function send({ req, app, signal }: AgentRequest, { content, ...sent }: ToolRequest): Promise<unknown> {
  const [near, far] = duplexPair();
  serverOf(app).emit('connection', Object.assign(far, { remoteAddress: req.socket.remoteAddress }));
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const sending = request({ ...sent, createConnection: () => near, signal });
    sending.once('response', resolve).on('error', reject).end(content);
  });
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > MAX_BYTES) throw new ToolError([{ message: TOO_LARGE, extensions: { code: 'CONTENT_TOO_LARGE' } }]);
  }
  return read(answer.statusCode ?? 0, Buffer.concat(chunks).toString());
}

const TOO_LARGE = 'The response is too large for a tool. Request less: one collection, or a smaller limit.';

function read(status: number, text: string): unknown {
  const body: unknown = text === '' ? null : JSON.parse(text);
  if (status >= 200 && status <= 299) return body;
  throw new ToolError((body as { errors?: unknown } | null)?.errors ?? [{ message: `Status ${status}.` }]);
}
