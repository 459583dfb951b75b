/**
 * Routes of /changes that read change requests (for authors and auditors) or withdraw them (authors only their own).
 */
import { toBuffer } from '../../kernel/bytes.js';
import { z } from 'zod';
import { WITHDRAW } from './index.js';
import { type Caller, allows } from '../accounts/caller.js';
import { readPolicy } from '../../log/decisive-events.js';
import type { Approver } from './rows.js';
import { type ChangeView, summaryOf } from './read.js';
import { allowedActions } from '../../schema/change-requests/fold.js';
import { CHANGE_STATES, type ChangePlace, isAtRest } from '../../schema/change-requests/model.js';
import { runYielding } from '../../kernel/event-loop.js';
import { requireClient, scheduler } from '../../kernel/scheduler.js';
import { createSemaphore } from '../../kernel/semaphore.js';
import { type Answer, jsonAnswer, jsonBytesAnswer, jsonBytes, largeJsonAnswer } from '../../http/answer/answer.js';
import { changeBody, runRecording, withBatch } from '../../http/change/change.js';
import { findChange, findOwnChange, changeNotFound, renderPlan, requestOutsideScope } from './routes-actions.js';
import type { HttpDeps } from '../../http/deps.js';
import { readCounts, count, flag, metaMembers, pageLimit, noQuery } from '../../http/request/query.js';
import {
  collectionScopeOf,
  hasNamesInScope,
  isNameVisible,
  isVisibleTo,
  visibleFindings,
  visibleProblem,
} from '../../http/request/scope.js';
import { data, page } from '../../http/openapi/answers/envelopes.js';
import { changeRequest, changeSummary } from './routes-answers.js';
import { route, type Route, NO_ACKNOWLEDGE } from '../../http/route.js';

const listQuery = z.strictObject({
  state: z.enum(CHANGE_STATES, { error: `must be one of ${CHANGE_STATES.join(', ')}.` }).optional(),
  collection: z.string().optional().describe('Only requests that change this collection'),
  author: z.string().optional().describe('Only requests of this user, by id'),
  to_approve: flag.describe('Only requests that wait for an approval of the current user'),
  offset: count.default(0).describe('Number of items to skip'),
  limit: pageLimit,
  meta: metaMembers.optional(),
});

/** The other actions are in `proposalRoutes`. */
export function changesRoutes(deps: HttpDeps): Route[] {
  const limitReads = createReadLimit();
  return [listRoute(deps, limitReads), requestRoute(deps, limitReads), withdrawRoute(deps)];
}

function listRoute({ changes, pool }: HttpDeps, limitReads: LimitReads): Route {
  const approverOf = async ({ id, role }: Caller): Promise<Approver> => {
    if (!allows(role, 'admin')) return { id, may: 'none' };
    return { id, may: (await readPolicy(pool)).policy.author_may_approve ? 'all' : 'others' };
  };
  return route({
    method: 'get',
    path: '/changes',
    operationId: 'listChanges',
    summary: 'List change requests, newest first',
    access: 'author or auditor',
    collections: 'filtered',
    query: listQuery,
    answers: { 200: page(changeSummary) },
    async handle({ caller, query: { to_approve, offset, limit, meta, ...filter } }) {
      const approver = to_approve ? await approverOf(caller) : undefined;
      const within = collectionScopeOf(caller);
      const list = async (): Promise<Answer> => {
        const listed = await changes.list({ ...filter, within, approver }, { offset, limit });
        const counts = await readCounts(meta, {
          total_count: () => changes.count({ within }),
          filter_count: () => changes.count({ ...filter, within, approver }),
        });
        return largeJsonAnswer({ data: listed, ...counts });
      };
      // Only a scope requires the documents of the requests.
      return within === undefined ? list() : limitReads(caller, list);
    },
  });
}

/**
 * Maximum number of concurrent reads, in total and per caller. Each read may need several megabytes and a connection.
 */
const READS = { all: 4, perCaller: 2 } as const;

/** Milliseconds that a read waits for other reads. */
const WAIT = 10_000;

type LimitReads = <T>(caller: Caller, read: () => Promise<T>) => Promise<T>;

/** Limits reads of the documents of requests. A read that waited does not begin if its client has disconnected. */
function createReadLimit(): LimitReads {
  const reads = createSemaphore(READS.all, READS.perCaller);
  return async (caller, read) => {
    const permit = await reads.acquire({ caller: caller.id, timeout: WAIT, refusal: scheduler.refuse });
    try {
      requireClient();
      return await read();
    } finally {
      permit.release();
    }
  };
}

