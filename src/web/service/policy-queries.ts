/** What may be done to the schema without asking. */
import { queryOptions } from '@tanstack/react-query';
import { SCHEMA } from './queries.js';
import { reasonHeader } from './reason.js';
import { requestAnswer } from './request.js';
import type { PolicyAt } from './types.js';

export type Policy = PolicyAt['data'];

export interface ReadPolicy extends PolicyAt {
  /** By which setting it is refused where somebody else has set it meanwhile. */
  etag: string;
}

/** Also where nobody has set one: then it says what holds without. */
export const policyQuery = () =>
  queryOptions({
    queryKey: [SCHEMA, 'policy'],
    queryFn: async ({ signal }): Promise<ReadPolicy> => {
      const answer = await requestAnswer('/policy', { signal });
      return { ...((await answer.json()) as PolicyAt), etag: answer.headers.get('etag') ?? '' };
    },
  });

/** @returns the etag by which it can be set next */
export async function setPolicy(policy: Policy, { etag, reason }: { etag: string; reason: string }): Promise<string> {
  const headers = { ...reasonHeader(reason), 'If-Match': etag };
  const answer = await requestAnswer('/policy', { method: 'PUT', json: policy, headers });
  return answer.headers.get('etag') ?? '';
}
