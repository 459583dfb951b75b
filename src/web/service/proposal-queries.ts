/** What people do with change requests. */
import { reasonHeader } from './reason.js';
import { request } from './request.js';
import type { Applying } from './review-queries.js';
import type { ChangeSummary } from './types.js';

/** Opens a request for what is reviewed, in place of applying it. */
export async function propose(
  { hash, diff, online, purge }: Applying,
  { title, reason, key }: { title: string; reason: string; key: string },
): Promise<ChangeSummary> {
  const json = { title, diff: { hash, diff: diff() }, ...(online && { online }), ...(purge && { purge }) };
  const headers = { ...reasonHeader(reason), 'Idempotency-Key': key };
  return (await request<{ data: ChangeSummary }>('/changes', { method: 'POST', json, headers })).data;
}

export type Act =
  | { action: 'comment'; json: { comment: string } }
  | { action: 'approve'; json: { plan: string } }
  | { action: 'reject'; json: object }
  | { action: 'rebase'; json: object }
  | { action: 'apply'; json?: { at: string } };

export const act = (id: string, { action, ...body }: Act): Promise<unknown> =>
  request(`/changes/${id}/${action}`, { method: 'POST', ...body });

/** Opens a request that leads back. @returns it */
export const revert = async (id: string): Promise<ChangeSummary> =>
  (await request<{ data: ChangeSummary }>(`/changes/${id}/revert`, { method: 'POST', json: {} })).data;
