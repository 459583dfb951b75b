/** The longest stop of the event loop while one request is worked on, as the service itself measures it. */
import { type Row, show } from './report.js';
import { type Service, startService } from './servers.js';

/** Milliseconds that no request may hold up the others. */
const BUDGET = 50;

/** Of so many, the shortest counts: what the machine does beside it only ever adds. */
const RUNS = 3;

/** A request, or several that belong together. */
export interface Work {
  work: string;
  /** What has to be so before each run, and isn't measured; what it answers is given to `run`. */
  before?: (service: Service) => Promise<string>;
  run: (service: Service, given: string) => Promise<unknown>;
}

/** Works one after another on a service of their own, each once before: code that isn't warm yet is slower. */
export async function stopsWhenWarm(url: string, works: readonly Work[]): Promise<Row[]> {
  const rows: Row[] = [];
  const service = await startService(url);
  try {
    for (const work of works) {
      await measured(service, work);
      const runs = [];
      for (let run = 0; run < RUNS; run += 1) runs.push(await measured(service, work));
      rows.push(row(work, runs));
    }
    return rows;
  } finally {
    await service.stop();
  }
}

/** Each as the first work of a process on the database of `url`: nothing that it shows has been shown before. */
export async function stopsAtFirst(url: string, works: readonly Work[]): Promise<Row[]> {
  const rows: Row[] = [];
  for (const work of works) {
    const runs = [];
    for (let run = 0; run < RUNS; run += 1) {
      const service = await startService(url);
      // The first request looks its sender up.
      await service.send('GET', '/users/me');
      runs.push(await measured(service, work));
      await service.stop();
    }
    rows.push(row(work, runs));
  }
  return rows;
}

interface Run {
  busy: number;
  idle: number;
}

async function measured(service: Service, { before, run }: Work): Promise<Run> {
  const given = (await before?.(service)) ?? '';
  await longestStop(service);
  await new Promise((resolve) => setTimeout(resolve, 300));
  const idle = await longestStop(service);
  await run(service, given);
  return { idle, busy: await longestStop(service) };
}

/** Since it was asked last, in milliseconds. The clock behind it ticks every ten, which an idle loop shows as well. */
async function longestStop(service: Service): Promise<number> {
  const metrics = await service.send('GET', '/metrics');
  return 1_000 * Number(/^nodejs_eventloop_lag_max_seconds (\S+)/m.exec(metrics)?.[1]);
}

/** The ratio is in milliseconds. */
function row({ work }: Work, runs: readonly Run[]): Row {
  const busy = Math.min(...runs.map((run) => run.busy));
  const idle = Math.min(...runs.map((run) => run.idle));
  const made = {
    work: `longest stop of the event loop: ${work} (ms)`,
    measured: show(busy, 'ms'),
    limit: `${show(idle, 'ms')} idle`,
    ratio: busy,
    budget: `<= ${BUDGET}`,
  };
  process.stderr.write(`${made.work}: ${runs.map((run) => run.busy.toFixed(0)).join(', ')}\n`);
  return made;
}
