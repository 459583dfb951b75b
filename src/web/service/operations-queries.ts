/** What operators ask. */
import { queryOptions } from '@tanstack/react-query';
import { UnreachableError } from './errors.js';
import { SCHEMA } from './queries.js';
import { reasonHeader } from './reason.js';
import { request } from './request.js';
import type { Drift, Health, LogVerification, Projection, Verification } from './types.js';

/** Milliseconds: what is shown as it is now is asked for again. */
const EVERY = 5_000;

export const healthQuery = () =>
  queryOptions({
    queryKey: ['health'],
    refetchInterval: EVERY,
    queryFn: ({ signal }) => readHealth(signal),
  });

/** A service that isn't well answers 503, with the same document: that is no refusal. */
async function readHealth(signal: AbortSignal): Promise<Health> {
  try {
    return (await (await fetch('/server/health', { signal })).json()) as Health;
  } catch (error) {
    throw new UnreachableError(error);
  }
}

export const projectionsQuery = () =>
  queryOptions({
    queryKey: [SCHEMA, 'projections'],
    refetchInterval: EVERY,
    queryFn: async ({ signal }) => (await request<{ data: Projection[] }>('/projections', { signal })).data,
  });

export const rebuild = (name: string) => request(`/projections/${name}/rebuild`, { method: 'POST' });

/** Neither is asked for unless somebody wants it: both read everything there is. */
export const comparison = async () => (await request<{ data: Verification }>('/projections/verify')).data;
export const chainCheck = async () => (await request<{ data: LogVerification }>('/history/verify')).data;
export const driftCheck = () => request<Drift>('/schema/drift');

/** Takes a table that was changed by hand into the log as it is. */
export const acceptDrift = (table: string, reason: string) =>
  request('/schema/drift/accept', {
    method: 'POST',
    json: { collections: [table] },
    headers: reasonHeader(reason),
  });
