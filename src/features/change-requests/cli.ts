import type { z } from 'zod';
import { type DocumentBody, parseObjectKind, parseObjectName } from '../../cli/input.js';
import { type ExitCode, type Invocation, UsageError, isSet, text } from '../../cli/command.js';
import { reportNoChanges, readDiff } from '../../cli/commands/apply.js';
import { requestAll, requestData, reasonHeader, requestChecked, changeHeaders } from '../../cli/connections/service.js';
import { type ShownChange, describeNow, followChange, readChange } from '../../cli/follow-change.js';
import { json, toOneLine } from '../../cli/output.js';
import { describeWarnings, describePolicy } from '../../cli/planned-changes.js';
import type { Operations } from '../../client/api.js';
import { OperatorError } from '../../kernel/problem.js';
import type { ChangePlace } from '../../schema/change-requests/model.js';
import { describeLocation } from '../../schema/merge/model.js';
import { actorName } from '../../schema/model/events.js';
import { locationText } from '../../schema/model/location.js';
import type { Policy } from '../../schema/policy.js';
import type { changeSummary } from './routes-answers.js';

const LIMIT = 20;

/**
 * Lists requests, newest first, 20 by default.
 * @throws UsageError if --limit is not a number
 */
export async function list(invocation: Invocation): Promise<ExitCode> {
  const { values, terminal } = invocation;
  const limit = text(values, 'limit') ?? String(LIMIT);
  if (!/^[1-9]\d{0,8}$/.test(limit)) throw new UsageError('--limit must be a positive integer.');
  const query = {
    state: text(values, 'state'),
    collection: text(values, 'collection'),
    author: text(values, 'author'),
  };
  const data = await requestAll(invocation, 'listChanges', { query, limit: Number(limit) });
  if (isSet(values, 'json')) terminal.print(json(data));
  else if (data.length === 0) terminal.print('No change requests.');
  else terminal.print(data.map(describe).join('\n'));
  return 0;
}

/** Shows a request. With --wait, returns 2 if the request was not applied. */
export async function show(invocation: Invocation): Promise<ExitCode> {
  const { values, terminal } = invocation;
  const change = await readChange(invocation, idOf(invocation));
  if (isSet(values, 'wait')) return followChange(invocation, { data: change });
  terminal.print(isSet(values, 'json') ? json(change) : describeWhole(change));
  return 0;
}

/** Withdraws a request and returns 0 immediately, although prepared objects may still exist. */
export async function withdraw(invocation: Invocation): Promise<ExitCode> {
  const id = idOf(invocation);
  const headers = reasonHeader(invocation);
  const data = await requestData(invocation, 'withdrawChange', { params: { id }, headers });
  if (isSet(invocation.values, 'json')) invocation.terminal.print(json(data));
  else
    invocation.terminal.print(
      `Change request ${id} is withdrawn${data.cleaning ? '; the service is removing what it prepared' : ''}.`,
    );
  return 0;
}

type Summary = z.output<typeof changeSummary>;

const idOf = ({ positionals: [id = ''] }: Invocation): string => id;

function describe({ id, state, title, operation, collections, author, opened_at, reason }: Summary): string {
  const when = opened_at.slice(0, 19).replace('T', ' ');
  const line = [
    id,
    state.padEnd(9),
    when,
    toOneLine(actorName(author)),
    toOneLine(`${title ?? operation} (${operation === 'update-policy' ? 'policy' : collections.join(', ')})`),
  ];
  return reason === null ? line.join('  ') : `${line.join('  ')}\n  why: ${toOneLine(reason)}`;
}

/** Returns lines about the request, its comments, each step, and the result. */
export function describeWhole(change: ShownChange): string {
  const { steps, warnings, errors, result, state } = change;
  const marks = { done: 'x', running: '>', waiting: ' ' };
  return [
    describe(change),
    ...describeProposal(change),
    ...steps.map(({ summary, state: at, done, phase }) => {
      const part = at === 'running' && done !== null ? `  ${Math.floor(done * 100)} %` : '';
      return `  [${marks[at]}] ${toOneLine(summary)}${part}${phase === null ? '' : `  (${toOneLine(phase)})`}`;
    }),
    ...(['queued', 'preparing', 'prepared'].includes(state) ? [`now: ${toOneLine(describeNow(change))}`] : []),
    ...describeWarnings(warnings),
    ...(errors ?? []).map(({ message }) => `failed: ${toOneLine(message)}`),
    ...(result === null ? [] : [`applied: position ${result.position}, batch ${result.batch}`]),
  ].join('\n');
}

