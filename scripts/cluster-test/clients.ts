/** Writers and readers on all processes of the service. */
import { setTimeout as sleep } from 'node:timers/promises';
import { chooseWork } from '../chaos/writers.js';
import { ADMIN_TOKEN } from '../cluster/services.js';
import type { Random } from '../fuzz/random.js';
import type { End, History } from './history.js';

export interface Clients {
  urls: readonly string[];
  history: History;
  random: Random;
  running(): boolean;
  /** Acknowledges a divergence if the service waits for that. */
  acknowledge(url: string): Promise<void>;
}

export interface Answer {
  status: number;
  position: number | null;
  batch: string | null;
  code: string;
  text: string;
}

/** Time limit for a response, in milliseconds. */
const PATIENCE = 40_000;

/** How long an operation is retried, in milliseconds. */
const LONGEST = 120_000;

/** @returns status 0 without a response */
export async function send(
  url: string,
  method: string,
  path: string,
  { body, headers = {} }: { body?: unknown; headers?: Record<string, string> } = {},
): Promise<Answer> {
  try {
    const answer = await fetch(url + path, {
      method,
      headers: { Authorization: `Bearer ${ADMIN_TOKEN}`, 'Content-Type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(PATIENCE),
    });
    const text = await answer.text();
    const position = answer.headers.get('x-log-position');
    return {
      status: answer.status,
      position: position === null ? null : Number(position),
      batch: answer.headers.get('x-batch-id'),
      code: /"code":\s*"(\w+)"/.exec(answer.status < 400 ? '' : text)?.[1] ?? '',
      text,
    };
  } catch (error) {
    const { message, cause } = error as Error;
    return { status: 0, position: null, batch: null, code: '', text: `${message} ${String(cause)}` };
  }
}

/** The service reports an unknown outcome itself. */
function resultOf({ status, text }: Answer): End['result'] {
  if (status >= 200 && status < 300) return 'acknowledged';
  if (status === 0) return text.includes('ECONNREFUSED') ? 'away' : 'unknown';
  if (status === 503) return text.includes('is unknown') ? 'unknown' : 'away';
  return 'refused';
}

interface Command {
  op: string;
  process: string;
  method: string;
  path: string;
  body?: unknown;
  keyed: boolean;
}

/** Retries until the outcome is known, if the command has a key. */
async function sendUntilKnown(command: Command, clients: Clients): Promise<Answer> {
  const { urls, history, random } = clients;
  const { op, process, method, path, body, keyed } = command;
  const end = performance.now() + LONGEST;
  for (;;) {
    const service = random.below(urls.length);
    const url = urls[service] as string;
    history.write({ kind: 'begin', process, op, what: `${method} ${path}`, service });
    const headers = { 'X-Reason': op, ...(keyed && { 'Idempotency-Key': op }) };
    const answer = await send(url, method, path, { body, headers });
    const { status, position, batch, code } = answer;
    const result = resultOf(answer);
    history.write({ kind: 'end', process, op, service, result, status, position, batch, code });
    if (code === 'LOG_DIVERGED') await clients.acknowledge(url);
    // Without a key, a command that may have been applied is never resent.
    const shouldRetry = result === 'away' || (result === 'unknown' && keyed);
    if (!shouldRetry || performance.now() > end) return answer;
    await sleep(100 + random.below(400));
  }
}

export async function write(process: string, clients: Clients): Promise<void> {
  const { random, running } = clients;
  let isCreated = false;
  for (let turn = 0; running(); turn += 1) {
    const op = `${process}/${turn}`;
    const what = chooseWork({ id: op, name: process, made: isCreated }, random);
    const { status, code } = await sendUntilKnown({ op, process, ...what, keyed: random.chance(0.7) }, clients);
    const isOwn = what.path.includes(process) || what.path === '/collections';
    if (what.path === '/collections') isCreated = status < 300 || code === 'ALREADY_EXISTS';
    // Deleted, or lost with the end of the log.
    else if (isOwn && (what.method === 'DELETE' ? what.path === `/collections/${process}` : status === 404))
      isCreated = false;
    await sleep(50 + random.below(300));
  }
}

/** Reads the head, and sometimes its event. Never accepts less than it has seen. */
export async function read(process: string, clients: Clients): Promise<void> {
  const { urls, history, random, running } = clients;
  let least = 0;
  let refused = 0;
  for (let turn = 0; running(); turn += 1) {
    const op = `${process}/${turn}`;
    const service = random.below(urls.length);
    const url = urls[service] as string;
    const headers: Record<string, string> = least > 0 ? { 'X-Log-Position-At-Least': String(least) } : {};
    history.write({ kind: 'begin', process, op, what: 'GET /collections', service });
    const { status, position, code } = await send(url, 'GET', '/collections?fields=collection', { headers });
    const result = status === 200 ? 'read' : 'away';
    history.write({ kind: 'end', process, op, service, result, status, position, code, least });
    refused = status === 200 ? 0 : refused + 1;
    const head = status === 200 ? (position ?? 0) : 0;
    least = Math.max(least, head);
    // Events that it has seen may be lost.
    if (refused > 20) least = refused = 0;
    if (head > 0 && turn % 3 === 0) await readEvent(head, { op: `${op}e`, process, service }, clients);
    await sleep(100 + random.below(300));
  }
}

interface Reading {
  op: string;
  process: string;
  service: number;
}

async function readEvent(position: number, reading: Reading, { urls, history }: Clients): Promise<void> {
  const path = `/history/events/${position}`;
  history.write({ kind: 'begin', ...reading, what: `GET ${path}` });
  const { status, code, text } = await send(urls[reading.service] as string, 'GET', path);
  const hash = status === 200 ? (JSON.parse(text) as { data: { hash: string } }).data.hash : undefined;
  const end = { kind: 'end', ...reading, status, code } as const;
  if (hash === undefined) history.write({ ...end, result: 'away', position: null });
  else history.write({ ...end, result: 'read', position, hash });
}
