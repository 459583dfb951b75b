/** Ports, directories and addresses of a cluster. Stored in a file for other commands. */
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { join } from 'node:path';

export type Mode = 'sync' | 'async';

export interface NodePlace {
  /** Name, such as `pg1`. */
  name: string;
  port: number;
  /** Port of Patroni's REST interface. */
  api: number;
  data: string;
}

export interface EtcdPlace {
  /** Name, such as `etcd1`. */
  name: string;
  client: number;
  peer: number;
  data: string;
}

export interface Layout {
  directory: string;
  mode: Mode;
  password: string;
  nodes: NodePlace[];
  etcd: EtcdPlace[];
  /** HAProxy's ports: to the primary, to the standbys. */
  proxy: { primary: number; standbys: number };
  /** Ports of the processes of the service. */
  services: number[];
}

const FILE = 'cluster.json';

export const DATABASE = 'dps';

export async function newLayout(directory: string, mode: Mode, services: number): Promise<Layout> {
  const ports = await freePorts(14 + services);
  const next = (): number => ports.pop() as number;
  const names = [1, 2, 3];
  const layout: Layout = {
    directory,
    mode,
    password: randomBytes(12).toString('hex'),
    nodes: names.map((n) => ({ name: `pg${n}`, port: next(), api: next(), data: join(directory, `pg${n}`) })),
    etcd: names.map((n) => ({ name: `etcd${n}`, client: next(), peer: next(), data: join(directory, `etcd${n}`) })),
    proxy: { primary: next(), standbys: next() },
    services: Array.from({ length: services }, next),
  };
  writeFileSync(join(directory, FILE), JSON.stringify(layout, null, 2), { mode: 0o600 });
  return layout;
}

/** @returns null if no cluster exists */
export function readLayout(directory: string): Layout | null {
  try {
    return JSON.parse(readFileSync(join(directory, FILE), 'utf8')) as Layout;
  } catch {
    return null;
  }
}

/** Reserves all ports at once, so that none is returned twice. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => net.createServer());
  const ports = await Promise.all(
    servers.map(
      (server) =>
        new Promise<number>((resolve) => {
          server.listen(0, '127.0.0.1', () => resolve((server.address() as net.AddressInfo).port));
        }),
    ),
  );
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

/**
 * Address of all servers, from which the client selects one.
 * @param attrs `read-write`, `standby`, …
 */
export function hostsUrl({ nodes, password }: Layout, attrs = 'read-write'): string {
  const hosts = nodes.map(({ port }) => `127.0.0.1:${port}`).join(',');
  return `postgresql://dps:${password}@${hosts}/${DATABASE}?target_session_attrs=${attrs}`;
}

/** Address through HAProxy. */
export function proxyUrl({ proxy, password }: Layout, to: 'primary' | 'standbys' = 'primary'): string {
  return `postgresql://dps:${password}@127.0.0.1:${proxy[to]}/${DATABASE}`;
}

/** Address of one server, in any role. */
export function nodeUrl({ password }: Layout, { port }: NodePlace, user = 'dps', database = DATABASE): string {
  return `postgresql://${user}:${password}@127.0.0.1:${port}/${database}`;
}
