import type { z } from 'zod';
import type { changeSummary } from './routes-answers.js';
import { type ExitCode, type Invocation, UsageError, isSet, text } from '../../cli/command.js';
import { type ShownChange, describeNow, followChange, readChange } from '../../cli/follow-change.js';
import { describeWarnings, describePolicy } from '../../cli/planned-changes.js';
import { json, toOneLine } from '../../cli/output.js';
import { requestAll, requestData, reasonHeader } from '../../cli/connections/service.js';
import type { Policy } from '../../schema/policy.js';
import { describeLocation } from '../../schema/merge/model.js';
import { locationText } from '../../schema/model/location.js';
import { actorName } from '../../schema/model/events.js';

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

/** Withdraws a request and returns 0 at once, although prepared objects may still exist. */
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
    ...(fresh ? [] : ['stale: the schema has changed, and so has the plan']),
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
