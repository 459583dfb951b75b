import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type {
  Command,
  CompletedChange,
  Outcome,
  Plan,
  PlanRequest,
  Refusal,
  RequestContext,
  StoredAnswer,
  Acknowledgements,
} from '../../pipeline/types.js';
import { type Problem, invalidProblem, unknownMembers } from '../../kernel/problem.js';
import { type Cause, type LogEvent, isAdopted, isDeletion } from '../../schema/model/events.js';
import { type State, isFolder } from '../../schema/model/state.js';
import { type CommandOf, type InputOf, type OperationName, operations } from '../../schema/operations/index.js';
import type { Operation } from '../../schema/operations/operation.js';
import { stepsTo } from '../../kernel/resumable.js';
import { jsonAnswer, type Answer, refusalAnswer, unwrap, jsonChunks, largeJsonAnswer } from '../answer/answer.js';
import type { HttpDeps } from '../deps.js';
import { errorBody, RejectedError } from '../errors.js';
import { flag } from '../request/query.js';
import {
  collectionScopeOf,
  isVisibleTo,
  requireUnlimited,
  visibleFindings,
  visiblePlan,
  visibleProblem,
} from '../request/scope.js';
import { findOpenedRequest } from '../../features/change-requests/index.js';
import { type ChangeView, showChange } from '../../features/change-requests/read.js';
import type { ChangeRequest } from '../../schema/change-requests/model.js';
import { stoppingFindings } from '../../projector/findings.js';
import type { DescribedPlan } from '../../reads/plans.js';
import { type Caller, toProposingCredential } from '../../features/accounts/caller.js';
import type { Acknowledgement } from '../../schema/policy.js';
import {
  addressOf,
  idempotencyKeyOf,
  ifMatchOf,
  reasonOf,
  traceparentOf,
  userAgentOf,
  acknowledgeOf,
} from '../request/headers.js';
import type { Call } from '../route.js';
import { runYielding } from '../../kernel/event-loop.js';
import { isObject } from '../../kernel/json.js';
import { INVALID_LOCATION, canonicalLocation } from '../../schema/model/location.js';
import type { Statement } from '../../projector/ddl/step.js';

/* The response to a dry run: statements, costs, and whether PostgreSQL accepted them. */

/** Returns 200 even if PostgreSQL rejects the change. `accepted` is then false, and `errors` contains the reason. */
async function planAnswer(
  plan: Plan,
  { warnings, ...own }: { warnings: object; tables: object; optional?: object },
): Promise<Answer> {
  const { accepted, refusal: problem, events, statements, before, preparation, proof } = plan;
  const body = {
    accepted,
    ...(problem !== undefined && errorBody([problem])),
    events: events.map(toShownEvent),
    statements: statements.map(toShownStatement),
    warnings,
    ...own,
    ...(preparation && { online: toPreparation(preparation) }),
    ...(proof && { proof }),
  };
  return { ...(await largeJsonAnswer(body)), position: before.position };
}

const toShownEvent = ({ type, version, collection, field, data, subject }: LogEvent): object => ({
  type,
  version,
  collection,
  field,
  data,
  ...(subject && { subject }),
});

/** Returns a statement in the form of plans. */
export function toShownStatement(statement: Statement): object {
  const { sql, summary, lock, loses_data, rewrites_table, may_fail, source } = statement;
  const { event, collection, field } = source;
  return { sql, summary, lock, loses_data, rewrites_table, may_fail, event, collection, field };
}

/** Returns the slow steps that run before the change, while the tables remain in use. */
function toPreparation({ collections, steps }: NonNullable<Plan['preparation']>): object {
  return {
    collections,
    steps: steps.map(({ kind, collection, field, summary, rows, bytes }) => ({
      kind,
      collection,
      field,
      summary,
      rows,
      bytes,
    })),
  };
}

/* Reads which findings a caller acknowledges: from the header X-Acknowledge or from the body. */

/** The name of the member in a body. */
const MEMBER = 'acknowledge';

/** Maximum number of acknowledgements. Nobody would read more findings. */
const MOST = 1_000;

const taken = new WeakMap<object, Acknowledgement[]>();

/**
 * Removes the acknowledgements from the body and stores them for `readAcknowledgements`.
 * @throws RejectedError
 */
