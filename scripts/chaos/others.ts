/**
 * Other work of clients: they read, follow the stream, and open change requests that are scheduled or prepared online.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ROWS } from '../../test/support/online.js';
import type { StoredEvent } from '../../src/schema/model/events.js';
import { ADMIN_TOKEN, type Node } from './cluster.js';
import { type Sending, sendUntilKnown, commandOf } from './writers.js';

/** Changes to this table are prepared online, because it has more than 8 MB. */
const LARGE = 'large';

export const FILL_LARGE = `
  ALTER TABLE ${LARGE} SET (fillfactor = 10);
  INSERT INTO ${LARGE} (wide, code) SELECT repeat('x', 300), i FROM generate_series(1, ${ROWS}) i;
  ALTER TABLE ${LARGE} RESET (fillfactor); ANALYZE ${LARGE}`;

/** Suffix of the ids of commands that open a change request. */
export const OPENING = '/open';

const field = (name: string, type: string, schema: object = {}) => ({
  collection: LARGE,
  field: name,
  type,
  interface: 'input',
  schema,
});

export const LARGE_COLLECTION = {
  collection: LARGE,
  schema: {},
  fields: [field('wide', 'text'), field('code', 'integer')],
};

export interface Others {
  /** Runs one operation and waits for its response. */
  act(id: string): Promise<void>;
  /** Waits until every opened change request has ended. */
  settled(deadline: number): Promise<string[]>;
  /** Responses that must never occur, and the number of operations of each kind. */
  findings: string[];
  done: Map<string, number>;
}

interface Reply {
  status: number;
  text: string;
}

/** Retries for half a minute while the database is down. */
async function askPatiently(node: () => Node, path: string, init?: RequestInit): Promise<Reply> {
  const deadline = performance.now() + 30_000;
  for (;;) {
    const reply = await ask(node(), path, init);
    if (![0, 503].includes(reply.status) || performance.now() > deadline) return reply;
    await sleep(50);
  }
}

/** `status` is 0 if the connection to the process was lost. */
async function ask(node: Node, path: string, init: RequestInit = {}): Promise<Reply> {
  const headers = { Authorization: `Bearer ${ADMIN_TOKEN}`, 'Content-Type': 'application/json' };
  try {
    const answer = await fetch(`${node.url}${path}`, { headers, signal: AbortSignal.timeout(60_000), ...init });
    return { status: answer.status, text: await answer.text() };
  } catch (error) {
    return { status: 0, text: (error as Error).message };
  }
}

const READS = ['/collections', '/schema/snapshot', '/history/events', '/fields/shared', '/users', '/server/health'];

const AT_REST = new Set(['applied', 'failed', 'withdrawn', 'rejected', 'superseded']);

