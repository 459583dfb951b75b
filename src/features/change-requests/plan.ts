/* The plan of a batch that was decided for a proposal. */
import type pg from 'pg';
import { runYielding } from '../../kernel/event-loop.js';
import { stepsTo } from '../../kernel/resumable.js';
import { planHash } from '../../schema/change-requests/plan-hash.js';
import {
  type PlannedBatch,
  type RetentionOptions,
  type Command,
  CommandRefused,
  type Prepare,
} from '../../pipeline/types.js';
import { type NamedCommand, type Reading, commandOf } from './command.js';
import { canonicalJson } from '../../kernel/canonical.js';
import { sha256 } from '../../kernel/sha256.js';
import { readPolicy } from '../../log/decisive-events.js';
import { type Problem, type Result, ok, refuse, type Warning } from '../../kernel/problem.js';
import type { Statement } from '../../projector/ddl/step.js';
import { planBatch } from '../../projector/ddl/plan.js';
import { findingsByPolicy } from '../../projector/findings.js';
import { approvedViewOf } from '../../schema/change-requests/approvals.js';
import type { ChangeRequest } from '../../schema/change-requests/model.js';
import { type SchemaDiff, diffStates } from '../../schema/diff/diff.js';
import { collectionsChanged } from '../../schema/fold/event-schemas.js';
import type { Finding } from '../../schema/findings/model.js';
import { type ApprovedView, type LogEvent, isDeletion } from '../../schema/model/events.js';
import { locationText } from '../../schema/model/location.js';
import { type FindingWithAction, type Policy, policyWarnings } from '../../schema/policy.js';
import { type State, byName } from '../../schema/model/state.js';
import { findMentions } from '../../pipeline/transaction/enforce-policy.js';
import { type EstimatedRetention, estimateKept } from '../../pipeline/transaction/keep-deleted.js';
import { operations, type CommandOf } from '../../schema/operations/index.js';
import type { Operation } from '../../schema/operations/operation.js';
import type { UpdatePolicy } from '../../schema/operations/update-policy.js';
import { withDescendants } from '../../projector/inheritance/descendants.js';
import { readChange } from './rows.js';
import { type ChangeAction, allowsAction } from '../../schema/change-requests/fold.js';
import type { Queryable } from '../../postgres/pool.js';
import { wrongState } from './planning.js';
import { concurrentUpdateProblem } from './problems.js';

export type PlanOptions = Pick<NamedCommand, 'purge' | 'acknowledges'>;

/** Returns the hex hash of everything the batch would do. Equal requests for the same schema have equal hashes. */
export const planOf = (
  { before, after, events, policy }: PlannedBatch,
  { purge, acknowledges }: PlanOptions,
): Promise<string> =>
  runYielding(planHash({ before: before.state, after, events, purge, policy, acknowledge: acknowledges?.findings }));

/* Plans a proposal against the current schema, without a transaction and without running anything. */

export type PlanNow =
  /** The proposal does not match the current schema. */
  | { kind: 'conflicts'; problems: Problem[] }
  | {
      kind: 'planned';
      /**
       * The hash of the plan. It differs from that of the request if the objects that the request changes or deletes
       * have changed.
       */
      hash: string;
      purge: boolean;
      before: State;
      after: State;
      events: LogEvent[];
      statements: Statement[];
      /** Warnings that do not come from the rules. */
      warnings: Warning[];
      /** The policy in force and its replacement. Null if the request changes the schema. */
      policy: { from: Policy; to: Policy } | null;
      diff: SchemaDiff;
      view: PlanView;
    };

/** The facts about a plan that a reviewer sees in addition to its statements. */
export interface PlanView {
  findings: FindingWithAction<Finding>[];
  /** The deleted objects. `why` explains why the trash would not keep an object, and is null if it would. */
  loses: { collection: string; field: string | null; why: string | null }[];
  /** The facts that an approval records. */
  seen: Pick<ApprovedView, 'online' | 'findings' | 'kept'>;
  /** The hash of `seen`. An approval can contain it. */
  hash: string;
}

/** `schema` is the schema of the tables, and `keep` the settings of the trash. */
export interface PlanContext extends Reading {
  schema: string;
  keep: RetentionOptions;
  /** The role of OBJECTS_OWNER. */
  objectsOwner?: string | null;
}

export async function planNow(reading: PlanContext, request: ChangeRequest, state: State): Promise<PlanNow> {
  const askedFor = await commandOf(reading, request);
  if (!askedFor.ok) return { kind: 'conflicts', problems: askedFor.problems };
  const { name, command, purge, acknowledges } = askedFor.value;
  const { decide } = operations[name] as unknown as Operation<string, object, object, LogEvent>;
  const current = name === 'update-policy' && { current: (await readPolicy(reading.pool)).policy };
  const now = { ...command, ...current };
  const decided = await runYielding(stepsTo(decide(state, now)));
  if (!decided.ok) return { kind: 'conflicts', problems: decided.problems };
  const { pool, schema, objectsOwner: owner } = reading;
  const inheriting = { state, events: decided.value, schema, purge: purge === true };
  const { events, warnings, problems } = await withDescendants(pool, inheriting);
  if (problems.length > 0) return { kind: 'conflicts', problems: [...problems] };
  const policy = name === 'update-policy' ? (now as UpdatePolicy) : undefined;
  const { statements, after } = await runYielding(planBatch(state, events, schema, { owner }));
  const plan = { before: state, after, events };
  const shown = { ...plan, statements, warnings, online: request.online, purge: purge === true };
  return {
    ...plan,
    kind: 'planned',
    hash: await runYielding(planHash({ ...plan, policy: policy?.current, purge, acknowledge: acknowledges?.findings })),
    purge: purge === true,
    statements,
    warnings,
    policy: policy === undefined ? null : { from: policy.current as Policy, to: policy.policy },
    diff: await runYielding(diffStates(state, after, collectionsChanged(events))),
    view: await readView(reading, shown),
  };
}

