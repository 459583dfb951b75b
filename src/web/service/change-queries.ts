/* Lists of change requests. */
import { type UseQueryResult, queryOptions, useQueries, useQuery } from '@tanstack/react-query';
import type { OperationName } from '../../client/index.js';
import { readAnswer } from './send.js';
import { MOST_LISTED, answerTo, itemsIn, pagedQuery, request, reasonHeader } from './request.js';
import { SCHEMA } from './queries.js';
import type { Actor } from '../../schema/model/events.js';
import type { ChangePlace, ChangeRequest, ChangeSummary } from './types.js';
import type { Resolution } from '../../schema/merge/model.js';
import { changeQuery, sendResolutions, type ApplyInput } from './review-queries.js';

const LISTED = 20;

export const changesQuery = () => pagedQuery<ChangeSummary>([SCHEMA, 'changes'], 'listChanges', LISTED);

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
        IN_WORK.map((state) => request('listChanges', { query: { state, collection, limit: MOST_LISTED }, signal })),
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
  ...(acknowledge.length > 0 && { acknowledge: [...acknowledge] }),
});

/** Opens a request for the review instead of applying it. */
export async function propose(
  applying: ApplyInput,
  { title, reason = '', key }: ProposalRequest,
): Promise<ChangeSummary> {
  const headers = { ...reasonHeader(reason), 'Idempotency-Key': key };
  const body = { title, ...askedBy(applying) };
  return (await request('openChange', { body, headers })).data;
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
  const body = { ...proposal, online: false, purge: false, ...askedBy(applying) };
  const headers = { 'Idempotency-Key': key };
  return (await request('updateChange', { params: { id }, body, headers })).data;
}

export type RequestAction =
  | { action: 'comment'; json: { comment: string; place?: ChangePlace } }
  | { action: 'approve'; json: { plan: string; view: string } }
  | { action: 'reject'; json: object }
  | { action: 'rebase'; resolve: readonly Resolution[] }
  | { action: 'apply'; json?: { at: string } };

const ACTIONS = {
  comment: 'commentChange',
  approve: 'approveChange',
  reject: 'rejectChange',
  rebase: 'rebaseChange',
  apply: 'applyChange',
} as const satisfies Record<RequestAction['action'], OperationName>;

/** @param keyFor returns a key for the content, as in `revert` */
export function sendAction(id: string, what: RequestAction, keyFor: (sent: unknown) => string): Promise<unknown> {
  const send = async (body?: object) => {
    const headers = { 'Idempotency-Key': keyFor(body) };
    return readAnswer(await answerTo(ACTIONS[what.action], { params: { id }, headers, body }));
  };
  return what.action === 'rebase'
    ? sendResolutions(what.resolve, (resolve) => send(resolutionsBody(resolve)))
    : send(what.json);
}

const resolutionsBody = (resolve: readonly Resolution[]) => (resolve.length > 0 ? { resolve: [...resolve] } : {});

/** Permits the deletions of a request to be permanent. Earlier approvals do not cover this. */
export const permitPurge = (id: string): Promise<unknown> =>
  request('updateChange', { params: { id }, body: { purge: true } });

export const rename = (id: string, body: { title: string; reason: string | null }): Promise<unknown> =>
  request('updateChange', { params: { id }, body });

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
    const body = { ...resolutionsBody(needed), ...(purge && { purge }) };
    const headers = { 'Idempotency-Key': keyFor(body) };
    return (await request('revertChange', { params: { id }, body, headers })).data;
  });

const UPDATED_IN: ReadonlySet<string> = new Set(['open', 'approved', 'rejected', 'scheduled', 'failed']);

/** The user's requests that a review can still replace. Those for a policy change no schema. */
export const ownRequestsQuery = (author: string) =>
  queryOptions({
    queryKey: [SCHEMA, 'changes', 'of', author],
    queryFn: async ({ signal }) => {
      const { data } = await request('listChanges', { query: { author, limit: MOST_LISTED }, signal });
      return data.filter(
        ({ state, title, operation }) => title !== null && operation !== 'update-policy' && UPDATED_IN.has(state),
      );
    },
  });

/** The requests that wait for the user's approval, newest first. */
export const requestsToApproveQuery = () =>
  queryOptions({
    queryKey: [SCHEMA, 'changes', 'list to approve'],
    queryFn: async ({ signal }) =>
      (await request('listChanges', { query: { to_approve: true, limit: MOST_LISTED }, signal })).data,
  });

