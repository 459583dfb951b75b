/**
 * `npm run cluster -- start [--mode sync|async] [--services 3] | stop | status`: three PostgreSQL servers under Patroni
 * with etcd and HAProxy, and processes of the service, all on loopback.
 */
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { isUp, members, startCluster, stopCluster } from './cluster.js';
import { type Layout, type Mode, hostsUrl, nodeUrl, proxyUrl, readLayout } from './layout.js';
import { pidOf } from './processes.js';
import { findPrograms } from './programs.js';
import { startServices } from './services.js';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    mode: { type: 'string', default: 'sync' },
    services: { type: 'string', default: '3' },
    directory: { type: 'string', default: join(tmpdir(), 'dps-cluster') },
  },
});
const { directory } = values;

const print = (text: string): void => void process.stdout.write(`${text}\n`);

function describeConnection(layout: Layout): string {
  const standby = layout.nodes[2];
  return `To point a service at it:

  DATABASE_URL='${hostsUrl(layout)}'    # the servers, of which the primary is found
  DATABASE_URL='${proxyUrl(layout)}'    # through HAProxy

For reads from a standby:

  DATABASE_URL='${hostsUrl(layout, 'prefer-standby')}'
  DATABASE_URL='${proxyUrl(layout, 'standbys')}'
${standby ? `\nAs superuser, on one server: psql '${nodeUrl(layout, standby, 'postgres', 'postgres')}'\n` : ''}
Logs are in ${layout.directory}. "npm run cluster -- stop" ends everything and deletes it.`;
}

async function startAll(): Promise<void> {
  const [mode, services] = [values.mode as Mode, Number(values.services)];
  if (!['sync', 'async'].includes(mode)) throw new Error('--mode is sync or async.');
  if (!(Number.isInteger(services) && services >= 0 && services <= 20))
    throw new Error('--services is a number up to 20.');
  const missing = findPrograms();
  if (typeof missing === 'string') throw new Error(missing);
  if (existsSync(directory)) throw new Error(`${directory} is there already: "npm run cluster -- stop" first.`);
  const started = performance.now();
  const layout = await startCluster(directory, mode, services);
  print(`A ${mode} cluster is up after ${((performance.now() - started) / 1_000).toFixed(0)} s.\n`);
  const { urls, token } = await startServices(layout);
  if (urls.length > 0) print(`The service: ${urls.join(', ')}\n  token ${token}\n`);
  print(describeConnection(layout));
}

async function showStatus(layout: Layout): Promise<void> {
  for (const { name, role, state, timeline, lag } of await members(layout)) {
    print(`${name}  ${role}  ${state}  timeline ${timeline ?? '?'}  lag ${lag ?? 0}`);
  }
  const others = [
    ...layout.etcd.map(({ name }) => name),
    'haproxy',
    ...layout.services.map((_, n) => `service${n + 1}`),
  ];
  for (const name of others) print(`${name}  ${pidOf(directory, name) === undefined ? 'stopped' : 'running'}`);
  print((await isUp(layout)) ? 'All is well.' : 'Not all is well.');
}

async function run(): Promise<void> {
  const [command] = positionals;
  if (command === 'start') return startAll();
  const layout = readLayout(directory);
  if (command !== 'stop' && command !== 'status') throw new Error('start, stop or status?');
  if (layout === null) return print(`There is no cluster in ${directory}.`);
  return command === 'stop' ? stopCluster(layout) : showStatus(layout);
}

try {
  await run();
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
