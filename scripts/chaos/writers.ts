/** Writers that record the response to every command, and resend commands without a response. */
import { setTimeout as sleep } from 'node:timers/promises';
import { OUTCOME_UNKNOWN } from '../../src/postgres/transaction.js';
import type { Random } from '../fuzz/random.js';
import { ADMIN_TOKEN, type Node } from './cluster.js';

/** The outcome of a command: in the log, not in the log, or unknown. */
export type Fate = 'acknowledged' | 'refused' | 'ambiguous';

export interface Command {
  /** Its X-Reason, which its events contain. */
  id: string;
  method: string;
  path: string;
  body?: unknown;
  /** With an Idempotency-Key it is resent until its outcome is known. */
  keyed: boolean;
  fate: Fate;
  /** Its outcome was unknown for a while. */
  resolved: boolean;
  /** X-Log-Position of the response that acknowledged it. */
  position: number;
  /** X-Batch-Id of that response; null if nothing changed. */
  batch: string | null;
  /** The longest attempt, in milliseconds. */
  waited: number;
  /** Why it was rejected, or why its outcome is unknown. */
  said: string;
  /** The response to each attempt, for investigations. */
  tries: string[];
}

/** Time limit for a response, in milliseconds. */
const PATIENCE = 60_000;

interface Answer {
  fate: Fate;
  position: number;
  batch: string | null;
  said: string;
}

/** One attempt on one process. */
async function attempt(url: string, command: Command): Promise<Answer> {
  const headers: Record<string, string> = {
    Authorization: `Bearer ${ADMIN_TOKEN}`,
    'Content-Type': 'application/json',
    'X-Reason': command.id,
    ...(command.keyed && { 'Idempotency-Key': command.id }),
  };
  const body = command.body === undefined ? {} : { body: JSON.stringify(command.body) };
  try {
    const signal = AbortSignal.timeout(PATIENCE);
    const answer = await fetch(url + command.path, { method: command.method, headers, ...body, signal });
    const text = await answer.text();
    const position = Number(answer.headers.get('x-log-position') ?? 0);
    const batch = answer.headers.get('x-batch-id');
    return { fate: fateOf(answer.status, text), position, batch, said: `${answer.status} ${text.slice(0, 300)}` };
  } catch (error) {
    const { message, cause } = error as Error;
    return {
      fate: 'ambiguous',
      position: 0,
      batch: null,
      said: `${message}: ${(cause as Error | undefined)?.message ?? ''}`,
    };
  }
}

/** The service reports an unknown outcome itself. */
export function fateOf(status: number, text: string): Fate {
  if (status < 300) return 'acknowledged';
  return status === 503 && text.includes(OUTCOME_UNKNOWN) ? 'ambiguous' : 'refused';
}

interface Try {
  took: number;
  process: number;
}

/** True if it may be resent. With its key, no command runs twice. */
const isOpen = ({ fate, keyed, said }: Command): boolean =>
  keyed && (fate === 'ambiguous' || (fate === 'refused' && said.startsWith('503')));

function note(command: Command, answer: Answer, { took, process }: Try): void {
  const at = new Date().toISOString();
  const description = `${answer.said.slice(0, 120)}; position ${answer.position}, batch ${answer.batch}`;
  command.tries.push(`${at} process ${process}, ${Math.round(took)} ms: ${description}`);
  const wasAmbiguous = command.fate === 'ambiguous' && command.said !== '';
  Object.assign(command, answer);
  command.waited = Math.max(command.waited, took);
  command.resolved ||= wasAmbiguous && answer.fate !== 'ambiguous';
}

export interface Sending {
  nodes: readonly Node[];
  random: Random;
  /** All commands so far. */
  commands: Command[];
  trace(line: string): void;
}

export interface Writing extends Sending {
  running(): boolean;
  /** Called by each writer after a command. */
  besides?(id: string): Promise<void>;
}

/** Slower attempts are logged (milliseconds). */
const LONG = 15_000;

/** Sends `command` until its outcome is known, or until it may no longer be resent. */
export async function sendUntilKnown(
  command: Command,
  { nodes, random, trace }: Omit<Sending, 'commands'>,
  deadline: number,
): Promise<void> {
  for (;;) {
    const node = random.some(nodes.filter((each) => each.url !== null));
    const url = node?.url;
    if (node === undefined || url == null) {
      await sleep(50);
      continue;
    }
    const started = performance.now();
    const answer = await attempt(url, command);
    const took = performance.now() - started;
    if (took > LONG) {
      trace(`${command.id} took ${Math.round(took)} ms on process ${nodes.indexOf(node)}: ${answer.said}`);
    }
    note(command, answer, { took, process: nodes.indexOf(node) });
    if (!isOpen(command) || performance.now() > deadline) return;
    await sleep(100 + random.below(400));
  }
}

/** Sends commands to random processes until stopped. */
export async function write(name: string, writing: Writing, deadline: number): Promise<void> {
  const { random, commands, running } = writing;
  let isCreated = false;
  for (let turn = 0; running(); turn++) {
    const id = `${name}/${turn}`;
    const command = commandOf({ id, ...chooseWork({ id, name, made: isCreated }, random), keyed: random.chance(0.7) });
    commands.push(command);
    await sendUntilKnown(command, writing, deadline);
    if (command.path === '/collections') isCreated = true;
    if (command.method === 'DELETE' && command.path === `/collections/${name}`) isCreated = false;
    await sleep(random.below(100));
    await writing.besides?.(`${id}/besides`);
  }
}

/** A command that was not sent yet. */
export function commandOf(sent: Pick<Command, 'id' | 'method' | 'path' | 'body' | 'keyed'>): Command {
  return { ...sent, fate: 'ambiguous', resolved: false, position: 0, batch: null, waited: 0, said: '', tries: [] };
}

type Work = Pick<Command, 'method' | 'path' | 'body'>;

interface Turn {
  id: string;
  /** The writer's own table. */
  name: string;
  /** True if the table exists. */
  made: boolean;
}

/**
 * Uses its own table most of the time, and sometimes the shared one. Every accepted command changes something. An
 * unchanged note would be acknowledged without an event.
 */
export function chooseWork({ id, name, made }: Turn, random: Random): Work {
  if (!made) return { method: 'POST', path: '/collections', body: { collection: name, schema: {} } };
  const kind = random.below(100);
  const meta = { note: `note of ${id}` };
  if (kind < 30) return { method: 'PATCH', path: `/collections/${name}`, body: { meta } };
  if (kind < 45) return { method: 'PATCH', path: '/collections/shared', body: { meta } };
  const field = `f${random.below(8)}`;
  if (kind < 75)
    return { method: 'POST', path: `/fields/${name}`, body: { field, type: 'string', interface: 'input' } };
  if (kind < 92) return { method: 'DELETE', path: `/fields/${name}/${field}` };
  return { method: 'DELETE', path: `/collections/${name}` };
}
