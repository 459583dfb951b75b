/** Writers that note what they were told of every command, and send again what they weren't told about. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../fuzz/random.js';
import { ADMIN_TOKEN, type Node } from './cluster.js';

/** What is known of a command: it is in the log, it isn't, or its commit is in doubt. */
export type Fate = 'acknowledged' | 'refused' | 'ambiguous';

export interface Command {
  /** Its X-Reason, which is in its events. */
  id: string;
  method: string;
  path: string;
  body?: unknown;
  /** With an Idempotency-Key it is sent until its outcome is known. */
  keyed: boolean;
  fate: Fate;
  /** It was ambiguous for a while. */
  resolved: boolean;
  /** X-Log-Position of the answer that acknowledged it. */
  position: number;
  /** X-Batch-Id of that answer: null where it says that nothing changed. */
  batch: string | null;
  /** Milliseconds of the longest try. */
  waited: number;
  /** How it was refused, or why it is ambiguous. */
  said: string;
  /** What each try was told: a broken promise is looked into with them. */
  tries: string[];
}

/** Milliseconds that a writer waits for an answer. */
const PATIENCE = 60_000;

interface Answer {
  fate: Fate;
  position: number;
  batch: string | null;
  said: string;
}

/** One try on one process. */
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

/** The service says so itself where it doesn't know. */
function fateOf(status: number, text: string): Fate {
  if (status < 300) return 'acknowledged';
  return status === 503 && text.includes('is unknown') ? 'ambiguous' : 'refused';
}

interface Try {
  /** Milliseconds. */
  took: number;
  process: number;
}

/** Whether to send it again: with its key nothing is done twice. */
const isOpen = ({ fate, keyed, said }: Command): boolean =>
  keyed && (fate === 'ambiguous' || (fate === 'refused' && said.startsWith('503')));

function note(command: Command, answer: Answer, { took, process }: Try): void {
  const at = new Date().toISOString();
  const told = `${answer.said.slice(0, 120)}; position ${answer.position}, batch ${answer.batch}`;
  command.tries.push(`${at} process ${process}, ${Math.round(took)} ms: ${told}`);
  const wasAmbiguous = command.fate === 'ambiguous' && command.said !== '';
  Object.assign(command, answer);
  command.waited = Math.max(command.waited, took);
  command.resolved ||= wasAmbiguous && answer.fate !== 'ambiguous';
}

export interface Sending {
  nodes: readonly Node[];
  random: Random;
  /** All there were so far. */
  commands: Command[];
  trace(line: string): void;
}

export interface Writing extends Sending {
  running(): boolean;
  /** What each writer does after a command. */
  besides?(id: string): Promise<void>;
}

/** Milliseconds: what takes longer is worth a line. */
const LONG = 15_000;

/** Sends `command` until it is known what became of it, or for as long as it may be sent again. */
export async function carryOut(
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

/** One after the other, on whichever process there is, until it is told to stop. */
export async function write(name: string, writing: Writing, deadline: number): Promise<void> {
  const { random, commands, running } = writing;
  let made = false;
  for (let turn = 0; running(); turn++) {
    const id = `${name}/${turn}`;
    const command = commandOf({ id, ...work({ id, name, made }, random), keyed: random.chance(0.7) });
    commands.push(command);
    await carryOut(command, writing, deadline);
    if (command.path === '/collections') made = true;
    if (command.method === 'DELETE' && command.path === `/collections/${name}`) made = false;
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
  /** Of the command. */
  id: string;
  /** The writer's own table. */
  name: string;
  /** Whether there is one. */
  made: boolean;
}

/**
 * On its own table mostly, and now and then on the one that all write to. What is accepted changes something: a note that
 * was there before would be acknowledged, and rightly not be in the log.
 */
export function work({ id, name, made }: Turn, random: Random): Work {
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
