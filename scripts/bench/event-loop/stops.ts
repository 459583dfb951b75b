/** The longest turns of the event loop while one request is worked on: what another request would have to wait for. */
import { once } from 'node:events';
import { type Service, startService } from '../servers.js';

/** Milliseconds that no request may hold up the others. */
const BUDGET = 50;

const RUNS = 3;

const METER = new URL('./meter.mjs', import.meta.url);

/** A request, or several that belong together. */
export interface Work {
  work: string;
  /** What has to be so before each run, and isn't measured; what it answers is given to `run`. */
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

/** Works one after another on a service of their own, each once before: code that isn't warm yet is slower. */
export async function stopsWhenWarm(url: string, works: readonly Work[]): Promise<StopRow[]> {
  const rows: StopRow[] = [];
  const service = await startService(url, METER);
  try {
    for (const work of works.filter(isAsked)) {
      await measured(service, work);
      const runs = [];
      for (let run = 0; run < RUNS; run += 1) runs.push(await measured(service, work));
      rows.push(told({ work: work.work, runs }));
    }
    return rows;
  } finally {
    await service.stop();
  }
}

/** Each as the first work of a process on the database of `url`: nothing that it shows has been shown before. */
export async function stopsAtFirst(url: string, works: readonly Work[]): Promise<StopRow[]> {
  const rows: StopRow[] = [];
  for (const work of works.filter(isAsked)) {
    const runs = [];
    for (let run = 0; run < RUNS; run += 1) {
      const service = await startService(url, METER);
      // The first request looks its sender up.
      await service.send('GET', '/users/me');
      runs.push(await measured(service, work));
      await service.stop();
    }
    rows.push(told({ work: work.work, runs }));
  }
  return rows;
}

/** Work that a preparation left, such as closing connections, is over by then. */
const REST = 300;

async function measured(service: Service, { before, run }: Work): Promise<Run> {
  const given = (await before?.(service)) ?? '';
  await new Promise((resolve) => setTimeout(resolve, REST));
  await asked(service, 'begin');
  await run(service, given);
  return (await asked(service, 'end')) as Run;
}

async function asked(service: Service, message: 'begin' | 'end'): Promise<unknown> {
  const answered = once(service.process, 'message');
  service.process.send(message);
  const [answer] = (await answered) as [unknown];
  return answer;
}

const each = (values: readonly number[]): string => values.map((value) => value.toFixed(0)).join(', ');

const byClock = ({ runs }: StopRow): number[] => runs.map((run) => run.byClock.wall);
const byProcessor = ({ runs }: StopRow): number[] => runs.map((run) => run.byProcessor.cpu);

function collections({ runs }: StopRow): string {
  return runs.map(({ collection }) => `${collection.wall.toFixed(0)} ${collection.kind}`).join(', ');
}

/** By the clock, the machine's other work counts as well; of processor time, only what the service itself did. */
function verdict(row: StopRow): string {
  if (Math.max(...byClock(row)) <= BUDGET) return 'kept';
  return Math.max(...byProcessor(row)) <= BUDGET ? 'kept by processor time' : '**missed**';
}

function told(row: StopRow): StopRow {
  const profile = process.env['BENCH_PROFILE'] === undefined ? [] : row.runs.flatMap((run) => run.profile);
  const line = `${row.work}: clock ${each(byClock(row))}; processor ${each(byProcessor(row))}; garbage ${collections(row)}`;
  process.stderr.write([line, ...profile, ''].join('\n'));
  return row;
}

/** One line a work, each of its runs: ready for docs/performance.md. */
export function printStops(title: string, rows: readonly StopRow[]): void {
  const lines = [
    `\n${title}\n\nMilliseconds, each of ${RUNS} runs; budget ${BUDGET}\n`,
    '| work | longest turn by the clock | most processor time of a turn | longest collection of garbage | |',
    '|---|---|---|---|---|',
    ...rows.map(
      (row) =>
        `| ${row.work} | ${each(byClock(row))} | ${each(byProcessor(row))} | ${collections(row)} | ${verdict(row)} |`,
    ),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}
