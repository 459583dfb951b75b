/** The longest stop of the event loop while a large body is worked on, as the service itself measures it. */
import { type Row, show } from './report.js';
import { snapshotOf } from './schemas.js';
import { type Server, type Service, startService } from './servers.js';

const MIB = 1024 ** 2;

/** Milliseconds that no request may hold up the others. */
const BUDGET = 50;

/** Bodies as large as are taken: real ones, and those that hold as much as is allowed in as little as possible. */
const BODIES: Record<string, (release: string) => string> = {
  'a snapshot of 3,000 collections': (release) => JSON.stringify(snapshotOf(3_000, release)),
  '4,500,000 values': () => `[${filled('[{}', '{}', 12 * MIB)}],${filled('[1', '1', 6 * MIB)}]]`,
  '900,000 empty collections': (release) =>
    `{"version":1,"service":"${release}","vendor":"postgres","collections":${filled('[{}', '{}', 2_700_000)}]}`,
  'strings of 30 MiB': () => `{"version":1,"collections":[${filled('"x"', `"${'ä'.repeat(50_000)}"`, 30 * MIB)}]}`,
};

const filled = (first: string, each: string, bytes: number): string =>
  first + `,${each}`.repeat(Math.floor(bytes / (Buffer.byteLength(each) + 1)));

/** One row a body; the ratio is in milliseconds. Each is sent once before, because code that isn't warm yet is slower. */
export async function longestStops(server: Server, release: string): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [name, body] of Object.entries(BODIES)) {
    const service = await startService(await server.createDatabase());
    const text = body(release);
    const send = () =>
      fetch(`${service.url}/schema/diff?mode=merge`, { method: 'POST', headers: service.headers, body: text }).then(
        async (answer) => void (await answer.arrayBuffer()),
      );
    await send();
    await longestStop(service);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const idle = await longestStop(service);
    await send();
    const busy = await longestStop(service);
    await service.stop();
    rows.push({
      work: `longest stop of the event loop: a diff of ${name}, ${Math.ceil(Buffer.byteLength(text) / MIB)} MiB (ms)`,
      measured: show(busy, 'ms'),
      limit: `${show(idle, 'ms')} idle`,
      ratio: busy,
      budget: `<= ${BUDGET}`,
    });
  }
  return rows;
}

/** Since it was asked last, in milliseconds. The clock behind it ticks every ten, which an idle loop shows as well. */
async function longestStop(service: Service): Promise<number> {
  const metrics = await service.send('GET', '/metrics');
  return 1_000 * Number(/^nodejs_eventloop_lag_max_seconds (\S+)/m.exec(metrics)?.[1]);
}
