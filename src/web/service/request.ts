/** Requests of the user who is signed in. */
import { RefusedError } from './errors.js';
import { answerTo, type Sending, send } from './send.js';
import { accessToken, renewOrWait, sessionSignal } from './session.js';

/** As `send`, with the session. One that has ended is renewed, by the user if need be; then the request is sent again. */
export const request = <T>(path: string, sending: Sending = {}): Promise<T> =>
  withSession(sending, (within) => send<T>(path, within));

/** The answer itself, for streams and files. */
export const requestAnswer = (path: string, sending: Sending = {}): Promise<Response> =>
  withSession(sending, (within) => answerTo(path, within));

async function withSession<T>(sending: Sending, work: (within: Sending) => Promise<T>): Promise<T> {
  const attempt = async () => {
    const Authorization = `Bearer ${await accessToken()}`;
    return work({ ...sending, ...signalOf(sending), headers: { ...sending.headers, Authorization } });
  };
  try {
    return await attempt();
  } catch (error) {
    if (!(error instanceof RefusedError) || error.status !== 401) throw error;
    await renewOrWait();
    return attempt();
  }
}

/** What is only read is of no use after signing out; what writes is left to end as it does. */
function signalOf({ method = 'GET', signal }: Sending): { signal?: AbortSignal } {
  if (method !== 'GET') return {};
  return { signal: signal === undefined ? sessionSignal() : AbortSignal.any([sessionSignal(), signal]) };
}

/** Names as a parameter takes several: in double quotes one may hold commas. */
export const nameList = (names: readonly string[]): string =>
  names.map((name) => `"${name.replaceAll('"', '""')}"`).join(',');

/** The path with what isn't undefined, null or empty as its query. */
export function withQuery(path: string, query: Readonly<Record<string, string | number | null | undefined>>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== '');
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text === '' ? path : `${path}?${text}`;
}