export function takeAcknowledgements<T extends Pick<Call<unknown>, 'req' | 'body'>>(call: T): T {
  const { body, req } = call;
  if (!isObject(body) || !Object.hasOwn(body, MEMBER)) return call;
  const { [MEMBER]: list, ...rest } = body;
  taken.set(req, read(list));
  return { ...call, body: rest };
}

/** @throws RejectedError if the header is malformed, or if both header and body acknowledge findings */
export function readAcknowledgements({ req }: Pick<Call<unknown>, 'req'>): Acknowledgements | undefined {
  const inHeader = acknowledgeOf(req);
  const inBody = taken.get(req);
  if (inHeader !== undefined && inBody !== undefined)
    throw new RejectedError([
      invalidProblem([MEMBER], 'send the acknowledgements in the body or in X-Acknowledge, not in both'),
    ]);
  if (inBody !== undefined) return { findings: inBody, at: (index) => [MEMBER, index] };
  return inHeader && { findings: inHeader, at: () => ['X-Acknowledge'] };
}

function read(list: unknown): Acknowledgement[] {
  if (!Array.isArray(list) || list.length > MOST)
    throw new RejectedError([
      invalidProblem([MEMBER], `must be an array of at most ${MOST} objects with code and place`),
    ]);
  const problems = list.flatMap((entry: unknown, index) => problemsOf(entry, index));
  if (problems.length > 0) throw new RejectedError(problems);
  return (list as Acknowledgement[]).map(withCanonicalLocation);
}

/** Converts the location of an acknowledgement to the format that findings use. */
export const withCanonicalLocation = ({ code, place }: Acknowledgement): Acknowledgement => ({
  code,
  place: canonicalLocation(place) ?? place,
});

function problemsOf(entry: unknown, index: number): Problem[] {
  const at = [MEMBER, index];
  if (!isObject(entry)) return [invalidProblem(at, 'must be an object with code and place')];
  const problems = unknownMembers(entry, new Set(['code', 'place']), at);
  for (const member of ['code', 'place'])
    if (typeof entry[member] !== 'string')
      problems.push(invalidProblem([...at, member], `${member} is required and must be a string`));
  const { place } = entry;
  if (typeof place === 'string' && canonicalLocation(place) === undefined)
    problems.push(invalidProblem([...at, 'place'], INVALID_LOCATION));
  return problems;
}

/** Parses `input`. Throws `RejectedError` if it is not a valid command. */
export async function commandOf<N extends OperationName>(name: N, input: InputOf<N>): Promise<CommandOf<N>> {
  const { parse } = operations[name] as unknown as Operation<N, InputOf<N>, CommandOf<N> & object>;
  return unwrap(await runYielding(stepsTo(parse(input))));
}

/** The query parameters of every route that changes the schema. */
export const rehearsalQuery = {
  dry_run: flag.describe('Executes the change, rolls it back and returns the plan'),
  explain: flag.describe(
    'Returns the plan without executing anything. No table is locked or read, and PostgreSQL does not check the statements',
  ),
};

/** The query parameters of changes that can be prepared online. */
export const schemaChangeQuery = {
  ...rehearsalQuery,
  online: flag.describe(
    'Executes slow steps first, while the tables stay in use. Returns 202 and a change request. A change that does not benefit from this is applied directly',
  ),
};

interface ChangeOptions<N extends OperationName, C extends CommandOf<N>> {
  name: N;
  command: Command<C>;
  render: (done: CompletedChange<C>) => Answer | Promise<Answer>;
  /** The input of the operation. Present if the change must be prepared online. */
  online?: InputOf<N> | undefined;
  /** Returns members of the plan that `planCommand` does not know. */
  beside?: Rehearsal<C>['beside'];
}

/**
 * Returns the response to a rejected change. A problem can be in a different collection than the change itself, for
 * example if the policy blocks a finding there.
 */
const refusalTo = (caller: Pick<Caller, 'credential'>, problems: readonly Problem[]): Answer =>
  refusalAnswer(problems.map((problem) => visibleProblem(caller, problem)));

export type ChangeDeps = Pick<HttpDeps, 'pipeline' | 'changes' | 'pool' | 'plans' | 'history' | 'config'>;

