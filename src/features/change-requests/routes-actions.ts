/* Reads the bodies of change requests, and shows requests and plans. */
import { readReturningEntries } from '../trash/rows.js';
import { withoutLocations } from '../../schema/findings/finding.js';
import type { PlanNow } from './plan.js';
import type { HttpDeps } from '../../http/deps.js';
import { readEquality } from '../../http/diff-answer.js';
import { errorBody, refused, type EdgeProblem, RejectedError, inManagedSchemas } from '../../http/errors.js';
import {
  toShownStatement,
  type Recording,
  runRecording,
  withBatch,
  withLosses,
  commandOf,
} from '../../http/change/change.js';
import type { CompletedChange, RequestContext } from '../../pipeline/types.js';
import { summaryOf, type Changes } from './read.js';
import { allowedActions } from '../../schema/change-requests/fold.js';
import type { ChangeRequest } from '../../schema/change-requests/model.js';
import { type Answer, jsonAnswer, unwrap } from '../../http/answer/answer.js';
import type { Call } from '../../http/route.js';
import { isUuid } from '../../kernel/text.js';
import { type Problem, invalidProblem } from '../../kernel/problem.js';
import { runYielding } from '../../kernel/event-loop.js';
import type { RequestedChange } from './proposals.js';
import { type Comparison, compareSnapshot } from '../../schema/compare/compare-snapshot.js';
import { isEmptyDiff } from '../../schema/diff/diff.js';
import { readOrigins } from '../../schema/diff/origins.js';
import { mergeSnapshot } from '../../schema/merge/merge-states.js';
import { describeLocation } from '../../schema/merge/model.js';
import type { ChangeUpdate, NewChange } from './routes-bodies.js';
import { createMomentState } from '../../http/history.js';
import {
  collectionScopeOf,
  isVisibleTo,
  outsideScope,
  hasNamesInScope,
  requireUnlimited,
  visibleFindings,
  visiblePlan,
  visibleProblem,
  visibleTo,
} from '../../http/request/scope.js';
import type { Caller } from '../accounts/caller.js';
import { snapshotHash } from '../../schema/snapshot/snapshot.js';

/* Runs an action on a change request and responds with the updated request. */

/** Adds the reason. It can be in the body or in the header. */
export const withReason = (context: RequestContext, reason: string | null | undefined): RequestContext =>
  reason == null ? context : { ...context, cause: { ...context.cause, reason } };

interface AnswerOptions {
  /** The request, if the action did not change it. */
  request?: ChangeRequest;
  /** Further members of the response. */
  more?: (done: CompletedChange) => object;
}

/** Runs an action on a request and responds with the updated request. */
export async function respondAfterAction(
  call: Call<unknown>,
  command: string,
  options: Omit<Recording, 'render'>,
  answering: AnswerOptions = {},
): Promise<Answer> {
  return runRecording(call, command, { ...options, render: (done) => answerOf(done, answering) });
}

/** Returns 201 for an opened request, 202 for a request that is scheduled or in preparation, and otherwise 200. */
function statusOf({ events }: CompletedChange): number {
  const types = new Set(events.map(({ type }) => type));
  if (types.has('change.opened')) return 201;
  return types.has('change.preparing') || types.has('change.scheduled') ? 202 : 200;
}

function answerOf(done: CompletedChange, { request: before, more }: AnswerOptions): Answer {
  const [request = before] = done.changes?.values() ?? [];
  if (request === undefined) throw new Error('an event about a change request changed no change request');
  const { id } = request;
  const data = { ...summaryOf(request), allowed: allowedActions(request), ...more?.(done) };
  const status = statusOf(done);
  const headers = status === 200 ? [] : ['Location', `/changes/${id}`];
  const answer = { ...jsonAnswer(status, { data }, headers), position: done.position };
  return withLosses(withBatch(answer, done), done);
}

/** Returns the id in lower case, as PostgreSQL prints UUIDs. It may be invalid. */
const changeIdOf = ({ params }: Call<unknown>): string => (params['id'] ?? '').toLowerCase();

/** Creates the error NOT_FOUND, which the caller throws. */
export const changeNotFound = (id: string) =>
  refused('NOT_FOUND', `Change request ${JSON.stringify(id)} does not exist.`);