function describeProposal({ plan, proposal, planned }: ShownChange): string[] {
  if (proposal === null) return [];
  const { approvals, approvals_counted: counted, approvals_needed: needed, rejection, comments } = proposal;
  return [
    `plan ${plan}`,
    ...(planned?.view ? [`view ${planned.view}`] : []),
    ...(planned ? describePlan(planned) : []),
    `approvals: ${counted} (${needed} if the policy requires approval)`,
    ...approvals.map((each) => `  ${commentLine(each)}${each.counts ? '' : ` (doesn't count: ${each.why_not})`}`),
    ...(rejection === null ? [] : [`rejected: ${commentLine(rejection)}`]),
    ...comments.map((each) => `  ${commentLine(each, each.place)}`),
  ];
}

function describePlan(planned: NonNullable<ShownChange['planned']>): string[] {
  const { fresh, statements, findings, errors, loses, policy } = planned;
  return [
    ...(fresh ? [] : ['stale: the schema and the plan have changed']),
    ...(errors ?? []).map(({ message }) => `  ${toOneLine(message)}`),
    ...statements.flatMap(({ summary, sql, lock }) => [
      `  ${toOneLine(summary)} (lock: ${lock})`,
      `    ${toOneLine(sql)}`,
    ]),
    ...(policy ? describePolicyChange(policy) : []),
    ...describeWarnings(findings),
    ...loses.map(({ kept, why_not: reason, ...deleted }) => {
      const name = toOneLine(locationText(deleted));
      if (kept) return `deletes ${name}, restorable from the trash`;
      return `deletes ${name} permanently${reason === null ? '' : `: ${toOneLine(reason)}`}`;
    }),
  ];
}

/** Lines of the policy that the change removes and adds, as `dps policy` shows them. */
function describePolicyChange({ from, to }: { from: Policy; to: Policy }): string[] {
  const [before, after] = [from, to].map((policy) => describePolicy(policy).split('\n').map(toOneLine));
  return [
    ...(before ?? []).filter((line) => after?.includes(line) !== true).map((line) => `  - ${line}`),
    ...(after ?? []).filter((line) => before?.includes(line) !== true).map((line) => `  + ${line}`),
  ];
}

type ShownComment = NonNullable<ShownChange['proposal']>['comments'][number];

function commentLine(
  { by, at, text: words }: Pick<ShownComment, 'by' | 'at' | 'text'>,
  place: ShownComment['place'] = null,
): string {
  const about = place === null ? '' : ` on ${toOneLine(describeLocation(place))}`;
  return `${at.slice(0, 19).replace('T', ' ')}  ${toOneLine(actorName(by))}${about}${words === null ? '' : `: ${toOneLine(words)}`}`;
}

/**
 * Opens a request. Returns 0 and opens none if there is nothing to do.
 * @throws UsageError without a --title
 */
export async function open(invocation: Invocation): Promise<ExitCode> {
  titleOf(invocation);
  const body = await readDiff(invocation);
  return body === null ? reportNoChanges(invocation) : propose(invocation, body);
}

/** Opens a request for a diff that the service returned. */
export async function propose(invocation: Invocation, { content }: DocumentBody): Promise<ExitCode> {
  const { values } = invocation;
  return openRequest(invocation, {
    diff: JSON.parse(content.toString()) as object,
    ...(isSet(values, 'online') && { online: true }),
    ...(isSet(values, 'purge') && { purge: true }),
  });
}

/** @param proposed the diff or the policy, and how to carry it out @throws UsageError without a --title */
export async function openRequest(invocation: Invocation, proposed: object): Promise<ExitCode> {
  const { values, terminal } = invocation;
  const { data } = await send(invocation, 'openChange', { title: titleOf(invocation), ...proposed });
  terminal.print(
    isSet(values, 'json')
      ? json(data)
      : `Opened change request ${data.id}, plan ${data.plan}. Nothing changes until it is applied (dps changes apply ${data.id}).`,
  );
  return 0;
}

function titleOf({ values }: Invocation): string {
  const title = text(values, 'title');
  if (title !== undefined && title.trim() !== '') return title;
  throw new UsageError('--title is required: the title of the change request.');
}

/** @throws UsageError if there is nothing to update */
export async function update(invocation: Invocation): Promise<ExitCode> {
  const { values } = invocation;
  const title = text(values, 'title');
  const purges = isSet(values, 'purge');
  if (title === undefined && !purges) throw new UsageError('Nothing to update: use --title or --purge.');
  const body = { ...(title !== undefined && { title }), ...(purges && { purge: true }) };
  return runAction(invocation, 'updateChange', { body, message: 'Updated.' });
}

/** Adds a comment. Its text is stored outside the log, so that it can be erased. */
export async function comment(invocation: Invocation): Promise<ExitCode> {
  const [, argument = ''] = invocation.positionals;
  const place = text(invocation.values, 'place');
  const body = { comment: argument, ...(place !== undefined && { place: parseChangePlace(place) }) };
  return runAction(invocation, 'commentChange', { body, message: 'Commented.' });
}

const RELATION = 'relation:';

/** Parses `articles`, `articles.title`, `relation:articles.author` or `view:recent`. @throws UsageError */
function parseChangePlace(argument: string): ChangePlace {
  const object = parseObjectKind(argument);
  if (object !== undefined) return { part: 'objects', ...object };
  const isRelation = argument.startsWith(RELATION);
  const { collection, field } = parseObjectName(isRelation ? argument.slice(RELATION.length) : argument);
  if (field !== undefined) return { part: isRelation ? 'relations' : 'fields', collection, field };
  if (isRelation) throw new UsageError('A relation has the name of its field: relation:articles.author.');
  return { part: 'collections', collection };
}

/** Shows the request on a terminal and asks for confirmation. Without a terminal, the command must name the plan. */
export async function approve(invocation: Invocation): Promise<ExitCode> {
  const { values, terminal } = invocation;
  const plan = text(values, 'plan');
  const view = text(values, 'view');
  const read = plan === undefined ? await showProposal(invocation) : { plan, ...(view !== undefined && { view }) };
  if (read === undefined) {
    terminal.note('Nothing was approved.');
    return 2;
  }
  const comment = text(values, 'comment');
  return runAction(invocation, 'approveChange', {
    body: { ...read, ...(comment !== undefined && { comment }) },
    message: 'Approved.',
  });
}

/**
 * Shows a proposal and asks for confirmation. Returns the plan and the findings that were shown. Undefined if the user
 * declines.
 */
async function showProposal(invocation: Invocation): Promise<{ plan: string | null; view?: string } | undefined> {
  const { terminal } = invocation;
  if (terminal.ask === undefined)
    throw new UsageError(
      '--plan is required without a terminal: the hash of the plan that you reviewed ("dps changes show").',
    );
  const change = await readChange(invocation, idOf(invocation));
  terminal.print(describeWhole(change));
  const answer = await terminal.ask('Approve exactly this plan? [y/N] ');
  const view = change.planned?.view ?? undefined;
  return /^y(es)?$/i.test(answer.trim()) ? { plan: change.plan, ...(view !== undefined && { view }) } : undefined;
}

export async function reject(invocation: Invocation): Promise<ExitCode> {
  const comment = text(invocation.values, 'comment');
  return runAction(invocation, 'rejectChange', {
    body: comment === undefined ? {} : { comment },
    message: 'Rejected.',
  });
}

/** Applies a request. If it must be prepared first, waits for the result. */
export async function apply(invocation: Invocation): Promise<ExitCode> {
  const at = text(invocation.values, 'at');
  if (at !== undefined)
    return runAction(invocation, 'applyChange', { body: { at }, message: `It will be applied at ${toOneLine(at)}.` });
  const id = idOf(invocation);
  const { status, data } = await send(invocation, 'applyChange');
  if (status === 202) return followChange(invocation, { data: await readChange(invocation, id) });
  const { terminal, values } = invocation;
  const { position, batch } = data.result ?? {};
  terminal.print(isSet(values, 'json') ? json(data) : `Applied: position ${position}, batch ${batch}.`);
  return 0;
}

/**
 * Rebases a request. Conflicts are reported and change nothing, because they cannot be resolved on the command line.
 */
export async function rebase(invocation: Invocation): Promise<ExitCode> {
  return runAction(invocation, 'rebaseChange', { body: {}, message: 'It fits the current schema.' });
}

/** Opens a new request that reverts this one. */
export async function revert(invocation: Invocation): Promise<ExitCode> {
  const { terminal, values } = invocation;
  const title = text(values, 'title');
  const body = { ...(title !== undefined && { title }), ...(isSet(values, 'purge') && { purge: true }) };
  const { data } = await send(invocation, 'revertChange', body);
  const back = data.returns.map(({ kept_until: until, ...returned }) => {
    const what = toOneLine(locationText(returned));
    return `${what} is restored from the trash${until === null ? '' : `, which keeps it until ${until}`}`;
  });
  const message = `Opened change request ${data.id}, plan ${data.plan}. Nothing changes until it is applied.`;
  terminal.print(isSet(values, 'json') ? json(data) : [message, ...back].join('\n'));
  return 0;
}

type ActionOperation =
  'updateChange' | 'commentChange' | 'approveChange' | 'rejectChange' | 'rebaseChange' | 'applyChange';

interface ActionRequest {
  body: object;
  /** The text that is printed before the state of the request. */
  message: string;
}

async function runAction(
  invocation: Invocation,
  operation: ActionOperation,
  { body, message }: ActionRequest,
): Promise<ExitCode> {
  const { data } = await send(invocation, operation, body);
  const { terminal, values } = invocation;
  terminal.print(isSet(values, 'json') ? json(data) : `${message} The change request is ${toOneLine(data.state)}.`);
  return 0;
}

/** Sends an action, and returns the request or the new one that the action opened. */
async function send<K extends ActionOperation | 'openChange' | 'revertChange'>(
  invocation: Invocation,
  operation: K,
  body?: object,
): Promise<{ status: number; data: Operations[K]['answer']['body']['data'] }> {
  const params = { id: idOf(invocation) };
  const sent = { params, headers: changeHeaders(invocation), body };
  const answer = await requestChecked(invocation, operation, sent);
  const { data } = JSON.parse(answer.text) as Partial<Operations[K]['answer']['body']>;
  if (data === undefined) throw new OperatorError('The response of the service is not a change request.');
  return { status: answer.status, data };
}
