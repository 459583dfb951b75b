import { queryOptions } from '@tanstack/react-query';
import { SCHEMA } from './queries.js';
import { reasonHeader } from './reason.js';
import { requestAnswer } from './request.js';
import type { PolicyAt } from './types.js';

export type Policy = PolicyAt['data'];

export interface ReadPolicy extends PolicyAt {
  /** The version for detecting concurrent changes. */
  etag: string;
}

/** Without a stored policy, returns the defaults. */
export const policyQuery = () =>
  queryOptions({
    queryKey: [SCHEMA, 'policy'],
    queryFn: async ({ signal }): Promise<ReadPolicy> => {
      const answer = await requestAnswer('/policy', { signal });
      return { ...((await answer.json()) as PolicyAt), etag: answer.headers.get('etag') ?? '' };
    },
  });

/** @returns the next etag */
export async function setPolicy(policy: Policy, { etag, reason }: { etag: string; reason: string }): Promise<string> {
  const headers = { ...reasonHeader(reason), 'If-Match': etag };
  const answer = await requestAnswer('/policy', { method: 'PUT', json: policy, headers });
  return answer.headers.get('etag') ?? '';
}
