/** An HTTP client for tests: any method and body, with the response as one value. */
import { connect } from 'node:net';
import { expectPlaces } from '../http/places.js';
import { expectContract } from './contract.js';
import type { TestService } from './service.js';

export interface Reply {
  status: number;
  headers: Headers;
  text: string;
  /** The body as JSON; undefined otherwise. */
  json: unknown;
  /** The error codes in the body. */
  codes: string[];
}

export interface Send {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Buffer | FormData | ReadableStream;
  /** null for none; the admin's by default. */
  token?: string | null;
}

/** fetch would request a coding by itself, and each coding has its own tag. */
const AS_IT_IS = { 'accept-encoding': 'identity' };

export type Client = (path: string, send?: Send) => Promise<Reply>;

export function clientOf({ url, adminToken }: TestService): Client {
  return async (path, { method = 'GET', headers = {}, body, token = adminToken } = {}) => {
    const authorization: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` };
    const init: RequestInit = { method, headers: { ...AS_IT_IS, ...authorization, ...headers } };
    // Streams need `duplex`, which the types lack.
    if (body !== undefined) Object.assign(init, { body, duplex: 'half' });
    const answer = await fetch(url + path, init);
    const text = await answer.text();
    const json = parse(text);
    expectPlaces({ path, headers, body }, answer.status, json);
    expectContract({
      method,
      path,
      sent: jsonSent(init, headers),
      status: answer.status,
      contentType: answer.headers.get('content-type'),
      received: json,
    });
    return { status: answer.status, headers: answer.headers, text, json, codes: codesOf(json) };
  };
}

/**
 * A user chooses a password, as after someone else created the account. Their sessions end.
 * @param client of any service; the user must be an admin
 */
export async function choosePassword(
  client: Client,
  user: { id: string; email: string; password: string },
): Promise<void> {
  const own = await signIn(client, user);
  const changed = await client(`/users/${user.id}`, { ...json({ password: user.password }, 'PATCH'), token: own });
  if (changed.status !== 200) throw new Error(changed.text);
}

/** @returns the access token of a new session */
export async function signIn(client: Client, login: { email: string; password: string }): Promise<string> {
  const { email, password } = login;
  const { json: body, text } = await client('/auth/login', { ...json({ email, password }), token: null });
  const token = (body as { data?: { access_token: string } } | undefined)?.data?.access_token;
  if (token === undefined) throw new Error(text);
  return token;
}

/** A JSON body. */
export const json = (value: unknown, method = 'POST'): Send => ({
  method,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(value),
});

/** Sends raw bytes and returns everything until the connection ends. An open connection is a failure. */
export function sendRaw(url: string, text: string, { hangUp = false } = {}): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(Number(port), hostname, () => {
      socket.write(text, () => {
        if (hangUp) socket.destroy();
      });
    });
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', reject);
    socket.on('close', () => resolve(Buffer.concat(chunks).toString('latin1')));
  });
}

/** The body of a request as JSON; undefined otherwise. */
function jsonSent({ body }: RequestInit, headers: Record<string, string>): unknown {
  const type = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? '';
  return typeof body === 'string' && /^application\/json\b/i.test(type) ? parse(body) : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function codesOf(body: unknown): string[] {
  const { errors = [] } = (body ?? {}) as { errors?: { extensions: { code: string } }[] };
  return errors.map(({ extensions }) => extensions.code);
}
