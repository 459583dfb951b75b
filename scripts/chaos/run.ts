/** Runs writers and faults, then checks the guarantees. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { expectConsistent } from '../../test/support/consistent.js';
import { createDatabase } from '../../test/support/postgres.js';
import { createRandom } from '../fuzz/random.js';
import { ADMIN_TOKEN, type Node, type Program, startNode } from './cluster.js';
import type { StoredEvent } from '../../src/schema/model/events.js';
import { createFaults } from './faults.js';
import { FILL_LARGE, LARGE_COLLECTION, OPENING, createOthers, findDoubledRequests } from './others.js';
import { sendUntilKnown, type Command, type Fate, type Writing, write } from './writers.js';

export interface ChaosOptions {
  seed: number;
  seconds: number;
  writers: number;
  processes: number;
  program: Program;
  /**
   * Only terminates all backends of the service at this interval in milliseconds, and runs the other work of clients
   * too.
   */
  terminate?: number;
  /** Ends the run early. */
  enough?(acknowledged: number, done: ReadonlyMap<string, number>): boolean;
  /** Called for every fault and every slow attempt. */
  trace?(line: string): void;
}

export interface ChaosReport {
  /** Number of faults of each kind. */
  faults: Map<string, number>;
  commands: Command[];
  events: number;
  /** Violated guarantees. */
  findings: string[];
}

/** Time limit for recovery after the last fault, in milliseconds. */
const RECOVERY = 60_000;

/** Time limit for one attempt in milliseconds: half a minute, plus the delay of a busy machine. */
const LONGEST = 45_000;

export async function chaos(options: ChaosOptions): Promise<ChaosReport> {
  const database = await createDatabase();
  const logs = await mkdtemp(join(tmpdir(), 'dps-chaos-'));
  const nodes: Node[] = [];
  let isWorthReading = true;
  try {
    // One after another, because each connects through its own proxy.
    while (nodes.length < options.processes)
      nodes.push(
        await startNode(database.connectionString, options.program, join(logs, `process-${nodes.length}.log`)),
      );
    const report = await runUnderFaults(options, nodes, database.connectionString);
    // Keeps the output of the processes if there is something to investigate.
    isWorthReading = report.findings.length > 0;
    if (isWorthReading) report.findings.push(`what the processes said is in ${logs}`);
    return report;
  } finally {
    await Promise.all(nodes.map((node) => node.stop()));
    await database.drop();
    if (!isWorthReading) await rm(logs, { recursive: true });
  }
}

async function runUnderFaults(options: ChaosOptions, nodes: Node[], databaseUrl: string): Promise<ChaosReport> {
  const random = createRandom(options.seed);
  const commands: Command[] = [];
  const started = performance.now();
  const deadline = started + options.seconds * 1_000 + RECOVERY;
  const trace = (line: string): void =>
    options.trace?.(`${((performance.now() - started) / 1_000).toFixed(1)} s: ${line}`);
  const { terminate } = options;
  const acknowledged = (): number => commands.filter(({ fate }) => fate === 'acknowledged').length;
  const running = (): boolean =>
    performance.now() - started < options.seconds * 1_000 && options.enough?.(acknowledged(), others.done) !== true;
  const writing: Writing = { nodes, random, commands, running, trace };
  const others = createOthers({ nodes, random: createRandom(options.seed + 2), commands, trace });
  await send(nodes[0] as Node, 'POST', '/collections', { collection: 'shared', schema: {} });
  if (terminate !== undefined) {
    await prepareOthers(nodes[0] as Node, databaseUrl);
    writing.besides = others.act;
  }

  const faults = createFaults({ nodes, databaseUrl, terminate, trace }, createRandom(options.seed + 1));
  const writers = Array.from({ length: options.writers }, (_, index) => write(`w${index}`, writing, deadline));
  await Promise.all([faults.run(running), ...writers]);
  await faults.stop();

  const findings = await checkRecovery(nodes);
  findings.push(...findEndedProcesses(nodes), ...(await others.settled(performance.now() + RECOVERY)));
  for (const command of commands.filter(({ keyed, fate }) => keyed && fate === 'ambiguous')) {
    await sendUntilKnown(command, writing, performance.now() + RECOVERY);
  }
  const { found, events } = await judgeLog(databaseUrl, commands);
  findings.push(...found, ...(await compareProcesses(nodes)));
  return { faults: new Map([...faults.made, ...others.done]), commands, events, findings };
}

/** Creates a table that is large enough to be prepared. Authors approve their own requests. */
async function prepareOthers(node: Node, databaseUrl: string): Promise<void> {
  await send(node, 'PUT', '/policy', { author_may_approve: true });
  await send(node, 'POST', '/collections', LARGE_COLLECTION);
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(FILL_LARGE);
  await client.end();
}

/** A fault restarts the process that it ended. All others must still run. */
const findEndedProcesses = (nodes: readonly Node[]): string[] =>
  nodes.flatMap((node, index) => {
    const ended = node.ended();
    return ended === null ? [] : [`process ${index} ended by itself: ${ended}`];
  });