/** Runs the command and responds with `render`, or with the plan if the query requests one. */
export async function runChange<N extends OperationName, C extends CommandOf<N>>(
  deps: ChangeDeps,
  call: Call<unknown>,
  { name, command, render, online, beside }: ChangeOptions<N, C>,
): Promise<Answer> {
  const { pipeline, changes } = deps;
  if (isRequested(call, 'online')) requireUnlimited(call.caller, 'Online changes');
  if (isRehearsal(call)) {
    const run = (request: PlanRequest) => planCommand(deps, call, { name, command, request });
    return respondWithPlan(deps, call, {
      command: name,
      run,
      online: isRequested(call, 'online'),
      ...(beside && { beside }),
    });
  }
  const answerTo = async (outcome: CompletedChange<C> | Refusal): Promise<Answer> => {
    if (outcome.kind === 'refused') return refusalTo(call.caller, outcome.problems);
    const opened = findOpenedRequest(outcome);
    const answer =
      opened === undefined ? withLosses(await render(outcome), outcome) : await acceptedAnswer(opened, outcome);
    return withBatch(answer, outcome);
  };
  const request = await applyRequest(name, call, answerTo);
  const outcome =
    online === undefined
      ? await pipeline.apply(name, command, request)
      : await changes.online.apply(name, command, { ...request, input: online as object });
  return outcome.kind === 'replayed' ? fromStoredAnswer(outcome) : answerTo(outcome);
}

/** Returns 202 with the change request that was opened. */
async function acceptedAnswer(request: ChangeRequest, { position, document }: CompletedChange): Promise<Answer> {
  const documents = new Map(document && [[document.hash, document]]);
  const answer = await largeJsonAnswer({ data: changeBody(showChange(request, { documents, kept: [], ahead: [] })) });
  return { ...answer, status: 202, headers: [...answer.headers, 'Location', `/changes/${request.id}`], position };
}

/** Returns a change request in API format. Its errors have the format of error responses. */
export function changeBody({ problems, ...shown }: ChangeView): object {
  return { ...shown, errors: problems === null ? null : errorBody(problems).errors };
}

export interface Recording<C = unknown> {
  run: (context: RequestContext) => Promise<Outcome<C>>;
  render: (done: CompletedChange<C>) => Answer | Promise<Answer>;
  /** Translates the location of a problem to the request body. */
  located?: (problem: Problem) => Problem;
}

/** Runs a command that does not change the schema. */
export async function runRecording<C>(
  call: Call<unknown>,
  command: string,
  { run, render, located = (problem) => problem }: Recording<C>,
): Promise<Answer> {
  const answerTo = async (outcome: CompletedChange<C> | Refusal): Promise<Answer> =>
    outcome.kind === 'refused' ? refusalTo(call.caller, outcome.problems.map(located)) : render(outcome);
  const outcome = await run(await applyRequest(command, call, answerTo));
  return outcome.kind === 'replayed' ? fromStoredAnswer(outcome) : answerTo(outcome);
}

interface PlanDetails extends Pick<DescribedPlan, 'again' | 'further'> {
  /** The names of parts that a restore may omit. */
  optional?: readonly string[];
  /** A problem that replaces the reason from PostgreSQL. */
  refusal?: Problem;
}

interface Rehearsal<C> {
  /** The name of the command. */
  command: string;
  run: (context: PlanRequest) => Promise<Plan<C> | Refusal>;
  /** Returns the members of the plan that only this change has. */
  beside?: (plan: Plan<C>) => PlanDetails | Promise<PlanDetails>;
  located?: Recording['located'];
  /** True if the change is prepared online. */
  online?: boolean;
}

/** True if the query requests the plan of a change and not the change itself. */
export const isRehearsal = (call: Call<unknown>): boolean =>
  (['dry_run', 'explain', 'prove'] as const).some((each) => isRequested(call, each));

/** With `explain`, plans the change. With `dry_run` or `prove`, also runs it. */
const planCommand = <N extends OperationName, C extends CommandOf<N>>(
  { pipeline, changes }: Pick<ChangeDeps, 'pipeline' | 'changes'>,
  call: Call<unknown>,
  { name, command, request }: { name: N; command: Command<C>; request: PlanRequest },
): Promise<Plan<C> | Refusal> => {
  const by = isRequested(call, 'online') ? changes.online : pipeline;
  return isRequested(call, 'explain') ? by.plan(name, command, request) : by.dryRun(name, command, request);
};

