/** Defines the actions of people on change requests, and the resulting events. */
import { randomUUID } from 'node:crypto';
import type { Document } from '../../log/document-lines.js';
import { toDocument } from '../../log/documents.js';
import { type Result, ok, refuse } from '../../kernel/problem.js';
import type { ChangeUpdated } from '../../schema/model/events.js';
import type { ChangePlace, ChangeState } from '../../schema/change-requests/model.js';
import { readChange } from './rows.js';
import type { Resolution } from '../../schema/merge/model.js';
import type { State } from '../../schema/model/state.js';
import type { CommandOf } from '../../schema/operations/index.js';
import {
  CommandRefused,
  type Command,
  type Outcome,
  type Pipeline,
  type Plan,
  type PlanRequest,
  type Refusal,
  type RequestContext,
  type Revise,
} from '../../pipeline/types.js';
import type { Reading, RequestedOperation } from './command.js';
import {
  type ActionOptions,
  reviseForAction,
  reviseForDryRun,
  type ApprovalInput,
  reviseForApproval,
  planComment,
  planRejection,
  reviseForSchedule,
} from './review-and-apply.js';
import { withPreparation } from './planning.js';
import {
  type PlanOptions,
  type PlanNow,
  type PlanContext,
  planNow,
  type ProposedOperation,
  requireAllowed,
  requestedOperationNow,
  requireAction,
} from './plan.js';
import { deletesNothing, otherView } from './problems.js';
import {
  type ProposalInput,
  reviseForProposal,
  requireRoom,
  planTextUpdate,
  reviseForUpdate,
  type RebaseContext,
  type RevertOptions,
  rebase,
  revert,
} from './propose-and-rebase.js';

/** The requested change. */
export interface RequestedChange extends Pick<RequestedOperation, 'purge' | 'acknowledged'> {
  name: ProposedOperation;
  /** The input of the operation. */
  input: object;
  command: Command<CommandOf<ProposedOperation>>;
  online: boolean;
}

export interface Proposals {
  /** Opens a request. Rejects with the problems of the requested change. */
  propose(change: RequestedChange & { title: string }, request: RequestContext): Promise<Outcome>;
  /** @param update without `asked`, the requested change stays the same. `purge` alone changes only that option */
  update(
    id: string,
    update: { texts: Pick<ChangeUpdated, 'title' | 'reason'>; change?: RequestedChange | undefined; purge?: boolean },
    request: RequestContext,
  ): Promise<Outcome>;
  /** Rejects a place that is not in the diff of the request. */
  comment(
    id: string,
    comment: { comment: string; place?: ChangePlace | undefined },
    request: RequestContext,
  ): Promise<Outcome>;
  /** @param plan the hash of the reviewed plan */
  approve(
    id: string,
    texts: Pick<ApprovalInput, 'plan' | 'credential' | 'token'> & {
      comment?: string | undefined;
      /** The hash of the findings that the approver read. If absent, the current findings count. */
      view?: string | undefined;
      /** The schema at the head. */
      state: State;
    },
    request: RequestContext,
  ): Promise<Outcome>;
  reject(id: string, comment: string | undefined, request: RequestContext): Promise<Outcome>;
  prepare(id: string, request: RequestContext): Promise<Outcome>;
  apply(id: string, request: RequestContext): Promise<Outcome>;
  /** Returns what applying the request now would do. Rejects for the reasons of `apply`, except policy requirements. */
  rehearse(id: string, request: PlanRequest): Promise<Plan | Refusal>;
  /** Schedules the request by the database's clock. @param at ISO 8601, in UTC */
  schedule(id: string, at: string, request: RequestContext): Promise<Outcome>;
  /**
   * Rebases the request onto the current schema. Rejects with MERGE_CONFLICT. If the request is already based on that
   * schema, no event is appended.
   */
  rebase(id: string, resolutions: readonly Resolution[], request: RequestContext): Promise<Outcome>;
  /** Opens a new request that reverts an applied one. */
  revert(reverting: RevertOptions, request: RequestContext): Promise<Outcome>;
  /** Returns the plan of a request for a schema. Null if the request has ended or is not a proposal. */
  planNow(id: string, state: State): Promise<PlanNow | null>;
}