/** @param request the JSON of an object that gets `planned` as a member */
const withPlanned = (request: Buffer, planned: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from('{"data":'),
    request.subarray(0, -1),
    Buffer.from(',"planned":'),
    planned,
    Buffer.from('}}'),
  ]);

/** Leaves out dependents, locks and places of comments that the caller's token may not read. */
const visibleChange = (caller: Caller, change: ChangeView): ChangeView => ({
  ...change,
  warnings: visibleFindings(caller, change.warnings),
  holds: change.holds.filter((name) => isVisibleTo(caller, name)),
  waiting_for: change.waiting_for.filter((holder) => isNameVisible(caller, holder)),
  proposal: change.proposal && {
    ...change.proposal,
    comments: change.proposal.comments.map((comment) => ({
      ...comment,
      place: comment.place && isPlaceVisible(caller, comment.place) ? comment.place : null,
    })),
  },
  problems: change.problems && change.problems.map((problem) => visibleProblem(caller, problem)),
});

/** The place of an earlier comment may no longer be part of the request, and so outside the scope. */
const isPlaceVisible = (caller: Caller, place: ChangePlace): boolean =>
  isNameVisible(caller, place.part === 'objects' ? { object: place } : { collection: place.collection });

/** Milliseconds for which a plan is cached. Its findings depend on tables, which change without events. */
const SHOWN = 10_000;

/** Shows a request. The plan is cached for 10 seconds, and computed again if the log grows in the meantime. */
function requestRoute(deps: HttpDeps, limitReads: LimitReads): Route {
  const { changes, store, rendered } = deps;
  return route({
    method: 'get',
    path: '/changes/:id',
    operationId: 'getChange',
    summary: 'Retrieve a change request with its plan, comments, progress and result',
    access: 'author or auditor',
    collections: 'filtered',
    query: noQuery,
    answers: { 200: data(changeRequest) },
    handle: (call) =>
      limitReads(call.caller, async () => {
        const { id } = await findChange(changes, call);
        const change = await changes.retrieve(id);
        if (change === undefined) throw changeNotFound(id);
        const { caller } = call;
        const state = await store.atHead(call.head);
        const { document, plan, online } = change;
        const within = collectionScopeOf(caller);
        const key = `plan ${JSON.stringify([id, document.hash, plan, online, call.head, Math.floor(Date.now() / SHOWN), within])}`;
        const planned = await rendered.get(state, key, async () => {
          const now = await changes.planNow(id, state);
          return jsonBytes(now === null ? null : await renderPlan(deps, now, { request: { plan }, caller }));
        });
        const body = changeBody(visibleChange(caller, change));
        // Its preparation can involve other collections in addition to those that it changes.
        if (!(await hasNamesInScope(caller, body))) throw requestOutsideScope();
        const shown = await runYielding(jsonBytes(body));
        return { ...jsonBytesAnswer(200, withPlanned(shown, toBuffer(planned.body))), position: state.position };
      }),
  });
}

function withdrawRoute({ changes }: HttpDeps): Route {
  return route({
    method: 'post',
    path: '/changes/:id/withdraw',
    operationId: 'withdrawChange',
    summary: 'Withdraw a change request and remove its prepared objects',
    access: 'author',
    collections: 'judged',
    query: noQuery,
    headers: NO_ACKNOWLEDGE,
    answers: { 200: data(changeRequest) },
    changes: true,
    errors: ['INVALID_STATE'],
    async handle(call): Promise<Answer> {
      const request = await findOwnChange(changes, call);
      const before = await changes.retrieve(request.id);
      if (before === undefined) throw changeNotFound(request.id);
      return runRecording(call, WITHDRAW, {
        run: (context) => changes.withdraw(request.id, context),
        render: (done) => {
          const after = done.changes?.get(request.id) ?? request;
          const shown = {
            ...changeBody(visibleChange(call.caller, before)),
            ...summaryOf(after),
            cleaning: !isAtRest(request),
            holds: [],
            waiting_for: [],
            allowed: allowedActions(after),
            planned: null,
          };
          return withBatch({ ...jsonAnswer(200, { data: shown }), position: done.position }, done);
        },
      });
    },
  });
}
