/** The longest event loop turns during one request, which is how long other requests may wait. */
import { once } from 'node:events';
import { type Service, startService } from '../servers.js';

/** Limit for a turn, in milliseconds. */
const BUDGET = 50;

const RUNS = 3;

const METER = new URL('./meter.mjs', import.meta.url);

/** One request, or several that belong together. */
export interface Work {
  work: string;
  /** Prepares each run without being measured. `run` receives its result. */
  before?: (service: Service) => Promise<string>;
  run: (service: Service, given: string) => Promise<unknown>;
}

/** Milliseconds; see `Measured` of the meter. */
interface Run {
  byClock: { wall: number };
  byProcessor: { cpu: number };
  collection: { kind: string; wall: number };
  profile: string[];
}

export interface StopRow {
  work: string;
  runs: readonly Run[];
}

const isAsked = ({ work }: Work): boolean =>
  (process.env['BENCH_WORK'] ?? '').split('|').some((text) => work.includes(text));

/**
 * Runs the work one after another on a separate service. Each piece runs once beforehand, because cold code is slower.
 */
export async function stopsWhenWarm(url: string, works: readonly Work[]): Promise<StopRow[]> {
  const rows: StopRow[] = [];
  const service = await startService(url, METER);
  try {
    for (const work of works.filter(isAsked)) {
      await measured(service, work);
      const runs = [];
      for (let run = 0; run < RUNS; run += 1) runs.push(await measured(service, work));
      rows.push(reportRow({ work: work.work, runs }));
    }
    return rows;
  } finally {
    await service.stop();
  }
}

/** Runs each work as the first of a process on the database of `url`, with empty caches. */
export async function stopsAtFirst(url: string, works: readonly Work[]): Promise<StopRow[]> {
  const rows: StopRow[] = [];
  for (const work of works.filter(isAsked)) {
    const runs = [];
    for (let run = 0; run < RUNS; run += 1) {
      const service = await startService(url, METER);
      // The first request looks up its user.
      await service.send('GET', '/users/me');
      runs.push(await measured(service, work));
      await service.stop();
    }
    rows.push(reportRow({ work: work.work, runs }));
  }
  return rows;
}

/** Waits until background work of the preparation ends, such as closing connections. */
const REST = 300;

async function measured(service: Service, { before, run }: Work): Promise<Run> {
  const setUp = (await before?.(service)) ?? '';
  await new Promise((resolve) => setTimeout(resolve, REST));
  await requestMeasurement(service, 'begin');
  await run(service, setUp);
  return (await requestMeasurement(service, 'end')) as Run;
}

async function requestMeasurement(service: Service, message: 'begin' | 'end'): Promise<unknown> {
  const answered = once(service.process, 'message');
  service.process.send(message);
  const [answer] = (await answered) as [unknown];
  return answer;
}

const listValues = (values: readonly number[]): string => values.map((value) => value.toFixed(0)).join(', ');

const byClock = ({ runs }: StopRow): number[] => runs.map((run) => run.byClock.wall);
const byProcessor = ({ runs }: StopRow): number[] => runs.map((run) => run.byProcessor.cpu);

function collections({ runs }: StopRow): string {
  return runs.map(({ collection }) => `${collection.wall.toFixed(0)} ${collection.kind}`).join(', ');
}

/** Elapsed time includes other processes. Processor time contains only the service's own work. */
function judgeRow(row: StopRow): string {
  if (Math.max(...byClock(row)) <= BUDGET) return 'kept';
  return Math.max(...byProcessor(row)) <= BUDGET ? 'kept by processor time' : '**missed**';
}

function reportRow(row: StopRow): StopRow {
  const profile = process.env['BENCH_PROFILE'] === undefined ? [] : row.runs.flatMap((run) => run.profile);
  const line = `${row.work}: clock ${listValues(byClock(row))}; processor ${listValues(byProcessor(row))}; garbage ${collections(row)}`;
  process.stderr.write([line, ...profile, ''].join('\n'));
  return row;
}

/** One line per work with its runs, in the format of docs/performance.md. */
export function printStops(title: string, rows: readonly StopRow[]): void {
  const lines = [
    `\n${title}\n\nMilliseconds, each of ${RUNS} runs; budget ${BUDGET}\n`,
    '| work | longest turn by the clock | most processor time of a turn | longest collection of garbage | |',
    '|---|---|---|---|---|',
    ...rows.map(
      (row) =>
        `| ${row.work} | ${listValues(byClock(row))} | ${listValues(byProcessor(row))} | ${collections(row)} | ${judgeRow(row)} |`,
    ),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}
