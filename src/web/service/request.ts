import { infiniteQueryOptions } from '@tanstack/react-query';
import { OPERATIONS } from '../../client/api.js';
import type { Arguments, OperationName } from '../../client/index.js';
import type { RequestContent } from '../../client/request.js';
import { type Body, ServiceError, fetchAnswer, readAnswer } from './send.js';
import { accessToken, renewOrWait, sessionSignal } from './session.js';

/**
 * Sends the request of an operation with the session, and returns the parsed body of the response. An expired session is
 * renewed, by a login if necessary, and the request is repeated.
 */
export async function request<K extends OperationName, const A extends Arguments<K>>(
  operation: K,
  sent: A,
): Promise<Body<K, A>> {
  return readAnswer(await answerTo(operation, sent as RequestContent));
}

/** Returns the raw response, for its headers, streams and files. */
export const requestAnswer = <K extends OperationName>(operation: K, sent: Arguments<K>): Promise<Response> =>
  answerTo(operation, sent as RequestContent);

/** Like `requestAnswer`, for content that the types do not check. */
export async function answerTo(operation: OperationName, sent: RequestContent): Promise<Response> {
  const isRead = OPERATIONS[operation].method === 'GET';
  const attempt = async (): Promise<Response> =>
    fetchAnswer(operation, isRead ? { ...sent, signal: readSignal(sent.signal) } : sent, await accessToken());
  try {
    return await attempt();
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status !== 401) throw error;
    await renewOrWait();
    return attempt();
  }
}

/** A logout aborts reads, but writes are completed. */
const readSignal = (signal: AbortSignal | undefined): AbortSignal =>
  signal === undefined ? sessionSignal() : AbortSignal.any([sessionSignal(), signal]);

/** The service's maximum page size. */
export const MOST_LISTED = 1_000;

type PagedOperation = 'listUsers' | 'listSessions' | 'listChanges';

interface ListPage<T> {
  data: T[];
  meta: { filter_count: number };
}

/**
 * @param operation lists items with `offset`, `limit` and `meta`
 * @param limit the number of items per page
 */
export const pagedQuery = <T>(queryKey: readonly unknown[], operation: PagedOperation, limit: number) =>
  infiniteQueryOptions({
    queryKey,
    initialPageParam: 0,
    queryFn: ({ pageParam: offset, signal }) =>
      request(operation, { query: { offset, limit, meta: ['filter_count'] }, signal }) as Promise<ListPage<T>>,
    getNextPageParam: ({ data, meta }, _, offset) =>
      data.length > 0 && offset + data.length < meta.filter_count ? offset + data.length : null,
  });

/** Returns the items of all pages without duplicates, which occur because concurrent changes shift pages. */
export const itemsIn = <T extends { id: string }>(pages: readonly { data: readonly T[] }[]): T[] => [
  ...new Map(pages.flatMap(({ data }) => data).map((item) => [item.id, item])).values(),
];

/** Returns the reason header. Absent for an empty reason. */
export const reasonHeader = (reason: string): { 'X-Reason'?: string } =>
  reason.trim() === '' ? {} : { 'X-Reason': reason.trim() };
