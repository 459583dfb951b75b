/** A running service, for commands that talk to it. */
import { readFile } from 'node:fs/promises';
import { OperatorError } from '../operator-error.js';
import { type Invocation, text } from './command.js';

export const SERVICE_OPTIONS = { url: { type: 'string' }, token: { type: 'string' } } as const;

export const SERVICE_HELP = `  --url URL          where the service runs; DPS_URL, else http://127.0.0.1:8055
  --token TOKEN      a token of an admin; better in DPS_TOKEN, where other users of this machine don't see it`;

export interface ServiceRequest {
  method?: 'GET' | 'POST';
  query?: Readonly<Record<string, string | undefined>>;
  /** With its content type. */
  body?: { type: string; content: Buffer };
}

/** Sends one request and returns the answer's text. @throws OperatorError when it isn't a success */
export async function ask(invocation: Invocation, path: string, request: ServiceRequest = {}): Promise<string> {
  const answer = await send(invocation, path, request);
  const content = await answer.text();
  if (!answer.ok) throw new OperatorError(refusal(answer.status, content));
  return content;
}

/** Sends one request and returns its answer, whatever it is. @throws OperatorError when there is none */
export function send(invocation: Invocation, path: string, request: ServiceRequest = {}): Promise<Response> {
  const url = address(invocation, path, request.query ?? {});
  const token = text(invocation.values, 'token') ?? invocation.environment['DPS_TOKEN'];
  const headers: Record<string, string> = {};
  if (token) headers['authorization'] = `Bearer ${token}`;
  if (request.body) headers['content-type'] = request.body.type;
  const init = { method: request.method ?? 'GET', headers, body: request.body?.content ?? null };
  return fetch(url, init).catch((cause: unknown) => {
    throw new OperatorError(`No service answers at ${url.origin}: start it, or name another address with --url.`, {
      cause,
    });
  });
}

function address(invocation: Invocation, path: string, query: Readonly<Record<string, string | undefined>>): URL {
  const base = text(invocation.values, 'url') ?? (invocation.environment['DPS_URL'] || 'http://127.0.0.1:8055');
  if (!URL.canParse(base)) throw new OperatorError(`"${base}" is no address: write it like http://127.0.0.1:8055.`);
  const url = new URL(path.replace(/^\//, ''), base.endsWith('/') ? base : `${base}/`);
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, value);
  return url;
}

/** The service's own sentences, as far as it is one. */
function refusal(status: number, content: string): string {
  try {
    const { errors } = JSON.parse(content) as { errors: { message: string; extensions?: { path?: string } }[] };
    const lines = errors.map(({ message, extensions }) =>
      extensions?.path ? `${extensions.path}: ${message}` : message,
    );
    return lines.join('\n');
  } catch {
    return `The answer was ${status}, and not from this service.`;
  }
}

/** A JSON or YAML document from a file, or from stdin (`-`). */
export async function readDocument(invocation: Invocation, file: string): Promise<{ type: string; content: Buffer }> {
  const content = file === '-' ? Buffer.from(await invocation.terminal.read()) : await readNamed(file);
  // Every JSON document is YAML too, but JSON is read faster and more strictly.
  const type = /^\s*[{[]/.test(content.toString('utf8', 0, 1024)) ? 'application/json' : 'application/yaml';
  return { type, content };
}

async function readNamed(file: string): Promise<Buffer> {
  return readFile(file).catch((cause: Error) => {
    throw new OperatorError(`${file} can't be read (${cause.message}).`, { cause });
  });
}