type ShownPlan = Pick<
  Extract<PlanNow, { kind: 'planned' }>,
  'before' | 'after' | 'events' | 'statements' | 'warnings' | 'purge'
> & {
  online: boolean;
};

/** Returns the findings of applying the plan now, without locking or running anything. */
async function readView(
  { pool, schema, keep }: PlanContext,
  { purge, warnings, ...plan }: ShownPlan,
): Promise<PlanView> {
  const { before: state, after, events, online } = plan;
  const { policy } = await readPolicy(pool);
  const { lost, warnings: ofTrash } = events.some(isDeletion)
    ? await estimateKept(pool, { state, events, schema, keep, online, purge })
    : NOTHING_LOST;
  const named = await findMentions(pool, policy, { before: state, after, events });
  const noticed = [...warnings, ...ofTrash, ...named, ...policyWarnings(policy, events)];
  const judging = { ...plan, keep: purge ? 0 : keep.deleted, adopted: true };
  const findings = await findingsByPolicy(pool, schema, { plan: judging, policy, noticed }, { patient: true });
  const loses = events.flatMap((event, index) =>
    isDeletion(event) ? [{ collection: event.collection, field: event.field, why: lost.get(index) ?? null }] : [],
  );
  const kept = loses.filter(({ why }) => why === null).map(locationText);
  const seen = { online, findings: approvedViewOf(findings), kept: kept.sort(byName) };
  return { findings, loses, seen, hash: sha256(canonicalJson(seen)) };
}

const NOTHING_LOST: EstimatedRetention = { lost: new Map(), warnings: [] };

/* Reads the requested change of a proposal for an action on it. */

/** The operations that a proposal can contain. */
export type ProposedOperation = 'apply-diff' | 'update-policy';

type ProposedCommand = CommandOf<ProposedOperation>;

interface RequestedOperationNow {
  name: ProposedOperation;
  input: object;
  /** Decides the change against the current schema and policy. Rejects if the request does not allow the action. */
  command: Prepare<ProposedCommand>;
  planOptions: PlanOptions;
  online: boolean;
}

/** Reads the document before the transaction. In the transaction, the request must still have the same document. */
export async function requestedOperationNow(
  reading: Reading,
  id: string,
  action: ChangeAction,
): Promise<Result<RequestedOperationNow>> {
  const request = await readChange(reading.pool, id);
  if (request === undefined) return refuse(wrongState(id, undefined));
  if (request.proposal === null) return refuse(wrongState(id, request));
  const askedFor = await commandOf(reading, request);
  if (!askedFor.ok) return explainMissingDocument(reading.pool, id, action, askedFor);
  const { command, name, input, ...planOptions } = askedFor.value;
  const decided = command as Command<ProposedCommand>;
  return ok({
    name: name as ProposedOperation,
    input,
    planOptions,
    online: request.online,
    command: async (client, ...at) => {
      const now = await requireAllowed(client, id, action);
      if (now.document !== request.document) throw new CommandRefused([concurrentUpdateProblem(id)]);
      return typeof decided === 'function' ? decided(client, ...at) : decided;
    },
  });
}

type Refusal = Extract<Result<never>, { ok: false }>;

/**
 * Explains why the document of a request could not be read. Withdrawing a request erases its document, so the state of
 * the request comes first.
 */
export async function explainMissingDocument(
  db: Queryable,
  id: string,
  action: ChangeAction,
  missing: Refusal,
): Promise<Refusal> {
  const now = await requireAction(db, id, action);
  return now.ok ? missing : now;
}

/** Returns the request, or a problem if it does not allow the action. */
export async function requireAction(db: Queryable, id: string, action: ChangeAction): Promise<Result<ChangeRequest>> {
  const request = await readChange(db, id);
  return request !== undefined && allowsAction(request, action) ? ok(request) : refuse(wrongState(id, request));
}

/** Returns the request. @throws CommandRefused if it does not allow the action now */
export async function requireAllowed(
  client: pg.ClientBase,
  id: string,
  action: ChangeAction,
): Promise<ChangeRequest & { proposal: NonNullable<ChangeRequest['proposal']> }> {
  const request = await readChange(client, id);
  if (request === undefined || request.proposal === null || !allowsAction(request, action))
    throw new CommandRefused([wrongState(id, request)]);
  return { ...request, proposal: request.proposal };
}