export function createOthers(writing: Sending): Others {
  const { nodes, random } = writing;
  const findings: string[] = [];
  const done = new Map<string, number>();
  const requests: string[] = [];

  const count = (what: string): void => void done.set(what, (done.get(what) ?? 0) + 1);
  const node = (): Node => random.pick(nodes);

  const read = async (): Promise<void> => {
    const path = random.pick(READS);
    const { status, text } = await ask(node(), path);
    if (![0, 200, 503].includes(status)) findings.push(`GET ${path}: ${status} ${text.slice(0, 300)}`);
    if (status === 200) count('reads answered');
  };

  /** Reads the stream for a short time. Each position must occur once and in order. */
  const stream = async (): Promise<void> => {
    const ended = new AbortController();
    const timer = setTimeout(() => ended.abort(), 500 + random.below(2_000));
    let text = '';
    try {
      const headers = { Authorization: `Bearer ${ADMIN_TOKEN}` };
      const answer = await fetch(`${node().url}/history/stream`, { headers, signal: ended.signal });
      if (answer.status !== 200 && answer.status !== 503) findings.push(`the stream was answered ${answer.status}`);
      for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>)
        text += Buffer.from(chunk).toString();
    } catch {
      // The stream was aborted, or its process closed it. The client reconnects.
    } finally {
      clearTimeout(timer);
    }
    const positions = [...text.matchAll(/^id: (\d+)-/gm)].map((match) => Number(match[1]));
    if (positions.some((position, at) => at > 0 && position !== (positions[at - 1] as number) + 1))
      findings.push(`a stream sent the positions ${positions.join(', ')}`);
    if (positions.length > 0) count('streams with events');
  };

  const send = async (id: string, path: string, body: unknown) => {
    const command = commandOf({ id, method: 'POST', path, body, keyed: true });
    writing.commands.push(command);
    await sendUntilKnown(command, writing, performance.now() + 60_000);
    return command;
  };

  /** The diff of a change to the shared or the large table. Undefined without a response. */
  const diffOf = async (id: string, isOnline: boolean): Promise<unknown> => {
    const snapshot = {
      version: 1,
      vendor: 'postgres',
      collections: [{ collection: isOnline ? LARGE : 'shared', schema: {}, meta: { note: `request ${id}` } }],
      fields: isOnline ? [field('code', 'integer', { is_unique: random.chance(0.5) })] : [],
      relations: [],
    };
    const init = { method: 'POST', body: JSON.stringify(snapshot) };
    const { status, text } = await askPatiently(node, '/schema/diff?mode=merge&force', init);
    if (status === 200) return JSON.parse(text);
    if (status !== 503 && status !== 0) findings.push(`POST /schema/diff: ${status} ${text.slice(0, 300)}`);
    return undefined;
  };

  /** Opens a change request, approves it, and applies it online or on a schedule. It may conflict with another one. */
  const request = async (id: string, isOnline: boolean): Promise<void> => {
    const diff = await diffOf(id, isOnline);
    if (diff === undefined) return;
    const opened = await send(`${id}${OPENING}`, '/changes', { title: id, diff, online: isOnline });
    const [, change] = /"id":"([^"]+)"/.exec(opened.said) ?? [];
    if (opened.fate !== 'acknowledged' || change === undefined) return;
    requests.push(change);
    const response = await askPatiently(node, `/changes/${change}`);
    const { plan } =
      response.status === 200 ? (JSON.parse(response.text) as { data: { plan: string } }).data : { plan: '' };
    await send(`${id}/approve`, `/changes/${change}/approve`, { plan });
    const at = new Date(Date.now() + 500 + random.below(2_000)).toISOString();
    const applied = await send(`${id}/apply`, `/changes/${change}/apply`, isOnline ? {} : { at });
    if (applied.fate === 'acknowledged') count(isOnline ? 'requests prepared' : 'requests scheduled');
  };

  return {
    findings,
    done,
    async act(id) {
      const kind = random.below(100);
      if (kind < 40) return read();
      if (kind < 60) return stream();
      await request(id, kind >= 80);
    },
    async settled(deadline) {
      for (const id of requests) {
        let state = '';
        for (;;) {
          const { status, text } = await ask(nodes[0] as Node, `/changes/${id}`);
          state = status === 200 ? (JSON.parse(text) as { data: { state: string } }).data.state : text;
          const isWaiting = ['scheduled', 'preparing', 'prepared', 'applying', 'queued'].includes(state);
          if ((status === 200 && !isWaiting) || performance.now() > deadline) break;
          await sleep(200);
        }
        count(`requests that ended ${AT_REST.has(state) ? state : `"${state.slice(0, 60)}"`}`);
        if (performance.now() > deadline) findings.push(`the request ${id} is still ${state}`);
      }
      return findings;
    },
  };
}

/** A change request is opened, scheduled and applied at most once. */
export function findDoubledRequests(events: readonly StoredEvent[]): string[] {
  const seen = new Set<string>();
  const doubled: string[] = [];
  for (const { type, subject } of events) {
    if (subject === undefined || !['change.opened', 'change.applied'].includes(type)) continue;
    const key = `${type} of ${JSON.stringify(subject)}`;
    if (seen.has(key)) doubled.push(`${key} is in the log twice`);
    seen.add(key);
  }
  return doubled;
}
