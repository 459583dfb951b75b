/** Loses fifteen acknowledged events: the primary stops replication to its standbys, then fails. */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { leaderOf, processesOf, startNode, waitFor } from '../cluster/cluster.js';
import { type Layout, type NodePlace, nodeUrl } from '../cluster/layout.js';
import { signal } from '../cluster/processes.js';
import { ADMIN_TOKEN, serviceUrl } from '../cluster/services.js';
import { type Answer, send } from './clients.js';
import { type FaultTarget, waitUntilWell } from './faults.js';

const LOST = 15;

export interface Lost {
  findings: string[];
  /** Prints one line. */
  summary: string;
}

interface Scene extends FaultTarget {
  name: string;
  findings: string[];
  expect(holds: boolean, what: string): void;
}

export async function loseTail(place: FaultTarget, onDivergence: 'refuse' | 'continue'): Promise<Lost> {
  const { layout } = place;
  const findings: string[] = [];
  const expect = (holds: boolean, what: string): void => void (holds || findings.push(`${onDivergence}: ${what}`));
  const scene: Scene = { ...place, name: `lost-${onDivergence}`, findings, expect };
  const urls = layout.services.map((_, index) => serviceUrl(layout, index));
  await waitUntilWell(layout);
  const primary = (await leaderOf(layout)) as NodePlace;
  const before = await headOf(layout, primary);
  signal(await walSenders(layout, primary), 'SIGSTOP');
  const stream = follow(urls[0] as string, before);
  const last = await acknowledgeSome(scene, urls[0] as string);
  // The second process has read them, the third has not.
  await send(urls[1] as string, 'GET', '/collections');
  signal(processesOf(layout, primary), 'SIGKILL');
  await waitFor(async () => ![undefined, primary.name].includes((await leaderOf(layout))?.name), 'new primary');
  startNode(layout, primary);
  const head = await headOf(layout, (await leaderOf(layout)) as NodePlace);
  expect(head < last, `nothing was lost (the log ended at ${last}, and ends at ${head})`);
  await readAll(scene, urls, head);
  if (onDivergence === 'refuse') await refusedUntilAcknowledged(scene, urls);
  else await expectWrites(scene, urls);
  await expectNamed(scene, urls, { seen: last, found: head });
  await sleep(500);
  stream.end();
  expect(stream.text().includes('event: diverged'), 'the stream said nothing');
  expect(stream.text().includes(`"seen":{"position":${last}`), 'the stream names another position');
  await waitUntilWell(layout);
  return {
    findings,
    summary: `${onDivergence}: the log ended at ${last}, was found to end at ${head}; ${last - head} events lost`,
  };
}

async function headOf(layout: Layout, node: NodePlace): Promise<number> {
  const client = new pg.Client({ connectionString: nodeUrl(layout, node) });
  await client.connect();
  const { rows } = await client.query<{ head: string }>('SELECT max(position) AS head FROM service.service_events');
  await client.end();
  return Number(rows[0]?.head);
}

async function walSenders(layout: Layout, node: NodePlace): Promise<number[]> {
  const client = new pg.Client({ connectionString: nodeUrl(layout, node, 'postgres', 'postgres') });
  await client.connect();
  const { rows } = await client.query<{ pid: number }>('SELECT pid FROM pg_stat_replication');
  await client.end();
  return rows.map(({ pid }) => pid);
}

/** @returns the last position */
async function acknowledgeSome({ history, name, expect }: Scene, url: string): Promise<number> {
  let position = 0;
  for (let n = 0; n < LOST; n += 1) {
    const op = `${name}/${n}`;
    history.write({ kind: 'begin', process: name, op, what: 'PATCH /collections/shared', service: 0 });
    const answer = await send(url, 'PATCH', '/collections/shared', {
      body: { meta: { note: op } },
      headers: { 'X-Reason': op, 'Idempotency-Key': op },
    });
    const { status, batch } = answer;
    const result = status === 200 ? 'acknowledged' : 'away';
    history.write({ kind: 'end', process: name, op, service: 0, result, status, position: answer.position, batch });
    expect(status === 200, `a command before the loss was answered ${status} ${answer.text.slice(0, 200)}`);
    position = answer.position ?? position;
  }
  return position;
}

