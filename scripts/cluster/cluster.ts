/** Three PostgreSQL servers under Patroni, three etcd and HAProxy, on loopback and in their own directory. */
import { chmodSync, chownSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { etcdArguments, writeHaproxy, writePatroni } from './configuration.js';
import { DATABASE, type EtcdPlace, type Layout, type Mode, type NodePlace, newLayout, nodeUrl } from './layout.js';
import { end, pidOf, postmasterOf, signal, start, treeOf } from './processes.js';
import { type Programs, findPrograms, serverAccount } from './programs.js';

/** Patroni's status of a server. */
export interface Member {
  name: string;
  /** `leader`, `sync_standby`, `replica`, or its current action. */
  role: string;
  state: string;
  timeline?: number;
  lag?: number | string;
}

/** Time limit for the start of a cluster, in milliseconds. */
const UP = 120_000;

export function programsOrThrow(): Programs {
  const programs = findPrograms();
  if (typeof programs === 'string') throw new Error(programs);
  return programs;
}

/** @param services number of ports to reserve for processes of the service */
export async function startCluster(directory: string, mode: Mode, services = 0): Promise<Layout> {
  programsOrThrow();
  const account = serverAccount();
  mkdirSync(directory, { recursive: true });
  chmodSync(directory, 0o755);
  if (account) chownSync(directory, account.uid, account.gid);
  const layout = await newLayout(directory, mode, services);
  for (const member of layout.etcd) startEtcd(layout, member);
  for (const node of layout.nodes) startNode(layout, node);
  startHaproxy(layout);
  await waitFor(() => isUp(layout), 'three servers');
  await createDatabase(layout);
  return layout;
}

export function startEtcd(layout: Layout, member: EtcdPlace): void {
  const { directory } = layout;
  const args = etcdArguments(layout, member);
  start({ directory, name: member.name, program: programsOrThrow().etcd, args, account: serverAccount() });
}

/** Starts Patroni, which starts the server in its current role. */
export function startNode(layout: Layout, node: NodePlace): void {
  const { directory } = layout;
  const { patroni, postgres } = programsOrThrow();
  const args = [writePatroni(layout, node, postgres)];
  start({ directory, name: node.name, program: patroni, args, account: serverAccount() });
}

function startHaproxy(layout: Layout): void {
  const { directory } = layout;
  const args = ['-db', '-f', writeHaproxy(layout)];
  start({ directory, name: 'haproxy', program: programsOrThrow().haproxy, args, account: serverAccount() });
}

/** Includes Patroni, the server and all their processes. */
export function processesOf({ directory }: Layout, { name, data }: NodePlace): number[] {
  return [pidOf(directory, name), postmasterOf(data)].flatMap((pid) => (pid === undefined ? [] : treeOf(pid)));
}

/** The cluster according to the first Patroni that answers. */
export async function members({ nodes }: Layout): Promise<Member[]> {
  for (const { api } of nodes) {
    try {
      const answer = await fetch(`http://127.0.0.1:${api}/cluster`, { signal: AbortSignal.timeout(2_000) });
      return ((await answer.json()) as { members: Member[] }).members;
    } catch {
      // The next one may answer.
    }
  }
  return [];
}

/** The primary according to Patroni. */
export async function leaderOf(layout: Layout): Promise<NodePlace | undefined> {
  const leader = (await members(layout)).find(({ role }) => role === 'leader');
  return layout.nodes.find(({ name }) => name === leader?.name);
}

/** Waits for a primary and two streaming standbys, one of them synchronous in synchronous mode. */
export async function isUp(layout: Layout): Promise<boolean> {
  const all = await members(layout);
  const timelines = new Set(all.map(({ timeline }) => timeline));
  const leader = layout.nodes.find(({ name }) => name === all.find(({ role }) => role === 'leader')?.name);
  const isSynchronous = layout.mode === 'async' || all.some(({ role }) => role === 'sync_standby');
  if (leader === undefined || timelines.size !== 1 || !isSynchronous) return false;
  return (await followersOf(leader)) === layout.nodes.length - 1;
}

/** Number of standbys that stream from a primary, which only the primary knows. */
async function followersOf({ api }: NodePlace): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${api}/patroni`, { signal: AbortSignal.timeout(2_000) });
  const { replication = [] } = (await answer.json()) as { replication?: { state: string }[] };
  return replication.filter(({ state }) => state === 'streaming').length;
}

export async function waitFor(holds: () => Promise<boolean>, what: string, limit = UP): Promise<void> {
  const deadline = performance.now() + limit;
  while (!(await holds().catch(() => false))) {
    if (performance.now() > deadline) throw new Error(`no ${what} after ${limit / 1_000} s`);
    await sleep(250);
  }
}

async function createDatabase(layout: Layout): Promise<void> {
  const leader = await leaderOf(layout);
  if (leader === undefined) throw new Error('there is no primary');
  const client = new pg.Client({ connectionString: nodeUrl(layout, leader, 'postgres', 'postgres') });
  await client.connect();
  await client.query(`CREATE ROLE ${DATABASE} LOGIN PASSWORD '${layout.password}'`);
  await client.query(`CREATE DATABASE ${DATABASE} OWNER ${DATABASE}`);
  await client.end();
}

/** Stops everything, standbys first, and deletes the directory. */
export async function stopCluster(layout: Layout, keep = false): Promise<void> {
  const { directory, nodes, etcd, services } = layout;
  await Promise.all(services.map((_, index) => end(directory, `service${index + 1}`)));
  await Promise.all(
    nodes.map(async (node) => {
      signal(processesOf(layout, node), 'SIGCONT');
      await end(directory, node.name);
      // Processes that Patroni left.
      signal(processesOf(layout, node), 'SIGKILL');
    }),
  );
  await Promise.all([...etcd.map(({ name }) => name), 'haproxy'].map((name) => end(directory, name, 5_000)));
  if (keep) rmSync(join(directory, 'cluster.json'), { force: true });
  else rmSync(directory, { recursive: true, force: true });
}
