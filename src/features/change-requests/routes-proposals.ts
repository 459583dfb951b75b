/**
 * Routes of /changes for change requests. Authors may open and update their own requests. Admins may use all routes.
 */
import { z } from 'zod';
import { type Credential, allows } from '../accounts/caller.js';
import { noQuery } from '../../http/request/query.js';
import { type Problem, invalidProblem } from '../../kernel/problem.js';
import type { Outcome, RequestContext } from '../../pipeline/types.js';
import type { ChangeRequest } from '../../schema/change-requests/model.js';
import type { Acknowledgement } from '../../schema/policy.js';
import type { ChangeUpdated } from '../../schema/model/events.js';
import * as bodies from './routes-bodies.js';
import {
  findChange,
  findOwnChange,
  respondAfterAction,
  withReason,
  createBodyLocator,
  type ProposedChange,
  createProposedChange,
} from './routes-actions.js';
import type { HttpDeps } from '../../http/deps.js';
import { readPolicyBody } from '../../http/policy.js';
import { RejectedError, refused } from '../../http/errors.js';
import { rehearsalQuery, respondWithPlan, withCanonicalLocation } from '../../http/change/change.js';
import { acknowledgeOf } from '../../http/request/headers.js';
import { requirePerson, requireUnlimited } from '../../http/request/scope.js';
import { data } from '../../http/openapi/answers/envelopes.js';
import { actedOn, reverting } from './routes-answers.js';
import { randomUUID } from 'node:crypto';
import { runYielding } from '../../kernel/event-loop.js';
import { readResolutions } from '../../schema/merge/model.js';
import { unwrap } from '../../http/answer/answer.js';
import { type Call, documentBody, jsonBody, route, type Route, NO_ACKNOWLEDGE } from '../../http/route.js';

/** If the state of a request does not allow an action, the action is rejected with INVALID_STATE. */
export function proposalRoutes(deps: HttpDeps): Route[] {
  return [
    openingRoute(deps),
    updateRoute(deps),
    commentRoute(deps),
    ...judgingRoutes(deps),
    ...carryingOutRoutes(deps),
    ...mergingRoutes(deps),
  ];
}

const OF_SCHEMA = ['diff', 'snapshot', 'base', 'mode', 'force', 'online', 'purge'] as const;

/**
 * Undefined if the body has no policy. @throws RejectedError with the location, or FORBIDDEN for users who are not
 * admins
 */
function policyOf(body: bodies.NewChange | bodies.ChangeUpdate, { caller }: Call<unknown>): ProposedChange | undefined {
  if (body.policy === undefined) return undefined;
  const others = OF_SCHEMA.filter((member) => body[member] !== undefined);
  if (others.length > 0)
    throw new RejectedError(others.map((member) => invalidProblem([member], `${member} cannot be sent with a policy`)));
  const policy = readPolicyBody(body.policy, 'policy');
  if (!allows(caller.role, 'admin')) throw refused('FORBIDDEN', 'Only an admin can propose a policy.');
  return { name: 'update-policy', input: { policy }, command: { policy } };
}

/** The members of every action on a request. */
const acting = {
  query: noQuery,
  answers: { 200: data(actedOn) },
  changes: true,
  errors: ['INVALID_STATE'],
} as const;

/** The errors of decisions about a plan. */
const DECISION_ERRORS = ['INVALID_STATE', 'PLAN_CHANGED', 'SCHEMA_CHANGED'] as const;

function openingRoute(deps: HttpDeps): Route {
  const proposed = createProposedChange(deps);
  return route({
    ...acting,
    method: 'post',
    path: '/changes',
    operationId: 'openChange',
    summary: 'Open a change request with a diff, a snapshot of the intended schema, or a policy',
    access: 'author',
    collections: 'judged',
    body: documentBody(bodies.newChange, {
      example: { title: 'Orders have a note', reason: 'support asks for it', diff: { hash: '3f9a', diff: {} } },
    }),
    answers: { 200: data(actedOn), 201: data(actedOn) },
    errors: ['NOT_FOUND', 'SCHEMA_CHANGED', 'MERGE_CONFLICT'],
    async handle(call) {
      const { body } = call;
      const change = policyOf(body, call) ?? (await proposed(body, call));
      if (change === undefined)
        throw new RejectedError([invalidProblem(['diff'], 'a diff, a snapshot or a policy is required')]);
      const proposal = { ...change, ...readPlanOptions(call, body), title: body.title, online: body.online ?? false };
      return respondAfterAction(call, 'open-change', {
        run: (context) =>
          deps.changes.propose(proposal, withReason(withAcknowledgements(context, proposal), body.reason)),
        located: createBodyLocator(body),
      });
    },
  });
}

