/**
 * `npm run cluster -- test [--mode sync|async|both] [--faults 30] [--seed 1] [--through hosts|haproxy]`: runs writers,
 * readers and faults on three processes of the service and a cluster of three PostgreSQL servers. Then it compares the
 * guarantees with the database.
 */
import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { leaderOf, programsOrThrow, startCluster, stopCluster } from '../cluster/cluster.js';
import { type Layout, type Mode, type NodePlace, hostsUrl, nodeUrl, proxyUrl } from '../cluster/layout.js';
import { end } from '../cluster/processes.js';
import { startServices } from '../cluster/services.js';
import { createRandom } from '../fuzz/random.js';
import { type Clients, read, send, write } from './clients.js';
import { type Done, FAULTS, type FaultTarget, makeFault, reinitialised, waitUntilWell } from './faults.js';
import { createHistory } from './history.js';
import { loseTail } from './lost-tail.js';

const { values } = parseArgs({
  options: {
    mode: { type: 'string', default: 'both' },
    faults: { type: 'string', default: '30' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    writers: { type: 'string', default: '16' },
    readers: { type: 'string', default: '8' },
    /** How the service connects to the database: through `hosts` of the address, or through `haproxy`. */
    through: { type: 'string', default: 'hosts' },
    /** Where the history is stored. By default it is kept only if a violation was found. */
    history: { type: 'string' },
  },
});

const SERVICES = 3;
const print = (line: string): void => void process.stdout.write(`${line}\n`);

async function run(mode: Mode): Promise<boolean> {
  const directory = await mkdtemp(join(tmpdir(), 'dps-cluster-test-'));
  let layout: Layout | undefined;
  let isWorthReading = true;
  try {
    layout = await startCluster(directory, mode, SERVICES);
    const findings = await runUnderFaults(layout, mode);
    isWorthReading = findings > 0;
    return findings === 0;
  } finally {
    if (layout !== undefined) await stopCluster(layout, isWorthReading);
    else await rm(directory, { recursive: true, force: true });
    if (isWorthReading) print(`What all said is in ${directory}.`);
  }
}

async function runUnderFaults(layout: Layout, mode: Mode): Promise<number> {
  const seed = Number(values.seed);
  const random = createRandom(seed);
  const history = createHistory(join(layout.directory, 'history.jsonl'));
  const address = values.through === 'haproxy' ? proxyUrl(layout) : hostsUrl(layout);
  const settings = { ON_LOG_DIVERGENCE: 'refuse', DB_POOL: '6', DATABASE_URL: address };
  const { urls } = await startServices(layout, settings);
  await send(urls[0] as string, 'POST', '/collections', { body: { collection: 'shared', schema: {} } });
  let running = true;
  const clients: Clients = { urls, history, random, running: () => running, acknowledge: acknowledgeOnce() };
  const working = [
    ...Array.from({ length: Number(values.writers) }, (_, n) => write(`w${n}`, clients)),
    ...Array.from({ length: Number(values.readers) }, (_, n) => read(`r${n}`, clients)),
  ];
  const place: FaultTarget = { layout, random: createRandom(seed + 1), history, settings };
  const findings: string[] = [];
  const done = await makeFaults(place, findings);
  running = false;
  await Promise.all(working);
  await waitUntilWell(layout).catch((error: unknown) => findings.push((error as Error).message));
  if (mode === 'async' && findings.length === 0) await loseOnPurpose(place, findings);
  findings.push(...(await verified(urls)));
  report({ mode, seed, done, operations: history.operations() });
  for (const finding of findings) print(`FOUND ${finding}`);
  const isKept = await judgeRun(layout, mode, history.file);
  if (values.history !== undefined) await copyFile(history.file, `${values.history}-${mode}.jsonl`);
  return findings.length + (isKept ? 0 : 1);
}

/** Every kind occurs equally often, in an order that the seed determines. */
async function makeFaults(place: FaultTarget, findings: string[]): Promise<Done[]> {
  const kinds = Object.keys(FAULTS);
  const count = Number(values.faults);
  const bag = Array.from({ length: count }, (_, index) => kinds[index % kinds.length] as string);
  const done: Done[] = [];
  const started = performance.now();
  while (bag.length > 0) {
    const [name = ''] = bag.splice(place.random.below(bag.length), 1);
    try {
      const fault = await makeFault(name, place);
      done.push(fault);
      const at = ((performance.now() - started) / 1_000).toFixed(0);
      process.stderr.write(`${at} s: ${name}, ${(fault.outage / 1_000).toFixed(1)} s without a write\n`);
    } catch (error) {
      findings.push(`${name}: ${(error as Error).message}`);
      process.stderr.write(`${name}: ${(error as Error).message}\n`);
      await waitUntilWell(place.layout).catch(() => undefined);
    }
  }
  return done;
}

/** An operator who acknowledges a divergence. One runs at a time. */
function acknowledgeOnce(): Clients['acknowledge'] {
  let running: Promise<void> | undefined;
  return (url) => {
    running ??= send(url, 'POST', '/history/acknowledge', { headers: { 'X-Reason': 'operator' } })
      .then(() => undefined)
      .finally(() => (running = undefined));
    return running;
  };
}

async function loseOnPurpose(place: FaultTarget, findings: string[]): Promise<void> {
  for (const choice of ['refuse', 'continue'] as const) {
    const settings = { ...place.settings, ON_LOG_DIVERGENCE: choice };
    await Promise.all(place.layout.services.map((_, n) => end(place.layout.directory, `service${n + 1}`)));
    await startServices(place.layout, settings);
    const lost = await loseTail({ ...place, settings }, choice);
    print(`Lost on purpose, ${lost.summary}`);
    findings.push(...lost.findings);
  }
}

/** Hash chain, rows and catalog, verified by each process. */
async function verified(urls: readonly string[]): Promise<string[]> {
  const problems: string[] = [];
  for (const [index, url] of urls.entries()) {
    for (const path of ['/history/verify', '/projections/verify']) {
      const { status, text } = await send(url, 'GET', path);
      const { ok } = status === 200 ? (JSON.parse(text) as { data: { ok: boolean } }).data : { ok: false };
      if (!ok) problems.push(`process ${index}, ${path}: ${status} ${text.slice(0, 500)}`);
    }
  }
  return problems;
}

const CHECK = fileURLToPath(new URL('./check/main.ts', import.meta.url));

/** In a separate process. */
async function judgeRun(layout: Layout, mode: Mode, file: string): Promise<boolean> {
  const primary = (await leaderOf(layout)) as NodePlace;
  const nodes = layout.nodes.flatMap((node) => ['--node', nodeUrl(layout, node)]);
  const args = [
    '--import',
    'tsx',
    CHECK,
    '--history',
    file,
    '--mode',
    mode,
    '--primary',
    nodeUrl(layout, primary),
    ...nodes,
  ];
  try {
    print((await promisify(execFile)(process.execPath, args)).stdout);
    return true;
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    print(`${stdout}\n${stderr}`);
    return false;
  }
}

function report({
  mode,
  seed,
  done,
  operations,
}: {
  mode: Mode;
  seed: number;
  done: Done[];
  operations: number;
}): void {
  print(`\n${mode}, seed ${seed}: ${done.length} faults, ${operations} operations, ${SERVICES} processes`);
  print(`  ${'fault'.padEnd(28)}times  longest without a write  median  longest until all is well`);
  if (reinitialised.count > 0) print(`  standbys that had to be rebuilt: ${reinitialised.count}`);
  const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
  for (const name of Object.keys(FAULTS)) {
    const all = done.filter((each) => each.name === name);
    const outages = all.map(({ outage }) => outage).sort((a, b) => a - b);
    if (all.length === 0) continue;
    const median = outages[Math.floor(outages.length / 2)] ?? 0;
    const well = Math.max(...all.map(({ recovered }) => recovered));
    print(
      `  ${name.padEnd(28)}${String(all.length).padStart(5)}  ${seconds(outages.at(-1) ?? 0).padStart(23)}  ${seconds(median).padStart(6)}  ${seconds(well).padStart(26)}`,
    );
  }
}

try {
  programsOrThrow();
  const modes: Mode[] = values.mode === 'both' ? ['sync', 'async'] : [values.mode as Mode];
  for (const mode of modes) if (!(await run(mode))) process.exitCode = 1;
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
