import { infiniteQueryOptions } from '@tanstack/react-query';
import { RefusedError, answerTo, type SendOptions, send } from './send.js';
import { accessToken, renewOrWait, sessionSignal } from './session.js';

/**
 * Sends a request like `send`, with the session. An expired session is renewed, by a login if necessary, and the
 * request is repeated.
 */
export const request = <T>(path: string, sending: SendOptions = {}): Promise<T> =>
  withSession(sending, (within) => send<T>(path, within));

/** The raw response, for streams and files. */
export const requestAnswer = (path: string, sending: SendOptions = {}): Promise<Response> =>
  withSession(sending, (within) => answerTo(path, within));

async function withSession<T>(sending: SendOptions, work: (within: SendOptions) => Promise<T>): Promise<T> {
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

/** Returns the signal of a request. A logout aborts reads, but writes are completed. */
function signalOf({ method = 'GET', signal }: SendOptions): { signal?: AbortSignal } {
  if (method !== 'GET') return {};
  return { signal: signal === undefined ? sessionSignal() : AbortSignal.any([sessionSignal(), signal]) };
}

/** Names for a list parameter, quoted because they may contain commas. */
export const nameList = (names: readonly string[]): string =>
  names.map((name) => `"${name.replaceAll('"', '""')}"`).join(',');

/** Adds parameters that are not undefined, null or empty. */
export function withQuery(path: string, query: Readonly<Record<string, string | number | null | undefined>>): string {
  const parameters = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== '');
  const text = new URLSearchParams(parameters.map(([name, value]) => [name, String(value)])).toString();
  return text === '' ? path : `${path}?${text}`;
}

/** The service's maximum page size. */
export const MOST_LISTED = 1_000;

interface ListPage<T> {
  data: T[];
  meta: { filter_count: number };
}

/**
 * @param path the path of a list with `offset`, `limit` and `meta`
 * @param limit the number of items per page
 */
export const pagedQuery = <T>(queryKey: readonly unknown[], path: string, limit: number) =>
  infiniteQueryOptions({
    queryKey,
    initialPageParam: 0,
    queryFn: ({ pageParam: offset, signal }) =>
      request<ListPage<T>>(withQuery(path, { offset, limit, meta: 'filter_count' }), { signal }),
    getNextPageParam: ({ data, meta }, _, offset) =>
      data.length > 0 && offset + data.length < meta.filter_count ? offset + data.length : null,
  });

/** Returns the items of all pages without duplicates, which occur because concurrent changes shift pages. */
export const itemsIn = <T extends { id: string }>(pages: readonly { data: readonly T[] }[]): T[] => [
  ...new Map(pages.flatMap(({ data }) => data).map((item) => [item.id, item])).values(),
];

/** Returns the reason header. Its UTF-8 bytes are passed as latin1. Absent for an empty reason. */
export function reasonHeader(reason: string): Record<string, string> {
  if (reason.trim() === '') return {};
  return {
    'X-Reason': Array.from(new TextEncoder().encode(reason.trim()), (byte) => String.fromCharCode(byte)).join(''),
  };
}
