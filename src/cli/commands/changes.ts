/** dps changes: changes that are prepared while their tables are used. */
import { type ExitCode, type Invocation, UsageError, text } from '../command.js';
import { type ShownChange, describeNow, followChange, readChange } from '../follow-change.js';
import { json } from '../output.js';
import { ask, askForAll, reasonHeader } from '../service.js';

const LIMIT = 20;

export async function list(invocation: Invocation): Promise<ExitCode> {
  const { values, terminal } = invocation;
  const limit = text(values, 'limit') ?? String(LIMIT);
  if (!/^[1-9]\d{0,8}$/.test(limit)) throw new UsageError('--limit must be a number from 1.');
  const query = { state: text(values, 'state'), collection: text(values, 'collection') };
  const data = await askForAll<ShownChange>(invocation, '/changes', { query, limit: Number(limit) });
  if (values['json'] === true) terminal.print(json(data));
  else if (data.length === 0) terminal.print('No change request.');
  else terminal.print(data.map(describe).join('\n'));
  return 0;
}

export async function show(invocation: Invocation): Promise<ExitCode> {
  const { values, terminal } = invocation;
  const change = await readChange(invocation, idOf(invocation));
  if (values['wait'] === true) return followChange(invocation, { data: change });
  terminal.print(values['json'] === true ? json(change) : describeWhole(change));
  return 0;
}

export async function withdraw(invocation: Invocation): Promise<ExitCode> {
  const id = idOf(invocation);
  const headers = reasonHeader(invocation);
  const path = `/changes/${encodeURIComponent(id)}/withdraw`;
  const { data } = JSON.parse(await ask(invocation, path, { method: 'POST', headers })) as { data: ShownChange };
  if (invocation.values['json'] === true) invocation.terminal.print(json(data));
  else invocation.terminal.print(`The change request ${id} is withdrawn: what was prepared is taken away.`);
  return 0;
}

const idOf = ({ positionals: [id = ''] }: Invocation): string => id;

function describe({ id, state, operation, collections, author, opened_at, reason }: ShownChange): string {
  const when = opened_at.slice(0, 19).replace('T', ' ');
  const line = [id, state.padEnd(9), when, oneLine(author.name), `${operation} ${oneLine(collections.join(', '))}`];
  return reason === null ? line.join('  ') : `${line.join('  ')}\n  why: ${oneLine(reason)}`;
}

function describeWhole(change: ShownChange): string {
  const { steps, warnings, errors, result, state } = change;
  const marks = { done: 'x', running: '>', waiting: ' ' };
  return [
    describe(change),
    ...steps.map(({ summary, state: at, done, phase }) => {
      const part = at === 'running' && done !== null ? `  ${Math.floor(done * 100)} %` : '';
      return `  [${marks[at]}] ${oneLine(summary)}${part}${phase === null ? '' : `  (${oneLine(phase)})`}`;
    }),
    ...(['queued', 'preparing', 'prepared'].includes(state) ? [`now: ${oneLine(describeNow(change))}`] : []),
    ...warnings.map(({ message }) => `! ${oneLine(message)}`),
    ...(errors ?? []).map(({ message }) => `failed: ${oneLine(message)}`),
    ...(result === null ? [] : [`applied: position ${result.position}, batch ${result.batch}`]),
  ].join('\n');
}

/** Names and reasons are untrusted text: what would move the cursor is shown, not done. */
const oneLine = (untrusted: string): string =>
  untrusted.replaceAll(/\p{Cc}/gu, (control) => JSON.stringify(control).slice(1, -1).replace('\u007F', '\\u007f'));
