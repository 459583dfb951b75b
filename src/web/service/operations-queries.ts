import { queryOptions, useQuery } from '@tanstack/react-query';
import { jsonEqual } from '../../kernel/json.js';
import { LOOSENS_POLICY, PURGE_FINDINGS } from '../../schema/model/policy.js';
import type { FoundDrift } from '../../schema/model/service-events.js';
import { SCHEMA } from './queries.js';
import { reasonHeader, request, requestAnswer } from './request.js';
import { send } from './send.js';
import type {
  Drift,
  NewTrustRule,
  Projection,
  ChangeSummary,
  LogEvent,
  PolicyAt,
  TrashEntry,
  TrustRule,
  WebhookSettings,
} from './types.js';

/* The Prometheus metrics, read while the page is open. */

/** Milliseconds between two readings. */
export const BETWEEN = 5_000;

/** Maximum number of readings, which cover ten minutes. */
const KEPT = 120;

export interface Sample {
  name: string;
  labels: Readonly<Record<string, string>>;
  value: number;
}

export interface Reading {
  /** Milliseconds since 1970. */
  at: number;
  samples: readonly Sample[];
}

/** All readings since the page was opened, newest last. */
export const readingsQuery = () =>
  queryOptions({
    queryKey: ['metrics'],
    refetchInterval: BETWEEN,
    staleTime: 0,
    gcTime: Infinity,
    structuralSharing: false,
    queryFn: async ({ client, queryKey, signal }): Promise<Reading[]> => {
      const before = client.getQueryData<Reading[]>(queryKey) ?? [];
      const text = await (await requestAnswer('getMetrics', { signal })).text();
      return [...before.slice(1 - KEPT), { at: Date.now(), samples: samplesOf(text) }];
    },
  });

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;

/** Parses the Prometheus text format as this service writes it. */
function samplesOf(text: string): Sample[] {
  return text.split('\n').flatMap((line) => {
    const [, name, labels = '', value] = LINE.exec(line) ?? [];
    if (name === undefined) return [];
    const pairs = [...labels.matchAll(LABEL)].map(([, label = '', labelValue = '']) => [label, unescaped(labelValue)]);
    return [{ name, labels: Object.fromEntries(pairs) as Record<string, string>, value: numberOf(value) }];
  });
}

const unescaped = (text: string): string =>
  text.replaceAll(/\\(.)/g, (_, letter: string) => (letter === 'n' ? '\n' : letter));

const numberOf = (text: string | undefined): number =>
  text === '+Inf' ? Infinity : text === '-Inf' ? -Infinity : Number(text);

export type Policy = PolicyAt['data'];

export interface ReadPolicy extends PolicyAt {
  /** The version for detecting concurrent changes. */
  etag: string;
}

/** The policy. If none is stored, the defaults. */
export const policyQuery = () =>
  queryOptions({
    queryKey: [SCHEMA, 'policy'],
    queryFn: async ({ signal }): Promise<ReadPolicy> => {
      const answer = await requestAnswer('getPolicy', { signal });
      return { ...((await answer.json()) as PolicyAt), etag: answer.headers.get('etag') ?? '' };
    },
  });

interface Setting {
  etag: string;
  reason: string;
  /** True if the user acknowledges that the policy is loosened. */
  isAcknowledged: boolean;
}

/** @returns the next etag */
export async function setPolicy(policy: Policy, { etag, reason, isAcknowledged }: Setting): Promise<string> {
  const headers = {
    ...reasonHeader(reason),
    'If-Match': etag,
    ...(isAcknowledged && { 'X-Acknowledge': `${LOOSENS_POLICY}:` }),
  };
  const answer = await requestAnswer('setPolicy', { body: policy, headers });
  return answer.headers.get('etag') ?? '';
}

/** Opens a change request for a policy. */
export async function proposePolicy(
  policy: Policy,
  { title, reason, key }: { title: string; reason: string; key: string },
): Promise<ChangeSummary> {
  const headers = { ...reasonHeader(reason), 'Idempotency-Key': key };
  return (await request('openChange', { body: { title, policy }, headers })).data;
}

export interface ReadTrust {
  rules: TrustRule[];
  /** The version for detecting concurrent changes. */
  etag: string;
  /** The latest changes to the rules, newest first. The first one set the rules above. */
  changes: TrustChange[];
}

type TrustChange = Pick<LogEvent, 'actor' | 'occurred_at'> & { data: Pick<ReadTrust, 'rules'> };

/** Maximum number of changes that the page reads. */
const TRUST_CHANGES = 100;

export const trustQuery = () =>
  queryOptions({
    queryKey: [SCHEMA, 'trust'],
    queryFn: async ({ signal }): Promise<ReadTrust> => {
      const answer = await requestAnswer('getTrust', { signal });
      const { data, meta } = (await answer.json()) as {
        data: Pick<ReadTrust, 'rules'>;
        meta: { position: number };
      };
      const query = { type: 'trust.updated', order: 'desc', limit: TRUST_CHANGES } as const;
      const { data: events } = await request('listEvents', { query, signal });
      // The rules may have changed again between the two requests.
      const changes = events.filter(({ position }) => position <= meta.position) as unknown as TrustChange[];
      return { ...data, etag: answer.headers.get('etag') ?? '', changes };
    },
  });

