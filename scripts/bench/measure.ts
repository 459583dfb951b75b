import autocannon from 'autocannon';
import pg from 'pg';
import type { Metered } from './servers.js';

export async function milliseconds(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/**
 * Processor time in milliseconds that this process spends on `work`, including garbage collection. Other processes do
 * not count.
 */
export function processorTime(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** Processor time in milliseconds that another process spends on `work`. */
export async function processorTimeOf({ processorTime }: Metered, work: () => Promise<unknown>): Promise<number> {
  const before = await processorTime();
  await work();
  return (await processorTime()) - before;
}

export const percentile = (values: number[], p: number): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(p * sorted.length))] ?? NaN;
};

export const median = (values: number[]): number => percentile(values, 0.5);

/** Runs a script as psql sends it: in one message and one transaction. */
export async function runScript(connectionString: string, script: string): Promise<number> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    await client.query('SELECT 1');
    return await milliseconds(() => client.query(`BEGIN;\n${script}\nCOMMIT;`));
  } finally {
    await client.end();
  }
}

export interface Throughput {
  perSecond: number;
  p99: number;
}

/** Requests per second over 16 connections, and the 99th percentile of their latency in milliseconds. */
export async function throughput(url: string, headers: Record<string, string>, seconds: number): Promise<Throughput> {
  const result = await autocannon({ url, headers, connections: 16, duration: seconds });
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${url}: ${result.non2xx} non-2xx, ${result.errors} errors`);
  return { perSecond: result.requests.average, p99: result.latency.p99 };
}

/**
 * Latencies in milliseconds of requests sent at a fixed interval until `until` settles, whether or not earlier ones
 * were answered. So every request that arrives during a stall reports it.
 */
export async function sendAtInterval(
  request: () => Promise<unknown>,
  every: number,
  until: Promise<unknown>,
): Promise<number[]> {
  const latencies: number[] = [];
  const pending: Promise<unknown>[] = [];
  let done = false;
  const finished = () => {
    done = true;
  };
  until.then(finished, finished);
  const started = performance.now();
  for (let count = 0; !done; count++) {
    const due = started + count * every;
    const wait = due - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    pending.push(request().then(() => latencies.push(performance.now() - due)));
  }
  await Promise.all(pending);
  return latencies;
}