type FindChanges = Pick<Changes, 'find' | 'isWithin'>;

/** @throws RejectedError NOT_FOUND, or FORBIDDEN if the scope of the caller's token does not contain the request */
export async function findChange(changes: FindChanges, call: Call<unknown>): Promise<ChangeRequest> {
  const id = changeIdOf(call);
  const change = isUuid(id) ? await changes.find(id) : undefined;
  if (change === undefined) throw changeNotFound(id);
  const scope = collectionScopeOf(call.caller);
  if (scope === undefined || (await changes.isWithin(change, scope))) return change;
  throw requestOutsideScope();
}

/** The message names nothing, because another user may have written the request. */
export const requestOutsideScope = () =>
  outsideScope(
    'This change request affects more than the collections in the scope of this token, or its content was erased.',
  );

/**
 * Returns a change request. Authors may access only their own requests.
 * @throws RejectedError NOT_FOUND, FORBIDDEN
 */
export async function findOwnChange(changes: FindChanges, call: Call<unknown>): Promise<ChangeRequest> {
  const change = await findChange(changes, call);
  if (call.caller.role !== 'author' || change.author.id === call.caller.id) return change;
  throw refused(
    'FORBIDDEN',
    `Change request ${change.id} belongs to another user, and authors can do this only with their own requests.`,
  );
}

/* Translates the locations of problems from part of a body to the whole body. */

/**
 * Translates the location of a problem from the change to the body. Problems about the diff of a snapshot have no
 * location.
 */
export const createBodyLocator =
  ({ snapshot }: { snapshot?: unknown }) =>
  <P extends Pick<Problem, 'path' | 'details'>>(problem: P): P => {
    const { path, details } = problem;
    // In the body, acknowledgements are next to the diff.
    if (path === undefined || path === 'diff' || path === 'policy' || details?.['acknowledged'] !== undefined)
      return problem;
    return { ...problem, path: snapshot === undefined ? joinPath('diff', path) : 'snapshot' };
  };

/** Prefixes the locations of problems with the member. */
export const prefixLocations = <T>(member: string, work: Promise<T>): Promise<T> =>
  translateLocations(work, (problem) =>
    problem.path === undefined || OWN.has(problem.path)
      ? problem
      : { ...problem, path: joinPath(member, problem.path) },
  );

/** @throws RejectedError if `work` does, with translated locations */
export async function translateLocations<T>(
  work: Promise<T>,
  locate: (problem: EdgeProblem) => EdgeProblem,
): Promise<T> {
  return work.catch((error: unknown) => {
    if (!(error instanceof RejectedError)) throw error;
    throw new RejectedError(error.problems.map(locate), error.headers);
  });
}

/** Members of the body that are not part of the change. */
const OWN: ReadonlySet<string> = new Set(['snapshot', 'base', 'mode', 'force']);

const joinPath = (member: string, path: string): string =>
  path === '' ? member : path.startsWith('[') ? `${member}${path}` : `${member}.${path}`;

/* Determine the proposed diff: either the body contains it, or it is computed from a snapshot in the body. */

type Body = Pick<NewChange | ChangeUpdate, 'diff' | 'snapshot' | 'base' | 'mode' | 'force'>;

export type ProposedChange = Pick<RequestedChange, 'name' | 'input' | 'command'>;

/**
 * Returns a function that reads the proposed change. The result is undefined if the body contains neither a diff nor a
 * snapshot.
 * @throws RejectedError with the location of the invalid member
 */