/** Reads acknowledgements from the body, or from the header as in all other changes. */
function readPlanOptions(call: Call<unknown>, { purge, acknowledge }: Pick<bodies.NewChange, 'purge' | 'acknowledge'>) {
  const inHeader = acknowledgeOf(call.req);
  if (inHeader !== undefined && acknowledge !== undefined)
    throw new RejectedError([
      invalidProblem(['acknowledge'], 'send the acknowledgements in the body or in X-Acknowledge, not in both'),
    ]);
  const acknowledged = [...(acknowledge?.map(withCanonicalLocation) ?? inHeader ?? [])];
  return { ...(purge === true && { purge }), ...(acknowledged.length > 0 && { acknowledged }) };
}

/**
 * Adds the location of the diff to acknowledgements in the body. Acknowledgements in the header already have a
 * location.
 */
const withAcknowledgements = (
  context: RequestContext,
  options: { acknowledged?: Acknowledgement[] } = {},
): RequestContext =>
  options.acknowledged === undefined || context.acknowledges !== undefined
    ? context
    : { ...context, acknowledges: { findings: options.acknowledged, at: (index) => ['acknowledge', index] } };

function updateRoute(deps: HttpDeps): Route {
  const proposed = createProposedChange(deps);
  return route({
    ...acting,
    method: 'patch',
    path: '/changes/:id',
    operationId: 'updateChange',
    summary: 'Update the title, reason or content of a change request',
    access: 'author',
    collections: 'judged',
    body: documentBody(bodies.changeUpdate),
    errors: [...DECISION_ERRORS, 'MERGE_CONFLICT'],
    async handle(call) {
      const { id, online: before } = await findOwnChange(deps.changes, call);
      const { body } = call;
      const { title, reason, online = before } = body;
      const change = policyOf(body, call) ?? (await proposed(body, call));
      if (change === undefined) rejectOptionsWithoutDiff(call);
      const texts: Pick<ChangeUpdated, 'title' | 'reason'> = {
        ...(title !== undefined && { title }),
        ...(reason !== undefined && { reason }),
      };
      const proposal = change && { ...change, ...readPlanOptions(call, body), online };
      const input = { texts, change: proposal, ...(body.purge !== undefined && { purge: body.purge }) };
      return respondAfterAction(call, 'update-change', {
        run: (context) => deps.changes.update(id, input, withAcknowledgements(context, proposal)),
        located: proposal === undefined ? locateInDocument : createBodyLocator(body),
      });
    },
  });
}

/** Rejects acknowledgements and online preparation without a diff, because both refer to the diff. */
function rejectOptionsWithoutDiff({ body, req }: Pick<Call<unknown>, 'req'> & { body: bodies.ChangeUpdate }): void {
  const { acknowledge = acknowledgeOf(req) } = body;
  const members = Object.entries({ online: body.online, acknowledge }).flatMap(([name, value]) =>
    value === undefined ? [] : [name],
  );
  if (members.length > 0)
    throw new RejectedError(
      members.map((member) => invalidProblem([member], `${member} can only be sent with a diff`)),
    );
  if (body.title === undefined && body.reason === undefined && body.purge === undefined)
    throw new RejectedError([
      invalidProblem([], 'nothing to update: send a title, a reason, a diff, a snapshot, a policy or the option purge'),
    ]);
}

