import { queryOptions } from '@tanstack/react-query';
import { UnreachableError } from './errors.js';
import { SCHEMA } from './queries.js';
import { reasonHeader } from './reason.js';
import { request } from './request.js';
import type {
  Adoption,
  Drift,
  Examination,
  Health,
  LogVerification,
  Projection,
  Rebuilt,
  Verification,
} from './types.js';

/** Milliseconds between refetches of current values. */
const EVERY = 5_000;
/** The same during progress. */
const SOON = 1_000;

/**
 * Refetched every five seconds.
 * @throws UnreachableError without a document
 */
export const healthQuery = () =>
  queryOptions({
    queryKey: ['health'],
    refetchInterval: EVERY,
    queryFn: ({ signal }) => readHealth(signal),
  });

/** An unhealthy service responds with 503 and the same document, which is not an error here. */
async function readHealth(signal: AbortSignal): Promise<Health> {
  try {
    return (await (await fetch('/server/health', { signal })).json()) as Health;
  } catch (error) {
    throw new UnreachableError(error);
  }
}

/** Refetched every five seconds, and every second during a rebuild. */
export const projectionsQuery = () =>
  queryOptions<Projection[]>({
    queryKey: [SCHEMA, 'projections'],
    refetchInterval: ({ state: { data } }) =>
      data?.some(({ rebuilding }) => rebuilding !== null) === true ? SOON : EVERY,
    queryFn: async ({ signal }) => (await request<{ data: Projection[] }>('/projections', { signal })).data,
  });

export const rebuild = async (name: string) =>
  (await request<{ data: Rebuilt }>(`/projections/${name}/rebuild`, { method: 'POST' })).data;

/** Run on request only, because both read everything. */
export const comparison = async () => (await request<{ data: Verification }>('/projections/verify')).data;
/** Run on request only. A broken chain is a result and not an error. */
export const chainCheck = async () => (await request<{ data: LogVerification }>('/history/verify')).data;
/** Run on request only; the result stays until the next run. */
export const driftQuery = () =>
  queryOptions({
    queryKey: ['drift'],
    enabled: false,
    gcTime: 0,
    retry: false,
    queryFn: ({ signal }) => request<Drift>('/schema/drift', { signal }),
  });

/** Accepts a manually changed table into the log. */
export const acceptDrift = (table: string, reason: string) =>
  request('/schema/drift/accept', {
    method: 'POST',
    json: { collections: [table] },
    headers: reasonHeader(reason),
  });

/** The checks of `dps doctor`. */
export const examination = async () => (await request<{ data: Examination }>('/server/doctor')).data;

/** Adopts unmanaged tables; a trial stores nothing. */
export const adopt = (tables: readonly string[], { isTrial, reason }: { isTrial: boolean; reason: string }) =>
  request<Adoption>(isTrial ? '/schema/adopt?dry_run' : '/schema/adopt', {
    method: 'POST',
    json: { tables },
    headers: reasonHeader(reason),
  });

/** Names of unmanaged tables. */
export const unmanagedQuery = () =>
  queryOptions({
    queryKey: [SCHEMA, 'unmanaged'],
    queryFn: async ({ signal }) => (await request<Drift>('/schema/drift', { signal })).unmanaged,
  });