async function send(node: Node, method: string, path: string, body: unknown): Promise<void> {
  const headers = { Authorization: `Bearer ${ADMIN_TOKEN}`, 'Content-Type': 'application/json' };
  const answer = await fetch(`${node.url}${path}`, { method, headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
}

/** Every process must recover by itself soon after the last fault. */
async function checkRecovery(nodes: readonly Node[]): Promise<string[]> {
  const deadline = performance.now() + RECOVERY;
  const findings: string[] = [];
  for (const [index, node] of nodes.entries()) {
    let output = '';
    for (;;) {
      output = await fetch(`${node.url}/server/health`).then(
        (answer) => (answer.ok ? 'ok' : answer.text()),
        (error: unknown) => (error as Error).message,
      );
      if (output === 'ok' || performance.now() > deadline) break;
      await sleep(500);
    }
    if (output !== 'ok') findings.push(`process ${index} isn't well a minute after the last fault: ${output}`);
  }
  return findings;
}

interface Judged {
  found: string[];
  events: number;
}

/** Compares the log with the responses to the writers. */
async function judgeLog(databaseUrl: string, commands: readonly Command[]): Promise<Judged> {
  const faults: string[] = [];
  const { events } = await expectConsistent(databaseUrl).catch((error: unknown) => {
    faults.push(`the log, or what was made of it: ${(error as Error).message.slice(0, 2_000)}`);
    return { events: [] };
  });
  faults.push(...findDoubledRequests(events));
  const { batches, last } = byReason(events);
  for (const command of commands) {
    const fault = faultOf(command, batches.get(command.id), last.get(command.id));
    if (fault !== null) faults.push(`${command.id} ${describeCommand(command, events)}: ${fault}`);
  }
  return { found: faults, events: events.length };
}

/** The batches of each command, and the position of its last event. */
function byReason(events: readonly StoredEvent[]) {
  const batches = new Map<string, Set<string>>();
  const last = new Map<string, number>();
  for (const { reason, batch, position, type } of events) {
    // A batch that applies a change request later has the reason of the request.
    if (reason?.endsWith(OPENING) === true && type !== 'change.opened') continue;
    batches.set(reason ?? '', (batches.get(reason ?? '') ?? new Set()).add(batch));
    last.set(reason ?? '', position);
  }
  return { batches, last };
}

/** A command with the responses to its attempts, and the events around their position. */
function describeCommand(
  { method, path, body, keyed, tries, position }: Command,
  events: readonly StoredEvent[],
): string {
  const near = events
    .filter((event) => Math.abs(event.position - position) < 4)
    .map(
      (event) =>
        `${event.position} ${event.type} ${event.collection} ${event.reason} ${event.occurred_at} ${event.batch}`,
    );
  const sent = `${method} ${path} ${JSON.stringify(body)}${keyed ? ', with a key' : ''}`;
  return [`(${sent})`, ...tries, 'in the log there:', ...near].join('\n    ');
}

/** Describes the fault of a command that has these batches and whose last event is at `last`. */
export function faultOf(command: Command, batches: ReadonlySet<string> = new Set(), last = 0): string | null {
  const { fate, waited } = command;
  if (batches.size > 1) return `it is in the log ${batches.size} times`;
  const promise = PROMISES[fate]({ ...command, batches, last });
  return promise ?? (waited > LONGEST ? `one try took ${Math.round(waited)} ms` : null);
}

interface CommandEvents extends Pick<Command, 'position' | 'batch' | 'keyed'> {
  /** At most one. */
  batches: ReadonlySet<string>;
  last: number;
}

const PROMISES: Record<Fate, (found: CommandEvents) => string | null> = {
  acknowledged({ batches, batch, position, last }) {
    if (batch === null) return 'it was acknowledged as a change of nothing';
    if (batches.size === 0) return 'it was acknowledged, and is not in the log';
    if (!batches.has(batch)) return `it was acknowledged as the batch ${batch}, and is another one`;
    return position < last ? `it was acknowledged at ${position}, and goes on to ${last}` : null;
  },
  refused: ({ batches }) => (batches.size > 0 ? 'it was refused, and is in the log' : null),
  ambiguous: ({ keyed }) => (keyed ? 'its outcome is unknown' : null),
};

/** All processes report success and return the same responses. */
async function compareProcesses(nodes: readonly Node[]): Promise<string[]> {
  const headers = { Authorization: `Bearer ${ADMIN_TOKEN}` };
  const ask = async (node: Node, path: string) => (await fetch(`${node.url}${path}`, { headers })).text();
  const shown = await Promise.all(nodes.map((node) => ask(node, '/schema/snapshot')));
  const findings = new Set(shown).size > 1 ? ['the processes show different schemas'] : [];
  for (const path of ['/history/verify', '/projections/verify']) {
    const text = await ask(nodes[0] as Node, path);
    if (!text.includes('"ok":true')) findings.push(`${path}: ${text.slice(0, 1_000)}`);
  }
  return findings;
}

export function chaosText({ seed, seconds, writers, processes }: ChaosOptions, report: ChaosReport): string {
  const { faults, commands, events, findings } = report;
  const count = (which: (command: Command) => boolean): number => commands.filter(which).length;
  const longest = commands.reduce(
    (most, command) => (command.waited > most.waited ? command : most),
    commands[0] as Command,
  );
  const faultCount = [...faults.values()].reduce((sum, times) => sum + times, 0);
  return [
    `Seed ${seed}: ${writers} writers on ${processes} processes for ${seconds} s, ${faultCount} faults`,
    ...[...faults].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, times]) => `  ${name.padEnd(34)} ${times}`),
    `${commands.length} commands, ${events} events in the log`,
    `  acknowledged                       ${count(({ fate }) => fate === 'acknowledged')}`,
    `  refused                            ${count(({ fate }) => fate === 'refused')}`,
    `  ambiguous for a while              ${count(({ resolved }) => resolved)}`,
    `  ambiguous, sent without a key      ${count(({ fate }) => fate === 'ambiguous')}`,
    `  longest wait                       ${(longest.waited / 1_000).toFixed(1)} s (${longest.method} ${longest.path}: ${longest.said.slice(0, 200)})`,
    ...(findings.length === 0 ? ['Nothing found.'] : findings.map((finding) => `FOUND ${finding}`)),
  ].join('\n');
}