/** Returns the plan of a change. Neither the change nor the response (under an idempotency key) is stored. */
export async function respondWithPlan<C>(
  { plans, config: { keepDeleted } }: Pick<ChangeDeps, 'plans' | 'config'>,
  call: Call<unknown>,
  { command, run, beside, located = (problem) => problem, online = false }: Rehearsal<C>,
): Promise<Answer> {
  const plan = await run(planRequest(command, call));
  if (plan.kind === 'refused') return refusalTo(call.caller, plan.problems.map(located));
  const { optional, refusal: better, ...details } = (await beside?.(plan)) ?? {};
  const warnings = [...plan.warnings, ...(plan.preparation?.warnings ?? [])];
  const described = await plans.describe({
    ...plan,
    ...details,
    warnings,
    online,
    keep: assumedRetention(call, keepDeleted),
  });
  const findings = visibleFindings(call.caller, described.warnings);
  const tables = described.tables.filter(({ table }) => isVisibleTo(call.caller, table));
  const shown = visiblePlan(call.caller, withReason(plan, better));
  return planAnswer(shown, { ...described, tables, warnings: findings, ...(optional && { optional }) });
}

const withReason = (plan: Plan, reason: Problem | undefined): Plan =>
  plan.accepted === false && reason !== undefined ? { ...plan, refusal: reason } : plan;

/**
 * Returns the milliseconds of retention that the plan assumes. If the plan was run, it contains the retention of each
 * object.
 */
const assumedRetention = (call: Call<unknown>, keepDeleted: number): number =>
  isRequested(call, 'explain') && !isRequested(call, 'purge') ? keepDeleted : 0;

interface Reporting<N extends OperationName, C extends CommandOf<N>> {
  name: N;
  report: (command: C) => object;
}

/** Runs the command of the body and responds with its report. A dry run adds the events that the command would append. */
export async function changeWithReport<N extends OperationName, C extends CommandOf<N>>(
  deps: ChangeDeps,
  submitted: Call<unknown>,
  { name, report }: Reporting<N, C>,
): Promise<Answer> {
  const call = takeAcknowledgements(submitted);
  const command = (await commandOf(name, { body: call.body } as InputOf<N>)) as Command<C>;
  if (isRehearsal(call)) return respondWithDryRun(deps, call, { name, command, report });
  return runChange(deps, call, {
    name,
    command,
    render: (done: CompletedChange<C>) => ({ ...jsonAnswer(200, report(done.command)), position: done.position }),
  });
}

async function respondWithDryRun<N extends OperationName, C extends CommandOf<N>>(
  deps: Pick<HttpDeps, 'pipeline' | 'changes' | 'pool' | 'config'>,
  call: Call<unknown>,
  { name, command, report }: Reporting<N, C> & { command: Command<C> },
): Promise<Answer> {
  const run = await planCommand(deps, call, { name, command, request: planRequest(name, call) });
  if (run.kind === 'refused') return refusalAnswer(run.problems);
  const events = run.events.map(toShownEvent);
  const warnings = await stoppingFindings(deps.pool, deps.config.schema, run);
  const answer = await largeJsonAnswer({
    dry_run: true,
    ...report(run.command),
    events,
    ...(warnings.length > 0 && { warnings }),
  });
  return { ...answer, position: run.before.position };
}

/** Adds warnings about data that is permanently deleted, although the change did not request that. */
export function withLosses(answer: Answer, { events, before, purge = false, unmatched = [] }: CompletedChange): Answer {
  const isLost = (event: LogEvent): boolean =>
    isDeletion(event) && !isAdopted(event) && event.data.kept_until === undefined && containsData(before, event);
  const codes = [
    ...(!purge && events.some(isLost) ? ['DATA_NOT_KEPT'] : []),
    ...(unmatched.length > 0 ? ['DATA_NOT_RESTORED'] : []),
  ];
  return codes.length === 0 ? answer : { ...answer, headers: [...answer.headers, 'X-Warnings', codes.join(', ')] };
}

/**
 * True if the deleted object contained data. A folder has no rows, an alias field has no values, and generated values
 * can be computed again.
 */
function containsData({ collections }: State, { collection, field }: Pick<LogEvent, 'collection' | 'field'>): boolean {
  const node = collections.get(collection ?? '');
  if (node === undefined) return true;
  if (field === null) return !isFolder(node);
  const schema = node.fields.get(field)?.schema;
  return schema != null && schema.generation_expression === null;
}

