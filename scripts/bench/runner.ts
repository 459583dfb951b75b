/** Runs comparisons: the service's work and its limit in turns, the ratio of each pair, and one table. */
import { readRelease } from '../../src/release.js';
import { type Goal, type GoalName, goalOf } from './goals.js';
import { median } from './measure.js';
import { type BareExpress, type Server, type Service, startBareExpress, startServer, startService } from './servers.js';

/** Two measurements that belong together: the work of the service, and what limits it on this machine. */
export interface Comparison {
  work: string;
  /** What `limit` measures, for example "plain SQL". */
  against: string;
  /** "ms" unless it says otherwise. */
  unit?: string;
  /** A row of the table of goals, or a goal that depends on sizes. */
  goal?: GoalName | Goal;
  /** Number of measured pairs, and of unmeasured pairs before them (3). */
  runs: number;
  warmUps?: number;
  /** Runs before each pair, unmeasured. Warm-ups have negative numbers. */
  prepare?(run: number): Promise<unknown>;
  measured(run: number): Promise<number> | number;
  limit(run: number): Promise<number> | number;
}

/** What a case needs while it runs. Everything that it starts stops after the case. */
export class Resources {
  readonly server: Server;
  readonly release: string;
  readonly #stops: (() => Promise<unknown>)[] = [];

  constructor(server: Server, release: string) {
    this.server = server;
    this.release = release;
  }

  async service(databaseUrl?: string, settings: Readonly<Record<string, string>> = {}): Promise<Service> {
    const url = databaseUrl ?? (await this.server.createDatabase());
    const service = await startService(url, undefined, settings);
    this.onEnd(() => service.stop());
    return service;
  }

  async bareExpress(body: string): Promise<BareExpress> {
    const bare = await startBareExpress(body);
    this.onEnd(bare.stop);
    return bare;
  }

  onEnd(stop: () => Promise<unknown>): void {
    this.#stops.unshift(stop);
  }

  async end(): Promise<void> {
    for (const stop of this.#stops.splice(0)) await stop();
  }
}

export type Case = (resources: Resources) => Promise<Comparison[]>;

export interface Row extends Pick<Comparison, 'work' | 'against'> {
  unit: string;
  measured: number;
  limit: number;
  ratio: number;
  /** The median of the pairs' ratios is in this range with a probability of 95 percent. */
  range: readonly [low: number, high: number];
  goal: Goal;
}

/** Fewer pairs do not show the noise. */
const FEWEST_PAIRS = 3;

/**
 * Runs the comparisons of all cases on a server of their own, one after the other. Reports each on standard error, and
 * prints them as a table.
 * @param secondsEach after which a comparison starts no further pair; a busy machine gets fewer pairs and more noise
 */
export async function runTable(title: string, cases: readonly Case[], secondsEach?: number): Promise<Row[]> {
  const release = readRelease();
  const server = await startServer();
  try {
    const rows = await runCases(new Resources(server, release), cases, secondsEach);
    printRows(`${title}: PostgreSQL ${server.version}, Node.js ${process.version}, release ${release}`, rows);
    return rows;
  } finally {
    await server.stop();
  }
}

async function runCases(resources: Resources, cases: readonly Case[], secondsEach = Infinity): Promise<Row[]> {
  const rows: Row[] = [];
  const started = performance.now();
  for (const each of cases) {
    try {
      for (const comparison of await each(resources)) {
        const row = await compare(comparison, secondsEach);
        const seconds = ((performance.now() - started) / 1000).toFixed(0);
        process.stderr.write(`${seconds} s, ${row.work}: ${row.ratio.toFixed(2)}\n`);
        rows.push(row);
      }
    } finally {
      await resources.end();
    }
  }
  return rows;
}

async function compare(comparison: Comparison, secondsEach: number): Promise<Row> {
  const { work, against, unit = 'ms', goal } = comparison;
  const pairs = await measurePairs(comparison, secondsEach);
  const ratios = pairs.map(({ measured, limit }) => measured / limit);
  return {
    work,
    against,
    unit,
    measured: median(pairs.map(({ measured }) => measured)),
    limit: median(pairs.map(({ limit }) => limit)),
    ratio: median(ratios),
    range: rangeOfMedian(ratios),
    goal: typeof goal === 'string' ? goalOf(goal) : (goal ?? {}),
  };
}

const ORDERS = [
  ['limit', 'measured'],
  ['measured', 'limit'],
] as const;

async function measurePairs(comparison: Comparison, seconds: number): Promise<Pair[]> {
  const pairs: Pair[] = [];
  const end = performance.now() + seconds * 1000;
  for (let run = -(comparison.warmUps ?? 3); run < comparison.runs; run += 1) {
    if (pairs.length >= FEWEST_PAIRS && performance.now() > end) break;
    await comparison.prepare?.(run);
    const pair = { measured: 0, limit: 0 };
    // Each side is first in every other pair.
    for (const part of ORDERS[Math.abs(run) % 2] ?? []) pair[part] = await comparison[part](run);
    if (run >= 0) pairs.push(pair);
  }
  return pairs;
}

type Pair = Record<'measured' | 'limit', number>;

/** The order statistics that enclose the median with a probability of 95 percent, for any distribution. */
function rangeOfMedian(values: readonly number[]): [number, number] {
  const sorted = values.toSorted((a, b) => a - b);
  const reach = 0.98 * Math.sqrt(sorted.length);
  const low = Math.max(0, Math.floor(sorted.length / 2 - reach));
  const high = Math.min(sorted.length - 1, Math.ceil(sorted.length / 2 + reach) - 1);
  return [sorted[low] ?? NaN, sorted[high] ?? NaN];
}

/** True if the goal is missed by more than the noise: the whole range is on the wrong side of it. */
export function isMissed({ range: [low, high], goal: { atMost = Infinity, atLeast = -Infinity } }: Row): boolean {
  return low > atMost || high < atLeast;
}

function judgeRow(row: Row): string {
  const { atMost = Infinity, atLeast = -Infinity } = row.goal;
  if (row.goal.atMost === undefined && row.goal.atLeast === undefined) return '';
  if (row.ratio <= atMost && row.ratio >= atLeast) return 'met';
  return isMissed(row) ? '**missed**' : 'within the noise';
}

const show = (value: number, unit: string): string =>
  `${value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(2)} ${unit}`;

function goalText({ atMost, atLeast }: Goal): string {
  return atMost !== undefined ? `≤ ${Number(atMost.toFixed(2))}` : atLeast !== undefined ? `≥ ${atLeast}` : '';
}

function printRows(title: string, rows: readonly Row[]): void {
  const lines = rows.map((row) => [
    row.work,
    show(row.measured, row.unit),
    `${show(row.limit, row.unit)} ${row.against}`,
    row.ratio.toFixed(2),
    row.range.map((value) => value.toFixed(2)).join(' to '),
    goalText(row.goal),
    judgeRow(row),
  ]);
  printTable(title, ['work', 'measured', 'limit', 'ratio', 'noise (95 %)', 'goal', ''], lines);
}

/** A table in Markdown. */
export function printTable(title: string, head: readonly string[], lines: readonly (readonly string[])[]): void {
  const rows = [head, head.map(() => '---'), ...lines].map((line) => `| ${line.join(' | ')} |`);
  process.stdout.write(`\n${title}\n\n${rows.join('\n')}\n`);
}
