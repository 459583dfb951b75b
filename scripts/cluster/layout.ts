/** Where everything of a cluster is: ports, directories, addresses. Kept in a file, so that another command finds it. */
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { join } from 'node:path';

export type Mode = 'sync' | 'async';

export interface NodePlace {
  /** `pg1` */
  name: string;
  port: number;
  /** Of Patroni's REST interface. */
  api: number;
  data: string;
}

export interface EtcdPlace {
  /** `etcd1` */
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

/** @returns null where no cluster was made */
export function readLayout(directory: string): Layout | null {
  try {
    return JSON.parse(readFileSync(join(directory, FILE), 'utf8')) as Layout;
  } catch {
    return null;
  }
}

/** All at once, so that none is given twice. */
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

/** All servers, of which the primary is looked for. @param attrs `read-write`, `standby`, … */
export function hostsUrl({ nodes, password }: Layout, attrs = 'read-write'): string {
  const hosts = nodes.map(({ port }) => `127.0.0.1:${port}`).join(',');
  return `postgresql://dps:${password}@${hosts}/${DATABASE}?target_session_attrs=${attrs}`;
}

/** Through HAProxy. */
export function proxyUrl({ proxy, password }: Layout, to: 'primary' | 'standbys' = 'primary'): string {
  return `postgresql://dps:${password}@127.0.0.1:${proxy[to]}/${DATABASE}`;
}

/** One server, whatever it is. */
export function nodeUrl({ password }: Layout, { port }: NodePlace, user = 'dps', database = DATABASE): string {
  return `postgresql://${user}:${password}@127.0.0.1:${port}/${database}`;
}
