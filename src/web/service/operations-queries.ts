/** What operators ask. */
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

/** Milliseconds: what is shown as it is now is asked for again. */
const EVERY = 5_000;
/** The same while something moves. */
const SOON = 1_000;

/** Asked every five seconds. @throws UnreachableError where no document came */
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

/** Asked every five seconds, every second while one of them is made again. */
export const projectionsQuery = () =>
  queryOptions<Projection[]>({
    queryKey: [SCHEMA, 'projections'],
    refetchInterval: ({ state: { data } }) =>
      data?.some(({ rebuilding }) => rebuilding !== null) === true ? SOON : EVERY,
    queryFn: async ({ signal }) => (await request<{ data: Projection[] }>('/projections', { signal })).data,
  });

/**
 * Answered once it is done, which may take long: what was run of `tables`, and what is left to people.
 * @param name of the projection
 */
export const rebuild = async (name: string) =>
  (await request<{ data: Rebuilt }>(`/projections/${name}/rebuild`, { method: 'POST' })).data;

/** Neither is asked for unless somebody wants it: both read everything there is. */
export const comparison = async () => (await request<{ data: Verification }>('/projections/verify')).data;
/** Asked for by hand alone too. A broken chain is an answer, no error. */
export const chainCheck = async () => (await request<{ data: LogVerification }>('/history/verify')).data;
/** Asked for by hand alone; what was found stays until the next look. */
export const driftQuery = () =>
  queryOptions({
    queryKey: ['drift'],
    enabled: false,
    gcTime: 0,
    retry: false,
    queryFn: ({ signal }) => request<Drift>('/schema/drift', { signal }),
  });

/** Takes a table that was changed by hand into the log as it is. */
export const acceptDrift = (table: string, reason: string) =>
  request('/schema/drift/accept', {
    method: 'POST',
    json: { collections: [table] },
    headers: reasonHeader(reason),
  });

/** What `dps doctor` looks at. */
export const examination = async () => (await request<{ data: Examination }>('/server/doctor')).data;

/** Takes tables that nobody manages as they are; tried alone, nothing is kept. */
export const adopt = (tables: readonly string[], { isTrial, reason }: { isTrial: boolean; reason: string }) =>
  request<Adoption>(isTrial ? '/schema/adopt?dry_run' : '/schema/adopt', {
    method: 'POST',
    json: { tables },
    headers: reasonHeader(reason),
  });

/** Names of tables that are there and that nobody manages. */
export const unmanagedQuery = () =>
  queryOptions({
    queryKey: [SCHEMA, 'unmanaged'],
    queryFn: async ({ signal }) => (await request<Drift>('/schema/drift', { signal })).unmanaged,
  });