/**
 * Returns the change that set a rule: the first one since which every change has kept it. Undefined if that change is
 * older than `changes`.
 */
export function findSetter(rule: TrustRule, changes: readonly TrustChange[]): TrustChange | undefined {
  const former = changes.findIndex(({ data }) => !data.rules.some((each) => jsonEqual(each, rule)));
  if (former !== -1) return changes[former - 1];
  return changes.length < TRUST_CHANGES ? changes.at(-1) : undefined;
}

/**
 * Replaces all trust rules. API tokens of removed and changed rules stop working immediately.
 * @throws ServiceError at the invalid member: `rules[0].issuer` …
 */
export const setTrust = (rules: NewTrustRule[], etag: string) =>
  request('setTrust', { body: { rules }, headers: { 'If-Match': etag } });

const LISTED = 200;

/** The newest entries and the total. */
export const trashQuery = () =>
  queryOptions({
    queryKey: [SCHEMA, 'trash'],
    queryFn: ({ signal }) => request('listTrash', { query: { limit: LISTED, meta: ['total_count'] }, signal }),
  });

export interface Restoring {
  /** The new name; empty for the former one. */
  as: string;
  /** Names of keys to leave out. */
  without: readonly string[];
}

const bodyOf = ({ as, without }: Restoring) => ({
  ...(as !== '' && { as }),
  ...(without.length > 0 && { without: [...without] }),
});

/** The plan of a restore. The service stores nothing. */
export const restorePlanQuery = (position: number, restoring: Restoring) =>
  queryOptions({
    // The key is outside the schema keys, because a restored entry must not be planned again.
    queryKey: ['restore', position, restoring],
    gcTime: 0,
    retry: false,
    queryFn: ({ signal }) =>
      request('restoreTrash', { params: { position }, query: { dry_run: true }, body: bodyOf(restoring), signal }),
  });

/** The restored object and what could not be restored. */
export const restore = (position: number, restoring: Restoring, reason: string) =>
  request('restoreTrash', { params: { position }, body: bodyOf(restoring), headers: reasonHeader(reason) });

/**
 * Purges an entry with its rows, permanently. The user has confirmed that, which acknowledges both findings of a purge.
 */
export const purge = (entry: TrashEntry, reason: string) => {
  const names = entry.field === null ? [entry.collection] : [entry.collection, entry.field];
  const location = names.map((name) => encodeURIComponent(name).replaceAll('.', '%2E')).join('.');
  const acknowledged = PURGE_FINDINGS.map((code) => `${code}:${location}`).join(', ');
  const headers = { ...reasonHeader(reason), 'X-Acknowledge': acknowledged };
  return request('purgeTrash', { params: { position: entry.position }, headers });
};

/** Milliseconds between refetches of current values. */
const EVERY = 5_000;
/** Milliseconds between refetches while there is progress. */
const SOON = 1_000;

/**
 * The health of the service, refetched every five seconds.
 * @throws ConnectionError if there is no response
 */
export const healthQuery = () =>
  queryOptions({
    queryKey: ['health'],
    refetchInterval: EVERY,
    // An unhealthy service responds with 503 and the same document, which is not an error here.
    queryFn: ({ signal }) => send('getHealth', { signal }),
  });

/** Refetched every five seconds, and every second during a rebuild. */
export const projectionsQuery = () =>
  queryOptions<Projection[]>({
    queryKey: [SCHEMA, 'projections'],
    refetchInterval: ({ state: { data } }) =>
      data?.some(({ rebuilding }) => rebuilding !== null) === true ? SOON : EVERY,
    queryFn: async ({ signal }) => (await request('listProjections', { signal })).data,
  });

export const rebuild = async (name: string) => (await request('rebuildProjection', { params: { name } })).data;

/** Compares on request only, because the comparison reads everything. */
export const fetchComparison = async () => (await request('verifyProjections', {})).data;
/** Run on request only. A broken chain is a result and not an error. */
export const fetchChainCheck = async () => (await request('verifyLog', {})).data;
/** Runs on request only. The result stays until the next run. */
export const driftQuery = () =>
  queryOptions({
    queryKey: ['drift'],
    enabled: false,
    gcTime: 0,
    retry: false,
    queryFn: ({ signal }) => request('getDrift', { signal }),
  });

type Fault<Data> = Pick<LogEvent, 'position' | 'occurred_at'> & { data: Data };

/** The faults that the newest scheduled comparisons found. Null without a fault, and if there was no comparison. */
const scheduledFaultsQuery = () =>
  queryOptions({
    queryKey: [SCHEMA, 'scheduled faults'],
    queryFn: async ({ signal }) => {
      const newest = async (id: string, type: LogEvent['type']) => {
        const query = { subject: `comparison:${id}`, order: 'desc' as const, limit: 1 };
        const { data } = await request('listEvents', { query, signal });
        return data.find((event) => event.type === type) ?? null;
      };
      const [drift, verification] = await Promise.all([
        newest('drift', 'drift.found'),
        newest('verification', 'verification.failed'),
      ]);
      return {
        drift: drift as Fault<FoundDrift> | null,
        verification: verification as Fault<{ faults: Record<string, number> }> | null,
      };
    },
  });