/** Adds the batch of the change, so that clients can find all of its effects in the log. */
export function withBatch(answer: Answer, { events }: CompletedChange): Answer {
  const batch = events[0]?.batch;
  return batch === undefined ? answer : { ...answer, headers: [...answer.headers, 'X-Batch-Id', batch] };
}

/** Returns the actor, reason, source and conditions from the request. Throws `RejectedError` for malformed headers. */
function planRequest(command: string, call: Call<unknown>): PlanRequest {
  const { req } = call;
  const ifMatch = ifMatchOf(req);
  const acknowledges = readAcknowledgements(call);
  const collections = collectionScopeOf(call.caller);
  const { rule, token } = call.caller.credential;
  return {
    cause: causeOf(command, call),
    credential: toProposingCredential(call.caller),
    waited: call.waited,
    ...(rule !== undefined && token !== undefined && { pipelineToken: token }),
    ...(collections && { collections }),
    ...(isRequested(call, 'purge') && { purge: true }),
    ...(isRequested(call, 'lossless') && { lossless: true }),
    ...(isRequested(call, 'prove') && { proves: true }),
    abandoned: () => req.socket.destroyed,
    ...(ifMatch !== undefined && { ifMatch }),
    ...(acknowledges && { acknowledges }),
  };
}

/**
 * Returns the request of a change. A plan is not stored under an idempotency key, so the same request may later be sent
 * without `dry_run`.
 */
async function applyRequest<C>(
  command: string,
  call: Call<unknown>,
  answerTo: (outcome: CompletedChange<C> | Refusal) => Promise<Answer>,
): Promise<RequestContext> {
  const request = planRequest(command, call);
  const { req, body } = call;
  const key = idempotencyKeyOf(req);
  if (key === null) return request;
  return {
    ...request,
    idempotency: {
      key,
      requestHash: await requestHash(req, body, { ...request, acknowledged: request.acknowledges?.findings }),
      render: async (outcome: CompletedChange<C> | Refusal) => toStoredAnswer(await answerTo(outcome)),
    },
  };
}

/** True if the query sets a flag. Routes without this flag never set it. */
export const isRequested = ({ query }: Call<unknown>, name: keyof ChangeFlags): boolean =>
  (query as Partial<ChangeFlags> | undefined)?.[name] === true;

type ChangeFlags = Record<'purge' | 'lossless' | 'online' | 'dry_run' | 'explain' | 'prove', unknown>;

/** Returns the actor, reason and source of a request. Throws `RejectedError` for malformed headers. */
export function causeOf(
  command: string,
  { req, requestId, caller }: Pick<Call<unknown>, 'req' | 'requestId' | 'caller'>,
): Cause {
  const traceparent = traceparentOf(req);
  return {
    actor: { id: caller.id, name: caller.name },
    command,
    reason: reasonOf(req),
    request_id: requestId,
    ip: addressOf(req),
    user_agent: userAgentOf(req),
    ...(traceparent !== undefined && { context: { traceparent } }),
  };
}

/**
 * Hashes the parsed body. A request with another multipart boundary or other white space is therefore still the same
 * request. Tokens with different scopes get different responses, so they have different hashes.
 */
async function requestHash(
  { method = '', url = '' }: IncomingMessage,
  body: unknown,
  {
    acknowledged = [],
    collections,
  }: { acknowledged?: readonly Acknowledgement[] | undefined } & Pick<RequestContext, 'collections'>,
): Promise<string> {
  const scope = collections === undefined ? [] : [{ collections }];
  const digest = createHash('sha256').update(JSON.stringify([method, url, ...acknowledged, ...scope]));
  await runYielding(jsonChunks(body ?? null, (chunk) => digest.update(chunk)));
  return digest.digest('hex');
}

/** The body is stored as text, so that a repeated response is identical byte for byte. */
function toStoredAnswer({ status, headers, body, position }: Answer): StoredAnswer {
  const all = position === undefined ? [...headers] : [...headers, 'X-Log-Position', String(position)];
  return { status, headers: all, body: body === null ? null : body.toString() };
}

function fromStoredAnswer({ status, headers, body }: StoredAnswer): Answer {
  return { status, headers: headers as string[], body: body as string | null };
}