/** `schema`: the schema of the tables. */
export type ProposalOptions = Pick<ActionOptions, 'engine'> &
  Reading &
  Pick<PlanContext, 'schema' | 'keep' | 'objectsOwner'> &
  Pick<RebaseContext, 'at' | 'quotas'> & { pipeline: Pick<Pipeline, 'apply' | 'dryRun'> };

/** Maximum number of characters of a requested change. It is parsed without a pause each time it is shown. */
const MOST = 4 * 1024 ** 2;

/** Texts and requested changes are stored as documents, in the transaction of the event that names them. */
export function createProposals(options: ProposalOptions): Proposals {
  const { pipeline } = options;
  const rebasing: RebaseContext = {
    ...options,
    documentOf: async (askedFor) => {
      const document = await documentOf(askedFor);
      if (!document.ok) throw new CommandRefused(document.problems);
      return document.value;
    },
  };
  const runAction = async (id: string, action: 'prepare' | 'apply', request: RequestContext): Promise<Outcome> => {
    const askedFor = await requestedOperationNow(options, id, action);
    if (!askedFor.ok) return { kind: 'refused', problems: askedFor.problems };
    const { name, command, planOptions, online } = askedFor.value;
    const revise = reviseForAction(id, action, { ...options, planOptions });
    return pipeline.apply(name, command, {
      ...request,
      revise,
      ...planOptions,
      online,
    });
  };
  return {
    async propose({ title, name, input, command, online, ...planOptions }, request) {
      const document = await documentOf({ operation: name, input, ...planOptions });
      if (!document.ok) return { kind: 'refused', problems: document.problems };
      const { credential } = request;
      const proposed = { operation: name, document: document.value, online, credential, ...toPlanOptions(planOptions) };
      const revise = reviseForProposal(randomUUID(), { title, ...proposed });
      const within: Revise = async (client, batch) => {
        await requireRoom(client, request.cause.actor.id, options.quotas.changes);
        return revise(client, batch);
      };
      return pipeline.apply(name, command, withRevise(request, within, planOptions));
    },
    async update(id, { texts, change: sent, purge }, request) {
      const change = sent === undefined && purge !== undefined ? await withPurge(options, id, purge) : ok(sent);
      if (!change.ok) return { kind: 'refused', problems: change.problems };
      if (change.value === undefined) return pipeline.apply('record', planTextUpdate(id, texts), request);
      const { name, input, command, online, ...planOptions } = change.value;
      const document = await documentOf({ operation: name, input, ...planOptions });
      if (!document.ok) return { kind: 'refused', problems: document.problems };
      const proposed: ProposalInput = {
        operation: name,
        document: document.value,
        online,
        credential: request.credential,
        ...toPlanOptions(planOptions),
      };
      return pipeline.apply(
        name,
        requireUpdatable(id, command),
        withRevise(request, reviseForUpdate(id, texts, proposed), planOptions),
      );
    },
    async comment(id, { comment, place }, request) {
      const document = await toDocument({ comment, ...(place && { place }) });
      return pipeline.apply('record', planComment(id, document, place), request);
    },
    async approve(id, { comment, view: read, state, ...approval }, request) {
      const before = await requireAction(options.pool, id, 'approve');
      if (!before.ok) return { kind: 'refused', problems: before.problems };
      const now = await planNow(options, before.value, state);
      const shown = now.kind === 'planned' ? now.view : undefined;
      if (read !== undefined && read !== shown?.hash) {
        // The request may have ended in the meantime, which changes its plan or erases its document.
        const still = await requireAction(options.pool, id, 'approve');
        return { kind: 'refused', problems: still.ok ? [otherView(id, read, shown?.hash)] : still.problems };
      }
      const askedFor = await requestedOperationNow(options, id, 'approve');
      if (!askedFor.ok) return { kind: 'refused', problems: askedFor.problems };
      const { name, command, planOptions, online } = askedFor.value;
      const approving = {
        ...approval,
        seen: shown?.seen,
        comment: await commentDocument(comment),
        by: request.cause.actor,
      };
      const revise = reviseForApproval(id, approving, planOptions);
      return pipeline.apply(name, command, { ...withRevise(request, revise, planOptions), online });
    },
    reject: async (id, comment, request) =>
      pipeline.apply('record', planRejection(id, await commentDocument(comment)), request),
    prepare: (id, request) => runAction(id, 'prepare', request),
    apply: (id, request) => runAction(id, 'apply', request),
    async rehearse(id, request) {
      const askedFor = await requestedOperationNow(options, id, 'apply');
      if (!askedFor.ok) return { kind: 'refused', problems: askedFor.problems };
      const { name, command, planOptions, online } = askedFor.value;
      return pipeline.dryRun(name, command, {
        ...request,
        revise: reviseForDryRun(id, { planOptions, ...(online && { foresee: withPreparation(options.engine) }) }),
        ...planOptions,
        online,
      });
    },
    async schedule(id, at, request) {
      const askedFor = await requestedOperationNow(options, id, 'apply');
      if (!askedFor.ok) return { kind: 'refused', problems: askedFor.problems };
      const { name, command, planOptions, online } = askedFor.value;
      const revise = reviseForSchedule(id, at, planOptions);
      return pipeline.apply(name, command, { ...request, revise, ...planOptions, online });
    },
    rebase: (id, resolutions, request) => rebase(rebasing, { id, resolutions }, request),
    revert: (reverting, request) => revert(rebasing, reverting, request),
    async planNow(id, state) {
      const request = await readChange(options.pool, id);
      if (request === undefined || request.proposal === null || OVER.has(request.state)) return null;
      return planNow(options, request, state);
    },
  };
}

