/** Faults in the cluster, one after another. Each ends when the cluster has recovered. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isUp, leaderOf, members, processesOf, startEtcd, startNode, waitFor } from '../cluster/cluster.js';
import type { EtcdPlace, Layout, NodePlace } from '../cluster/layout.js';
import { pidOf, signal, treeOf } from '../cluster/processes.js';
import { isWell, serviceUrl, startService } from '../cluster/services.js';
import type { Random } from '../fuzz/random.js';
import type { History } from './history.js';

export interface FaultTarget {
  layout: Layout;
  random: Random;
  history: History;
  /** Number of processes of the service. */
  settings: Readonly<Record<string, string>>;
}

async function primary(layout: Layout): Promise<NodePlace> {
  let leader: NodePlace | undefined;
  await waitFor(async () => (leader = await leaderOf(layout)) !== undefined, 'primary', 30_000);
  return leader as unknown as NodePlace;
}

/** Stops everything on a node, as if its machine failed, and restarts it some seconds later. */
async function killPrimary({ layout }: Pick<FaultTarget, 'layout'>, away = 3_000): Promise<void> {
  const node = await primary(layout);
  signal(processesOf(layout, node), 'SIGKILL');
  await sleep(away);
  startNode(layout, node);
}

async function switchOver({ layout, random }: FaultTarget): Promise<void> {
  const all = await members(layout);
  const leader = all.find(({ role }) => role === 'leader')?.name;
  const synchronous = all.filter(({ role }) => role === 'sync_standby');
  const others = synchronous.length > 0 ? synchronous : all.filter(({ role }) => role === 'replica');
  const node = layout.nodes.find(({ name }) => name === leader);
  if (node === undefined || others.length === 0) throw new Error('nobody to switch over to');
  const answer = await fetch(`http://127.0.0.1:${node.api}/switchover`, {
    method: 'POST',
    body: JSON.stringify({ leader, candidate: random.pick(others).name }),
    signal: AbortSignal.timeout(60_000),
  });
  if (!answer.ok) throw new Error(`switch-over: ${answer.status} ${await answer.text()}`);
}

/** Usually the primary. When it continues, it still believes that it is the primary. */
async function freeze({ layout, random }: FaultTarget): Promise<void> {
  const node = random.chance(0.7) ? await primary(layout) : random.pick(layout.nodes);
  const all = processesOf(layout, node);
  signal(all, 'SIGSTOP');
  await sleep(10_000);
  signal(all, 'SIGCONT');
}

async function leaderOfEtcd({ etcd }: Layout): Promise<EtcdPlace | undefined> {
  for (const member of etcd) {
    try {
      const answer = await fetch(`http://127.0.0.1:${member.client}/v3/maintenance/status`, {
        method: 'POST',
        body: '{}',
        signal: AbortSignal.timeout(2_000),
      });
      const { header, leader } = (await answer.json()) as { header: { member_id: string }; leader: string };
      if (header.member_id === leader) return member;
    } catch {
      // Another node may know the primary.
    }
  }
  return undefined;
}

async function killEtcd({ layout }: FaultTarget): Promise<void> {
  const leader = await leaderOfEtcd(layout);
  if (leader === undefined) throw new Error('etcd has no leader');
  signal([pidOf(layout.directory, leader.name)], 'SIGKILL');
  await sleep(3_000);
  startEtcd(layout, leader);
}

async function killService({ layout, random, settings }: FaultTarget): Promise<void> {
  const index = random.below(layout.services.length);
  const pid = pidOf(layout.directory, `service${index + 1}`);
  if (pid !== undefined) signal(treeOf(pid), 'SIGKILL');
  await sleep(500);
  startService(layout, index, settings);
}

/** Switches back before the first switch-over is complete, if Patroni permits it. */
async function switchTwice(place: FaultTarget): Promise<void> {
  await switchOver(place);
  await sleep(1_500);
  await switchOver(place).catch(() => undefined);
}

export const FAULTS: Readonly<Record<string, (place: FaultTarget) => Promise<unknown>>> = {
  'primary killed': killPrimary,
  'switch-over asked for': switchOver,
  'node frozen for 10 s': freeze,
  "etcd's leader killed": killEtcd,
  'service process killed': killService,
  'two switch-overs at once': switchTwice,
};

/** Time limit for recovery after a fault, in milliseconds. */
const RECOVERY = 120_000;

/** After this time an operator rebuilds a standby that cannot follow, in milliseconds. */
const STUCK = 30_000;

/** Standbys that an operator rebuilt. */
export const reinitialised = { count: 0 };

/**
 * After two quick switch-overs without a synchronous standby, a standby may have events that its new primary lacks.
 * Patroni checks for that only when a standby starts, and this one was not restarted.
 */
async function reinitialiseStuck(layout: Layout): Promise<void> {
  const all = await members(layout);
  const leader = all.find(({ role }) => role === 'leader');
  for (const { name, timeline } of all) {
    const node = layout.nodes.find((each) => each.name === name);
    if (leader === undefined || node === undefined || timeline === leader.timeline) continue;
    reinitialised.count += 1;
    await fetch(`http://127.0.0.1:${node.api}/reinitialize`, { method: 'POST', body: '{"force": true}' });
  }
}

export async function waitUntilWell(layout: Layout): Promise<void> {
  const stuck = setTimeout(() => void reinitialiseStuck(layout).catch(() => undefined), STUCK);
  await waitFor(() => isUp(layout), 'whole cluster', RECOVERY).finally(() => clearTimeout(stuck));
  for (const index of layout.services.keys()) {
    const url = serviceUrl(layout, index);
    await waitFor(() => isWell(url), `health of process ${index}`, RECOVERY);
  }
}

export interface Done {
  name: string;
  /** Milliseconds: the longest time without an acknowledged command, and the time until recovery. */
  outage: number;
  recovered: number;
}

/** @throws if the cluster does not recover */
export async function makeFault(name: string, place: FaultTarget): Promise<Done> {
  const { history, layout } = place;
  const begin = Date.now();
  history.write({ kind: 'fault', name, phase: 'begin' });
  await (FAULTS[name] as (place: FaultTarget) => Promise<unknown>)(place);
  await waitUntilWell(layout);
  await sleep(1_000);
  history.write({ kind: 'fault', name, phase: 'end' });
  const end = Date.now();
  const times = [begin, ...history.acknowledged.filter((at) => at >= begin), end];
  const gaps = times.slice(1).map((at, index) => at - (times[index] ?? at));
  return { name, outage: Math.max(...gaps), recovered: end - begin };
}