function commentRoute({ changes }: HttpDeps): Route {
  return route({
    ...acting,
    method: 'post',
    path: '/changes/:id/comment',
    operationId: 'commentChange',
    summary: 'Comment on a change request, or on one of its changes',
    access: 'author',
    collections: 'judged',
    body: jsonBody(bodies.changeComment),
    headers: NO_ACKNOWLEDGE,
    async handle(call) {
      const { id } = await findChange(changes, call);
      return respondAfterAction(call, 'comment-change', {
        run: (context) => changes.comment(id, call.body, context),
      });
    },
  });
}

/**
 * Explains why an issued credential cannot approve. An admin could otherwise issue a token or password to another admin
 * and approve with it.
 */
const foreignCredentialMessage = ({ kind, rule }: Credential): string =>
  rule === undefined ? FOREIGN_CREDENTIAL[kind] : 'A pipeline cannot approve. Sign in with your own password or token.';

const FOREIGN_CREDENTIAL: Readonly<Record<Credential['kind'], string>> = {
  token:
    'Another user issued this API token, so you cannot approve with it. Sign in with your password and create your own token.',
  password: 'Another user set this password, so you cannot approve with it. Choose your own password first.',
  identity:
    'This identity was linked with a password that another user had set, so you cannot approve with it. Ask an admin to unlink it, choose your own password, and link it again.',
};

function judgingRoutes({ changes, store }: HttpDeps): Route[] {
  return [
    route({
      ...acting,
      method: 'post',
      path: '/changes/:id/approve',
      operationId: 'approveChange',
      summary: 'Approve exactly the reviewed plan',
      access: 'admin',
      collections: 'judged',
      body: jsonBody(bodies.changeApproval),
      headers: NO_ACKNOWLEDGE,
      errors: DECISION_ERRORS,
      async handle(call) {
        const { id } = await findChange(changes, call);
        const { kind, issuedBy, token } = call.caller.credential;
        if (issuedBy !== null) throw refused('FORBIDDEN', foreignCredentialMessage(call.caller.credential));
        const approval = { ...call.body, credential: kind, token, state: await store.atHead(call.head) };
        return respondAfterAction(call, 'approve-change', {
          run: (context) => changes.approve(id, approval, context),
          located: locateInDocument,
        });
      },
    }),
    route({
      ...acting,
      method: 'post',
      path: '/changes/:id/reject',
      operationId: 'rejectChange',
      summary: 'Reject a change request and revoke its approvals',
      access: 'admin',
      collections: 'judged',
      body: jsonBody(bodies.changeRejection, { optional: true }),
      headers: NO_ACKNOWLEDGE,
      async handle(call) {
        const { id } = await findChange(changes, call);
        return respondAfterAction(call, 'reject-change', {
          run: (context) => changes.reject(id, call.body.comment, context),
        });
      },
    }),
  ];
}

/** `GET /changes/:id` explains the request. */
const applyQuery = z.strictObject({ dry_run: rehearsalQuery.dry_run });

const AT_WITH_DRY_RUN = '"at" cannot be combined with "dry_run", which executes the change now';

function carryingOutRoutes(deps: HttpDeps): Route[] {
  const { changes } = deps;
  const createAction = (request: ChangeRequest, run: (context: RequestContext) => Promise<Outcome>) => ({
    run: ({ cause, ...context }: RequestContext): Promise<Outcome> =>
      run({ ...context, cause: { ...cause, reason: cause.reason ?? request.reason } }),
    located: locateInDocument,
  });
  return [
    route({
      ...acting,
      method: 'post',
      path: '/changes/:id/prepare',
      operationId: 'prepareChange',
      summary: 'Execute the slow steps of a change request without applying it',
      access: 'admin',
      headers: NO_ACKNOWLEDGE,
      answers: { 200: data(actedOn), 202: data(actedOn) },
      errors: DECISION_ERRORS,
      async handle(call) {
        const request = await findChange(changes, call);
        const run = createAction(request, (context) => changes.prepare(request.id, context));
        return respondAfterAction(call, 'prepare-change', run);
      },
    }),
    route({
      ...acting,
      method: 'post',
      path: '/changes/:id/apply',
      operationId: 'applyChange',
      summary: 'Apply a change request, now or at a given time. An online change is prepared first',
      access: 'admin',
      collections: 'judged',
      query: applyQuery,
      body: jsonBody(bodies.changeApplication, { optional: true }),
      headers: NO_ACKNOWLEDGE,
      answers: { 200: data(actedOn), 202: data(actedOn) },
      errors: DECISION_ERRORS,
      async handle(call) {
        const request = await findChange(changes, call);
        const { at } = call.body;
        if (request.operation === 'update-policy') requirePerson(call.caller);
        if (at !== undefined || request.online) requireUnlimited(call.caller, 'Scheduled and online changes');
        if (call.query.dry_run) {
          if (at !== undefined) throw new RejectedError([invalidProblem(['at'], AT_WITH_DRY_RUN)]);
          const run = (context: RequestContext) => changes.rehearse(request.id, context);
          return respondWithPlan(deps, call, {
            command: 'apply-change',
            run,
            located: locateInDocument,
            online: request.online,
          });
        }
        const run = createAction(request, (context) =>
          at === undefined
            ? changes.apply(request.id, context)
            : changes.schedule(request.id, new Date(at).toISOString(), context),
        );
        return respondAfterAction(call, at === undefined ? 'apply-change' : 'schedule-change', run);
      },
    }),
  ];
}