/** The number of requests that wait for the user's approval. */
export const toApproveQuery = () =>
  queryOptions({
    queryKey: [SCHEMA, 'changes', 'to approve'],
    queryFn: async ({ signal }) => {
      const query = { to_approve: true, limit: 0, meta: ['filter_count' as const] };
      return (await request('listChanges', { query, signal })).meta?.filter_count ?? 0;
    },
  });

/** An action on a change request of the user, or its outcome. */
export interface ChangeNotification {
  /** The id of the request. */
  id: string;
  title: string;
  what: 'approved' | 'rejected' | 'commented' | 'applied' | 'failed';
  /** Null for what the service did. */
  by: Actor | null;
  /** ISO 8601. */
  at: string;
}

const NOTIFICATION_DAYS = 7;
/** Maximum number of requests that are read, and of notifications. */
const MOST_NOTIFICATIONS = 20;

/**
 * Returns the actions of others on the user's requests in the last days, newest first.
 * @param mayApply true for users who may apply their requests themselves. They are notified of online changes only
 */
export const notificationsQuery = (author: string, mayApply: boolean) =>
  queryOptions({
    queryKey: [SCHEMA, 'changes', 'notifications', author],
    queryFn: async ({ client, signal }) => {
      const since = new Date(Date.now() - NOTIFICATION_DAYS * 86_400_000).toISOString();
      const { data } = await request('listChanges', { query: { author, limit: MOST_LISTED }, signal });
      const changed = data.filter(
        ({ title, changed_at: at, opened_at }) => title !== null && at > opened_at && at > since,
      );
      const recent = changed
        .sort((one, other) => (one.changed_at > other.changed_at ? -1 : 1))
        .slice(0, MOST_NOTIFICATIONS);
      const requests = await Promise.all(
        recent.map(({ id, changed_at }) =>
          client.fetchQuery({
            // Read again only after the request has changed.
            queryKey: ['notifications', id, changed_at],
            staleTime: Infinity,
            queryFn: async () => (await request('getChange', { params: { id }, signal })).data,
          }),
        ),
      );
      const entries = requests.flatMap((each) => notificationsOf(each, mayApply));
      const notifications = entries.filter(({ by, at }) => by?.id !== author && at > since);
      return notifications.sort((one, other) => (one.at > other.at ? -1 : 1)).slice(0, MOST_NOTIFICATIONS);
    },
  });

function notificationsOf(changed: ChangeRequest, mayApply: boolean): ChangeNotification[] {
  const { id, title, proposal } = changed;
  const entry = (
    what: ChangeNotification['what'],
    { by, at }: Pick<ChangeNotification, 'by' | 'at'>,
  ): ChangeNotification => ({
    id,
    title: title ?? '',
    what,
    by,
    at,
  });
  const { approvals = [], comments = [], rejection = null } = proposal ?? {};
  return [
    ...approvals.map((each) => entry('approved', each)),
    ...comments.map((each) => entry('commented', each)),
    ...(rejection === null ? [] : [entry('rejected', rejection)]),
    ...endOf(changed, mayApply).map((what) => entry(what, { by: null, at: changed.changed_at })),
  ];
}

function endOf({ state, online }: ChangeRequest, mayApply: boolean): ('applied' | 'failed')[] {
  if (state === 'failed') return [state];
  return state === 'applied' && (online || !mayApply) ? [state] : [];
}

/* Indexes that are being built online. For admins and auditors. */

/** One step of a change request. */
export type IndexUnderWay = ChangeRequest['steps'][number] & { request: string };

/**
 * @param collection limits the result to this collection. Null if it does not exist yet. Undefined for all collections
 */
export function useIndexesUnderWay(isAsked: boolean, collection?: string | null): readonly IndexUnderWay[] {
  const isWanted = isAsked && collection !== null;
  const { data: changes = [] } = useQuery({ ...openRequestsQuery(collection ?? undefined), enabled: isWanted });
  // A queued request has no steps yet.
  const begun = isWanted ? changes.filter(({ state }) => state !== 'queued') : [];
  const steps = useQueries({ queries: begun.map(({ id }) => changeQuery(id)), combine: indexesOf });
  return collection === undefined ? steps : steps.filter((step) => step.collection === collection);
}

const indexesOf = (answers: UseQueryResult<ChangeRequest>[]): IndexUnderWay[] =>
  answers.flatMap(({ data }) =>
    data === undefined || !isInWork(data)
      ? []
      : data.steps
          .filter(({ kind, state }) => kind === 'index' && state !== 'done')
          .map((step) => ({ ...step, request: data.id })),
  );
