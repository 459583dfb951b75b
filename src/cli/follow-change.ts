/**
 * Waits for a change request. Shows a progress bar on a terminal, and otherwise prints a line per change. Both go to
 * stderr.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { z } from 'zod';
import type { changeRequest } from '../features/change-requests/routes-answers.js';
import { isEnded } from '../schema/change-requests/model.js';
import { type ExitCode, type Invocation, isSet } from './command.js';
import { describeWarning } from './planned-changes.js';
import { json, renderBar } from './output.js';
import { requestData } from './connections/service.js';

export type ShownChange = z.output<typeof changeRequest>;
type ShownStep = ShownChange['steps'][number];

/** Milliseconds between two requests to the service. */
const LOOK = 500;

/** @throws OperatorError if the service rejects the request, for example for an unknown id */
export const readChange = (invocation: Invocation, id: string): Promise<ShownChange> =>
  requestData(invocation, 'getChange', { params: { id } });

/**
 * Waits for the end of a request and prints the result.
 * @returns 0 if it was applied, otherwise 2
 */
export async function followChange(invocation: Invocation, { data }: { data: ShownChange }): Promise<ExitCode> {
  const { terminal, values } = invocation;
  const tell = createProgressPrinter(invocation);
  terminal.note(`Change request ${data.id} continues without this command. Withdraw it with "dps changes withdraw".`);
  for (const warning of data.warnings) terminal.note(`! ${describeWarning(warning)}`);
  let change = data;
  while (!isEnded(change) || change.cleaning) {
    tell(change);
    await sleep(LOOK);
    change = await readChange(invocation, data.id);
  }
  terminal.rewrite?.('');
  terminal.print(isSet(values, 'json') ? json(change) : describeEnd(change));
  return change.state === 'applied' ? 0 : 2;
}

/** Prints the current activity. On a terminal, one line is updated. Otherwise, each change is a new line. */
export function createProgressPrinter({ terminal }: Pick<Invocation, 'terminal'>): (change: ShownChange) => void {
  let last = '';
  return (change) => {
    const done = completedShare(change);
    const what = describeNow(change);
    if (terminal.rewrite) {
      terminal.rewrite(`${renderBar(done * 1_000, 1_000)} ${Math.floor(done * 100)} %  ${what}`);
      return;
    }
    if (what !== last) terminal.note(`${Math.floor(done * 100)} %: ${what}`);
    last = what;
  };
}

/** Returns the completed share from 0 to 1. Steps are weighted by their number of rows. */
function completedShare({ steps, state }: ShownChange): number {
  if (state === 'applied') return 1;
  const weight = ({ bytes }: ShownStep): number => Math.max(1, bytes ?? 1);
  const all = steps.reduce((sum, step) => sum + weight(step), 0);
  const done = steps.reduce((sum, step) => sum + weight(step) * (step.state === 'done' ? 1 : (step.done ?? 0)), 0);
  // The remaining work after the steps is short but not zero.
  return all === 0 ? 0 : Math.min(0.99, done / all);
}

/** Describes the current activity and what blocks it. */
export function describeNow(change: ShownChange): string {
  const { state, steps, queued_behind: ahead, waiting_for: holders, cleaning } = change;
  const step = steps.findIndex((each) => each.state !== 'done');
  const what = cleaning
    ? 'removing prepared objects'
    : state === 'queued'
      ? `waiting for ${ahead.join(', ') || 'its turn'}`
      : step < 0
        ? 'applying it in one short transaction'
        : `${step + 1} of ${steps.length}: ${steps[step]?.summary ?? ''}`;
  return holders.length === 0 ? what : `${what} (waiting for ${holders.map(describeHolder).join(', ')})`;
}

function describeHolder({ pid, application_name: name }: ShownChange['waiting_for'][number]): string {
  const who = name === '' ? 'an unnamed application' : JSON.stringify(name);
  return pid === null ? 'a prepared transaction' : `${who}, process ${pid}`;
}

/** Describes the result of an ended request, and the reason. */
export function describeEnd({ state, result, errors, id }: ShownChange): string {
  if (state === 'applied') return `Applied: position ${result?.position}, batch ${result?.batch}.`;
  const why = (errors ?? []).map(({ message }) => `  ${message}`);
  return [
    `Change request ${id} ${state === 'failed' ? 'failed' : `was ${state}`}. Its prepared objects were removed.`,
    ...why,
  ].join('\n');
}
