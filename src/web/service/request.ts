/** Requests of the user who is signed in. */
import { RefusedError } from './errors.js';
import { answerTo, type Sending, send } from './send.js';
import { accessToken, renewOrWait } from './session.js';

/** As `send`, with the session. One that has ended is renewed, by the user if need be; then the request is sent again. */
export const request = <T>(path: string, sending: Sending = {}): Promise<T> =>
  withSession((headers) => send<T>(path, { ...sending, headers: { ...sending.headers, ...headers } }));

/** The answer itself, for streams and files. */
export const requestAnswer = (path: string, sending: Sending = {}): Promise<Response> =>
  withSession((headers) => answerTo(path, { ...sending, headers: { ...sending.headers, ...headers } }));

async function withSession<T>(work: (headers: Record<string, string>) => Promise<T>): Promise<T> {
  const attempt = async () => work({ Authorization: `Bearer ${await accessToken()}` });
  try {
    return await attempt();
  } catch (error) {
    if (!(error instanceof RefusedError) || error.status !== 401) throw error;
    await renewOrWait();
    return attempt();
  }
}

/** The path with what isn't undefined, null or empty as its query. */
export function withQuery(path: string, query: Readonly<Record<string, string | number | null | undefined>>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== '');
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text === '' ? path : `${path}?${text}`;
}