export function createProposedChange(deps: HttpDeps) {
  const { store, history, config } = deps;
  const { release, schemas } = config;
  const momentOf = createMomentState(deps);

  const compared = async (body: Body, call: Call<unknown>): Promise<Comparison> => {
    const { snapshot, base, mode = 'mirror', force = false } = body;
    const whole = await store.atHead(call.head);
    const ours = visibleTo(call.caller, whole);
    await inManagedSchemas(snapshot, schemas, { force });
    const options = { mode, force, release };
    if (base === undefined) {
      const comparing = { ...options, ...(await readEquality(deps, snapshot, ours)) };
      const comparison = unwrap(await runYielding(compareSnapshot(ours, snapshot, comparing)));
      return { ...comparison, hash: await runYielding(snapshotHash(whole, release)) };
    }
    requireUnlimited(call.caller, 'Merges with an earlier schema');
    const input = { base: await momentOf(base, 'base', call), ours, theirs: snapshot, resolutions: [] };
    const merging = { ...options, ...(await readEquality(deps, snapshot, input.base, ours)) };
    const outcome = await translateLocations(runYielding(mergeSnapshot(input, merging)).then(unwrap), withoutTheirs);
    if (outcome.kind === 'merged') return outcome;
    const problems = outcome.conflicts.slice(0, MOST_CONFLICTS).map(({ message, ...details }) => ({
      code: 'MERGE_CONFLICT' as const,
      message: `${describeLocation(details.place)}: ${message}`,
      details,
    }));
    throw new RejectedError(problems);
  };

  return async (body: Body, call: Call<unknown>): Promise<ProposedChange | undefined> => {
    const diff = await diffOf(body, () => prefixLocations('snapshot', compared(body, call)));
    if (diff === undefined) return undefined;
    const input = { release, body: diff, ...(config.objects && { objects: true }) };
    const read = await prefixLocations(
      'diff',
      inManagedSchemas(diff, schemas).then(() => commandOf('apply-diff', input)),
    );
    return {
      name: 'apply-diff',
      input,
      command: { ...read, kept: await history.inTrash([...readOrigins(read.diff).values()]) },
    };
  };
}

/** Removes `theirs` from the location of a problem, because here the body itself is the snapshot. */
const withoutTheirs = ({ path, ...problem }: EdgeProblem): EdgeProblem =>
  path === undefined ? problem : { ...problem, path: path.replace(/^theirs\.?/, '') };

/** Maximum number of conflicts in the error. /schema/merge lists all of them. */
const MOST_CONFLICTS = 100;

async function diffOf(body: Body, compared: () => Promise<Comparison>): Promise<unknown> {
  if (body.snapshot === undefined) return withoutSnapshot(body);
  if (body.diff !== undefined)
    throw new RejectedError([invalidProblem(['snapshot'], 'send either a diff or a snapshot')]);
  const { hash, diff } = await compared();
  if (isEmptyDiff(diff))
    throw new RejectedError([invalidProblem(['snapshot'], 'this changes nothing: the schema already has this state')]);
  return { hash, diff };
}

function withoutSnapshot(body: Body): unknown {
  for (const member of ['base', 'mode', 'force'] as const)
    if (body[member] !== undefined)
      throw new RejectedError([invalidProblem([member], `${member} can only be used with a snapshot`)]);
  return body.diff;
}

/**
 * Returns the plan of a request as the caller may read it, like the plan of a change.
 * @param request a request that contains the hash of the proposed plan
 * @throws RejectedError FORBIDDEN if the change would now concern collections outside the scope of the caller's token
 */
export async function renderPlan(
  { pool, plans }: Pick<HttpDeps, 'pool' | 'plans'>,
  plan: PlanNow,
  { request, caller }: { request: { plan: string | null }; caller: Pick<Caller, 'credential'> },
): Promise<object> {
  if (plan.kind === 'conflicts') {
    const problems = plan.problems.map((problem) => visibleProblem(caller, problem));
    return { fresh: false, hash: null, ...errorBody(problems), ...NOTHING };
  }
  const { hash, diff, view } = plan;
  const returns = await readReturningEntries(pool, plan.events);
  if (!(await hasNamesInScope(caller, { diff, loses: view.loses, returns }))) throw requestOutsideScope();
  const tables = await plans.lockedTables(plan.statements);
  return {
    fresh: hash === request.plan,
    hash,
    errors: null,
    diff,
    policy: plan.policy,
    statements: visiblePlan(caller, plan).statements.map(toShownStatement),
    tables: tables.filter(({ table }) => isVisibleTo(caller, table)),
    findings: withoutLocations(visibleFindings(caller, view.findings)),
    loses: view.loses.map(({ why, ...location }) => ({ ...location, kept: why === null, why_not: why })),
    view: view.hash,
    returns,
  };
}

const NOTHING = {
  diff: null,
  policy: null,
  statements: [],
  tables: [],
  findings: [],
  loses: [],
  view: null,
  returns: [],
};
