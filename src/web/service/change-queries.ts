/* Lists of change requests. */
import { queryOptions } from '@tanstack/react-query';
import { MOST_LISTED, itemsIn, pagedQuery, request, withQuery, reasonHeader } from './request.js';
import { SCHEMA } from './queries.js';
import type { ChangeSummary } from './types.js';
import type { Resolution } from '../../schema/merge/model.js';
import { sendResolutions, type ApplyInput } from './review-queries.js';

const LISTED = 20;

export const changesQuery = () => pagedQuery<ChangeSummary>([SCHEMA, 'changes'], '/changes', LISTED);

const IN_WORK = ['queued', 'preparing', 'prepared'] as const satisfies readonly ChangeSummary['state'][];

/** True if the request has locked its tables or waits for them. */
export const isInWork = ({ state }: Pick<ChangeSummary, 'state'>): boolean => IN_WORK.some((each) => each === state);

/**
 * All requests in progress, newest first.
 * @param collection limits the result to requests that change this collection
 */
export const openRequestsQuery = (collection?: string) =>
  queryOptions({
    queryKey: [SCHEMA, 'changes', 'in work', collection ?? null],
    queryFn: async ({ signal }) => {
      const lists = await Promise.all(
        IN_WORK.map((state) =>
          request<{ data: ChangeSummary[] }>(withQuery('/changes', { state, collection, limit: MOST_LISTED }), {
            signal,
          }),
        ),
      );
      // A request may change its state between two responses.
      return itemsIn(lists).sort((one, other) => other.opened_position - one.opened_position);
    },
  });

interface ProposalRequest {
  title: string;
  /** The new reason. Undefined leaves it unchanged. */
  reason: string | undefined;
  /** Identifies the attempt, so that a retry takes effect only once. */
  key: string;
}

const askedBy = ({ hash, diff, online, purge, acknowledge = [] }: ApplyInput) => ({
  diff: { hash, diff: diff() },
  ...(online && { online }),
  ...(purge && { purge }),
  ...(acknowledge.length > 0 && { acknowledge }),
});

/** Opens a request for the review instead of applying it. */
export async function propose(
  applying: ApplyInput,
  { title, reason = '', key }: ProposalRequest,
): Promise<ChangeSummary> {
  const headers = { ...reasonHeader(reason), 'Idempotency-Key': key };
  const json = { title, ...askedBy(applying) };
  return (await request<{ data: ChangeSummary }>('/changes', { method: 'POST', json, headers })).data;
}

/** Replaces the diff of a request by the review. */
export async function proposeInstead(
  id: string,
  applying: ApplyInput,
  { title, reason, key }: ProposalRequest,
): Promise<ChangeSummary> {
  const proposal = {
    ...(title !== '' && { title }),
    ...(reason !== undefined && { reason: reason === '' ? null : reason }),
  };
  const json = { ...proposal, online: false, purge: false, ...askedBy(applying) };
  const headers = { 'Idempotency-Key': key };
  return (await request<{ data: ChangeSummary }>(`/changes/${id}`, { method: 'PATCH', json, headers })).data;
}

export type RequestAction =
  | { action: 'comment'; json: { comment: string } }
  | { action: 'approve'; json: { plan: string; view: string } }
  | { action: 'reject'; json: object }
  | { action: 'rebase'; resolve: readonly Resolution[] }
  | { action: 'apply'; json?: { at: string } };

/** @param keyFor returns a key for the content, as in `revert` */
export function sendAction(id: string, what: RequestAction, keyFor: (sent: unknown) => string): Promise<unknown> {
  const send = (json?: object) => {
    const headers = { 'Idempotency-Key': keyFor(json) };
    return request(`/changes/${id}/${what.action}`, { method: 'POST', headers, ...(json !== undefined && { json }) });
  };
  return what.action === 'rebase'
    ? sendResolutions(what.resolve, (resolve) => send(resolutionsBody(resolve)))
    : send(what.json);
}

const resolutionsBody = (resolve: readonly Resolution[]) => (resolve.length > 0 ? { resolve } : {});

/** Permits the deletions of a request to be permanent. Earlier approvals do not cover this. */
export const permitPurge = (id: string): Promise<unknown> =>
  request(`/changes/${id}`, { method: 'PATCH', json: { purge: true } });

export const rename = (id: string, json: { title: string; reason: string | null }): Promise<unknown> =>
  request(`/changes/${id}`, { method: 'PATCH', json });

export interface RevertInput {
  resolve: readonly Resolution[];
  purge: boolean;
}

/**
 * Opens a request that reverts another one.
 * @param keyFor returns a key for the content, so that a retry takes effect only once
 * @returns the new request
 */
export const revert = (
  id: string,
  { resolve, purge }: RevertInput,
  keyFor: (sent: object) => string,
): Promise<ChangeSummary> =>
  sendResolutions(resolve, async (needed) => {
    const json = { ...resolutionsBody(needed), ...(purge && { purge }) };
    const sent = { method: 'POST' as const, json, headers: { 'Idempotency-Key': keyFor(json) } };
    return (await request<{ data: ChangeSummary }>(`/changes/${id}/revert`, sent)).data;
  });

const UPDATED_IN: ReadonlySet<string> = new Set(['open', 'approved', 'rejected', 'scheduled', 'failed']);

/** The user's requests that a review can still replace. Those for a policy change no schema. */
export const ownRequestsQuery = (author: string) =>
  queryOptions({
    queryKey: [SCHEMA, 'changes', 'of', author],
    queryFn: async ({ signal }) => {
      const { data } = await request<{ data: ChangeSummary[] }>(withQuery('/changes', { author, limit: MOST_LISTED }), {
        signal,
      });
      return data.filter(
        ({ state, title, operation }) => title !== null && operation !== 'update-policy' && UPDATED_IN.has(state),
      );
    },
  });

/** The number of requests that wait for the user's approval. */
export const toApproveQuery = () =>
  queryOptions({
    queryKey: [SCHEMA, 'changes', 'to approve'],
    queryFn: async ({ signal }) => {
      const path = withQuery('/changes', { to_approve: 'true', limit: 0, meta: 'filter_count' });
      return (await request<{ meta: { filter_count: number } }>(path, { signal })).meta.filter_count;
    },
  });
