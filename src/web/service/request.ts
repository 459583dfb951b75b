import { RefusedError } from './errors.js';
import { answerTo, type Sending, send } from './send.js';
import { accessToken, renewOrWait, sessionSignal } from './session.js';

/** Like `send` with the session. An expired session is renewed, by login if needed, and the request is repeated. */
export const request = <T>(path: string, sending: Sending = {}): Promise<T> =>
  withSession(sending, (within) => send<T>(path, within));

/** The raw response, for streams and files. */
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

/** Reads are aborted by a logout; writes are completed. */
function signalOf({ method = 'GET', signal }: Sending): { signal?: AbortSignal } {
  if (method !== 'GET') return {};
  return { signal: signal === undefined ? sessionSignal() : AbortSignal.any([sessionSignal(), signal]) };
}

/** Names for a list parameter, quoted because they may contain commas. */
export const nameList = (names: readonly string[]): string =>
  names.map((name) => `"${name.replaceAll('"', '""')}"`).join(',');

/** Adds parameters that are not undefined, null or empty. */
export function withQuery(path: string, query: Readonly<Record<string, string | number | null | undefined>>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== '');
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text === '' ? path : `${path}?${text}`;
}