async function readAll({ expect }: Scene, urls: readonly string[], head: number): Promise<void> {
  for (const [index, url] of urls.entries()) {
    let answer: Answer | undefined;
    await waitFor(async () => (answer = await send(url, 'GET', '/collections')).status === 200, 'read', 60_000);
    const { position } = answer as Answer;
    // ON_LOG_DIVERGENCE=continue has appended one event by then.
    expect(
      position !== null && position <= head + 2,
      `process ${index} shows position ${position} on a log that ended at ${head}`,
    );
  }
}

const note = (text: string) => ({ body: { meta: { note: text } } });

async function refusedUntilAcknowledged({ expect, name }: Scene, urls: readonly string[]): Promise<void> {
  const [one = '', two = ''] = urls;
  for (const [index, url] of urls.entries()) {
    const answer = await send(url, 'PATCH', '/collections/shared', note(`${name} refused`));
    expect(answer.code === 'LOG_DIVERGED', `process ${index} answered a change ${answer.status} ${answer.code}`);
    const health = await send(url, 'GET', '/server/health');
    expect(health.status === 503, `process ${index} is healthy`);
  }
  const all = await Promise.all([one, two, one, two].map((url) => send(url, 'POST', '/history/acknowledge')));
  const counts = all.map(
    ({ text }) => (JSON.parse(text) as { data?: { divergences: unknown[] } }).data?.divergences.length ?? -1,
  );
  expect(counts.filter((count) => count > 0).length === 1, `acknowledged ${counts.join(', ')} divergences`);
  await writeOnAll({ expect, name }, urls);
}

async function expectWrites({ expect, name }: Scene, urls: readonly string[]): Promise<void> {
  await writeOnAll({ expect, name }, urls);
}

async function writeOnAll({ expect, name }: Pick<Scene, 'expect' | 'name'>, urls: readonly string[]): Promise<void> {
  for (const [index, url] of urls.entries()) {
    const answer = await send(url, 'PATCH', '/collections/shared', note(`${name} after ${index}`));
    expect(answer.status === 200, `process ${index} doesn't go on: ${answer.status} ${answer.text.slice(0, 200)}`);
  }
  const op = `${name}/0`;
  const retried = await send(urls[0] as string, 'PATCH', '/collections/shared', {
    ...note(op),
    headers: { 'Idempotency-Key': op, 'X-Reason': `${op} again` },
  });
  expect(
    retried.status === 200 && retried.batch !== null,
    `a lost command with its key: ${retried.status} ${retried.text.slice(0, 200)}`,
  );
}

async function expectNamed(
  { expect }: Scene,
  urls: readonly string[],
  lost: { seen: number; found: number },
): Promise<void> {
  const { text } = await send(urls[0] as string, 'GET', '/history/events?type=log.acknowledged&limit=1000');
  const events = (
    JSON.parse(text) as {
      data: {
        data: { divergences: { seen: { position: number }; found: { position: number }; fork: number | null }[] };
      }[];
    }
  ).data;
  const all = events.flatMap((event) => event.data.divergences);
  const isNamed = all.some(({ seen, fork }) => seen.position === lost.seen && fork === lost.found);
  expect(isNamed, `no event names the loss of ${lost.found + 1} to ${lost.seen}`);
  const counted = await Promise.all(urls.map((url) => send(url, 'GET', '/metrics')));
  for (const [index, metrics] of counted.entries()) {
    const total = Number(/^dps_log_divergence_total (\d+)/m.exec(metrics.text)?.[1] ?? 0);
    expect(total > 0, `process ${index} counts no divergence`);
  }
}

/** The messages that a follower of the stream receives. */
function follow(url: string, after: number): { text(): string; end(): void } {
  const stop = new AbortController();
  let output = '';
  void (async () => {
    const headers = { Authorization: `Bearer ${ADMIN_TOKEN}` };
    const answer = await fetch(`${url}/history/stream?after=${after}`, { headers, signal: stop.signal });
    const decoder = new TextDecoder();
    for await (const chunk of answer.body ?? []) output += decoder.decode(chunk as Uint8Array, { stream: true });
  })().catch(() => undefined);
  return { text: () => output, end: () => stop.abort() };
}
