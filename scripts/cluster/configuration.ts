/** Configuration of etcd, Patroni and HAProxy. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dump } from 'js-yaml';
import type { EtcdPlace, Layout, NodePlace } from './layout.js';

/** etcd 3.4 enables its old interface by default, and Patroni's `etcd3` does not need it. */
export function etcdArguments({ etcd }: Layout, member: EtcdPlace): string[] {
  const client = `http://127.0.0.1:${member.client}`;
  const peer = `http://127.0.0.1:${member.peer}`;
  return [
    `--name=${member.name}`,
    `--data-dir=${member.data}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=${etcd.map(({ name, peer: port }) => `${name}=http://127.0.0.1:${port}`).join(',')}`,
    '--initial-cluster-state=new',
    '--enable-v2=false',
    '--heartbeat-interval=100',
    '--election-timeout=1000',
  ];
}

/** Seconds. The lease of the primary lasts for ten, and Patroni renews it every two. */
const TIMES = { ttl: 10, loop_wait: 2, retry_timeout: 3 };

/** @returns the file's path */
export function writePatroni(layout: Layout, node: NodePlace, postgres: string): string {
  const { directory, mode, password, etcd } = layout;
  const local = (port: number): string => `127.0.0.1:${port}`;
  const configuration = {
    scope: 'dps',
    name: node.name,
    restapi: { listen: local(node.api), connect_address: local(node.api) },
    etcd3: { hosts: etcd.map(({ client }) => local(client)) },
    bootstrap: {
      dcs: {
        ...TIMES,
        maximum_lag_on_failover: 64 * 1024 * 1024,
        synchronous_mode: mode === 'sync',
        postgresql: { use_pg_rewind: true, use_slots: true, parameters: { wal_log_hints: 'on' } },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, 'data-checksums'],
    },
    postgresql: {
      listen: local(node.port),
      connect_address: local(node.port),
      data_dir: node.data,
      bin_dir: postgres,
      pgpass: join(directory, `${node.name}.pgpass`),
      remove_data_directory_on_rewind_failure: true,
      remove_data_directory_on_diverged_timelines: true,
      authentication: {
        superuser: { username: 'postgres', password },
        replication: { username: 'replicator', password },
        rewind: { username: 'rewinder', password },
      },
      parameters: {
        unix_socket_directories: directory,
        max_connections: 200,
        shared_buffers: '64MB',
        // Processes are killed, but never the machine, so the data in the operating system's cache is safe.
        fsync: 'off',
      },
      pg_hba: [
        'host all all 127.0.0.1/32 scram-sha-256',
        'host replication all 127.0.0.1/32 scram-sha-256',
        'local all all scram-sha-256',
      ],
    },
  };
  const file = join(directory, `${node.name}.yml`);
  writeFileSync(file, dump(configuration), { mode: 0o644 });
  return file;
}

/** Closes sessions to a server that is no longer the primary. */
export function writeHaproxy({ directory, nodes, proxy }: Layout): string {
  const listen = (name: string, port: number, path: string): string => `
listen ${name}
  bind 127.0.0.1:${port}
  option httpchk OPTIONS ${path}
  http-check expect status 200
  default-server inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
${nodes.map((node) => `  server ${node.name} 127.0.0.1:${node.port} maxconn 150 check port ${node.api}`).join('\n')}
`;
  const text = `global
  maxconn 1000
defaults
  mode tcp
  retries 2
  timeout connect 2s
  timeout check 2s
  timeout client 60m
  timeout server 60m
${listen('primary', proxy.primary, '/primary')}${listen('standbys', proxy.standbys, '/replica')}`;
  const file = join(directory, 'haproxy.cfg');
  writeFileSync(file, text);
  return file;
}