/** Returns the requested change of a proposal with a different value of `purge`. */
async function withPurge(reading: Reading, id: string, purge: boolean): Promise<Result<RequestedChange>> {
  const askedFor = await requestedOperationNow(reading, id, 'update');
  if (!askedFor.ok) return askedFor;
  const { planOptions, ...change } = askedFor.value;
  if (change.name === 'update-policy') return refuse(deletesNothing(id));
  const acknowledged = planOptions.acknowledges && { acknowledged: [...planOptions.acknowledges.findings] };
  return ok({ ...change, ...(purge && { purge }), ...acknowledged });
}

const OVER: ReadonlySet<ChangeState> = new Set(['applied', 'withdrawn']);

const toPlanOptions = ({ purge, acknowledged }: Pick<RequestedOperation, 'purge' | 'acknowledged'>): PlanOptions => ({
  ...(purge && { purge }),
  ...(acknowledged && { acknowledges: { findings: acknowledged } }),
});

/** Returns the context of an action that only decides. Such an action prepares and runs nothing. */
const withRevise = (
  request: RequestContext,
  revise: NonNullable<RequestContext['revise']>,
  { purge }: Pick<RequestedOperation, 'purge'>,
): RequestContext => ({ ...request, revise, ...(purge && { purge: true }) });

/** Adds a check to the command, so that a proposal that cannot be updated is rejected for that reason first. */
const requireUpdatable =
  (id: string, command: RequestedChange['command']): RequestedChange['command'] =>
  async (client, ...at) => {
    await requireAllowed(client, id, 'update');
    return typeof command === 'function' ? command(client, ...at) : command;
  };

const commentDocument = async (text: string | undefined): Promise<Document | undefined> =>
  text === undefined ? undefined : toDocument({ comment: text });

async function documentOf(askedFor: RequestedOperation): Promise<Result<Document>> {
  const document = await toDocument(askedFor);
  if (document.content.length <= MOST) return { ok: true, value: document };
  const message = `A change request may have at most ${MOST.toLocaleString('en')} characters. Propose a large change in several requests.`;
  return { ok: false, problems: [{ code: 'INVALID_PAYLOAD', message, path: 'diff' }] };
}