/** The position at which the user last found no drift. Scheduled comparisons at later positions are newer. */
export const withoutDriftQuery = () =>
  queryOptions<number>({ queryKey: ['without drift'], enabled: false, initialData: 0, gcTime: Infinity });

/** The faults that scheduled comparisons found and the user has not resolved since. */
export function useScheduledFaults(isEnabled: boolean) {
  const { data } = useQuery({ ...scheduledFaultsQuery(), enabled: isEnabled });
  const { data: withoutDrift } = useQuery(withoutDriftQuery());
  const { drift = null, verification = null } = data ?? {};
  return { drift: drift !== null && drift.position > withoutDrift ? drift : null, verification };
}

export const countFaults = ({ drift, verification }: ReturnType<typeof useScheduledFaults>): number =>
  (drift?.data.differences ?? 0) +
  Object.values(verification?.data.faults ?? {}).reduce((sum, count) => sum + count, 0);

type AcceptedDrift = { collections: string[] } | { objects: NonNullable<Drift['unmanaged_objects']> };

/** Accepts a manually changed table or view into the log. */
export const acceptDrift = (accepted: AcceptedDrift, reason: string) =>
  request('acceptDrift', { body: accepted, headers: reasonHeader(reason) });

/** The checks of `dps doctor`. */
export const fetchExamination = async () => (await request('examine', {})).data;

/** Adopts unmanaged tables. With `isTrial`, nothing is stored. */
export const adopt = (tables: readonly string[], { isTrial, reason }: { isTrial: boolean; reason: string }) =>
  request('adoptTables', { query: { dry_run: isTrial }, body: { tables: [...tables] }, headers: reasonHeader(reason) });

/** The unmanaged tables that can be adopted. */
export const unmanagedQuery = () =>
  queryOptions({
    queryKey: [SCHEMA, 'unmanaged'],
    queryFn: async ({ signal }) => (await request('getDrift', { signal })).unmanaged_tables,
  });

/* Webhooks and their deliveries. For admins. */

/** The key prefix of queries that a change to a webhook invalidates. */
export const WEBHOOKS = 'webhooks';

export const webhooksQuery = () =>
  queryOptions({
    queryKey: [WEBHOOKS],
    refetchInterval: EVERY,
    queryFn: async ({ signal }) => (await request('listWebhooks', { signal })).data,
  });

/** The last 100 attempts, newest first. */
export const deliveriesQuery = (id: string) =>
  queryOptions({
    queryKey: [WEBHOOKS, 'deliveries', id],
    refetchInterval: EVERY,
    queryFn: async ({ signal }) => (await request('listWebhookDeliveries', { params: { id }, signal })).data,
  });

/** @throws ServiceError at the invalid member: `url`, `types[0]` … */
export const createWebhook = async (settings: WebhookSettings) =>
  (await request('createWebhook', { body: settings })).data;

/** @throws ServiceError like `createWebhook` */
export const updateWebhook = async (id: string, changes: Partial<WebhookSettings> & { enabled?: boolean }) =>
  (await request('updateWebhook', { params: { id }, body: changes })).data;

export const deleteWebhook = (id: string) => request('deleteWebhook', { params: { id } });

/** Requests are also signed with the former secret for 24 hours. */
export const rotateSecret = async (id: string) => (await request('rotateWebhookSecret', { params: { id } })).data;

/** @throws ServiceError at `position`, if it is after the position that follows the end of the log */
export const replayWebhook = async (id: string, position: number) =>
  (await request('replayWebhook', { params: { id }, body: { position } })).data;

/** Sends a test message, even if the webhook is disabled. */
export const testWebhook = async (id: string) => (await request('testWebhook', { params: { id } })).data;

/* Environments: other instances of the service. For admins. */

const ENVIRONMENTS = 'environments';

/** The service itself compares an environment at most every 10 seconds, however often the list is requested. */
export const environmentsQuery = () =>
  queryOptions({
    queryKey: [ENVIRONMENTS],
    refetchInterval: EVERY,
    queryFn: async ({ signal }) => (await request('listEnvironments', { signal })).data,
  });

export interface EnvironmentSettings {
  name: string;
  url: string;
  token: string;
}

/** @throws ServiceError at the invalid member */
export const createEnvironment = (settings: EnvironmentSettings) => request('createEnvironment', { body: settings });

/** @throws ServiceError like `createEnvironment` */
export const updateEnvironment = (id: string, changes: Partial<EnvironmentSettings> & { base?: number | null }) =>
  request('updateEnvironment', { params: { id }, body: changes });

export const deleteEnvironment = (id: string) => request('deleteEnvironment', { params: { id } });

/** Connects to the environment, and compares the schemas. */
export const testEnvironment = async (id: string) => (await request('testEnvironment', { params: { id } })).data;