/** Members of a body that do not describe the change. */
const OWN_MEMBERS: ReadonlySet<string> = new Set(['plan', 'view', 'at', 'purge']);

/** Moves the location of a problem to `details`, because it is in the document of the request and not in the body. */
const locateInDocument = (fault: Problem): Problem => {
  const { path, ...problem } = withAdvice(fault);
  if (path === undefined || OWN_MEMBERS.has(path)) return { ...problem, ...(path && { path }) };
  return { ...problem, details: { ...problem.details, place: path } };
};

const UPDATE_WITH_PURGE =
  'In a change request, set it with an update ("dps changes update --purge"), which existing approvals do not cover.';

/** Adds advice to a problem about an option. An action cannot add an option that the requested change lacks. */
const withAdvice = (problem: Problem): Problem =>
  problem.details?.['option'] === 'purge'
    ? { ...problem, message: `${problem.message} ${UPDATE_WITH_PURGE}` }
    : problem;

/** Only admins may rebase another user's request. */
function mergingRoutes({ changes }: HttpDeps): Route[] {
  return [
    route({
      method: 'post',
      path: '/changes/:id/rebase',
      operationId: 'rebaseChange',
      summary: 'Rebase a change request onto the current schema',
      access: 'author',
      query: noQuery,
      body: documentBody(bodies.changeRebase, { optional: true }),
      headers: NO_ACKNOWLEDGE,
      answers: { 200: data(actedOn) },
      changes: true,
      errors: ['INVALID_STATE', 'PLAN_CHANGED', 'SCHEMA_CHANGED', 'MERGE_CONFLICT'],
      async handle(call) {
        const request = await findOwnChange(changes, call);
        const resolutions = unwrap(await runYielding(readResolutions(call.body.resolve)));
        const run = (context: Parameters<typeof changes.rebase>[2]) => changes.rebase(request.id, resolutions, context);
        return respondAfterAction(call, 'rebase-change', { run }, { request });
      },
    }),
    route({
      method: 'post',
      path: '/changes/:id/revert',
      operationId: 'revertChange',
      summary: 'Open a change request that reverts an applied one',
      access: 'author',
      query: noQuery,
      body: documentBody(bodies.changeRevert, { optional: true }),
      headers: NO_ACKNOWLEDGE,
      answers: { 200: data(reverting), 201: data(reverting) },
      changes: true,
      errors: ['INVALID_STATE', 'PLAN_CHANGED', 'SCHEMA_CHANGED', 'MERGE_CONFLICT'],
      async handle(call) {
        const { id } = await findChange(changes, call);
        const { title, reason, online, purge, resolve } = call.body;
        const resolutions = unwrap(await runYielding(readResolutions(resolve)));
        const input = { id, newId: randomUUID(), title, online, purge, resolutions };
        const run = (context: Parameters<typeof changes.revert>[1]) =>
          changes.revert(input, withReason(context, reason));
        return respondAfterAction(call, 'revert-change', { run }, { more: ({ returns = [] }) => ({ returns }) });
      },
    }),
  ];
}
