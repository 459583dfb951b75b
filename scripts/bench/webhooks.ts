/**
 * `npm run bench -- webhooks`: changes with ten webhooks, compared with the same changes without webhooks, and the time
 * from the request of a change until the receiver has its event, while the service is otherwise idle.
 *
 * BENCH_RUNS: pairs of many changes (20), and five times as many of one change. BENCH_DELIVERIES: changes whose
 * deliveries are measured (100).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { startReceiver } from '../../test/support/receiver.js';
import { milliseconds, percentile, processorTimeOf } from './measure.js';
import { type Case, type Resources, isMissed, printTable, runTable } from './runner.js';
import { createBody } from './schemas.js';
import type { Service } from './servers.js';

const RUNS = Number(process.env['BENCH_RUNS'] ?? 20);
const DELIVERIES = Number(process.env['BENCH_DELIVERIES'] ?? 100);
const WEBHOOKS = 10;
/** Changes in a row: two series during which deliveries wait, and one that is so long that they begin. */
const SERIES = 20;
const LONG_SERIES = 200;
const LONGEST_SERIES = 2_000;
const COLLECTION = 'measured';
const PATH = `/collections/${COLLECTION}`;

const SETTINGS = { WEBHOOK_PRIVATE_NETWORKS: '127.0.0.1' };

interface Measured {
  service: Service;
  /** Waits until each webhook has delivered the event of the newest change. */
  delivered(): Promise<void>;
  /** When the receiver got the last event, by `performance.now()`. */
  last(): number;
}

async function withWebhooks(resources: Resources): Promise<Measured> {
  const receiver = await startReceiver();
  resources.onEnd(() => receiver.stop());
  const service = await resources.service(undefined, SETTINGS);
  await service.call('POST', '/collections', createBody(COLLECTION));
  for (let count = 0; count < WEBHOOKS; count += 1)
    await service.call('POST', '/webhooks', {
      name: `hook ${count}`,
      url: receiver.url,
      types: ['collection.updated'],
    });
  let expected = 0;
  let arrived = 0;
  let last = 0;
  receiver.respond = (response) => {
    arrived += 1;
    last = performance.now();
    response.writeHead(204).end();
  };
  const counted: Service = {
    ...service,
    call(method, path, body) {
      expected += WEBHOOKS;
      return service.call(method, path, body);
    },
  };
  return {
    service: counted,
    last: () => last,
    async delivered() {
      while (arrived < expected) await sleep(5);
    },
  };
}

let note = 0;
const change = ({ call }: Service): Promise<unknown> => call('PATCH', PATH, { meta: { note: `note ${(note += 1)}` } });

async function changeOften(service: Service, times: number): Promise<void> {
  for (let count = 0; count < times; count += 1) await change(service);
}

const latencies: number[] = [];

const webhooks: Case = async (resources) => {
  const hooked = await withWebhooks(resources);
  const bare = await resources.service(undefined, SETTINGS);
  await bare.call('POST', '/collections', createBody(COLLECTION));
  const compared = (work: string, on: (service: Service) => Promise<number>) => ({
    work,
    against: 'without webhooks',
    runs: RUNS,
    // Deliveries of the previous pair would slow down either side.
    prepare: () => hooked.delivered(),
    measured: () => on(hooked.service),
    limit: async () => {
      await hooked.delivered();
      return on(bare);
    },
  });
  for (let count = 0; count < DELIVERIES; count += 1) {
    const started = performance.now();
    await change(hooked.service);
    await hooked.delivered();
    latencies.push(hooked.last() - started);
  }
  const goal = { atMost: 1.05 };
  return [
    {
      ...compared(`change a note with ${WEBHOOKS} idle webhooks`, (service) => milliseconds(() => change(service))),
      runs: RUNS * 5,
      goal,
    },
    {
      ...compared(`change a note ${SERIES} times with ${WEBHOOKS} webhooks`, (service) =>
        milliseconds(() => changeOften(service, SERIES)),
      ),
      goal,
    },
    {
      ...compared(`change a note ${LONG_SERIES} times with ${WEBHOOKS} webhooks`, (service) =>
        milliseconds(() => changeOften(service, LONG_SERIES)),
      ),
      goal,
    },
    {
      ...compared(`change a note ${LONGEST_SERIES} times while ${WEBHOOKS} webhooks deliver`, (service) =>
        milliseconds(() => changeOften(service, LONGEST_SERIES)),
      ),
      runs: RUNS / 4,
      goal,
    },
    compared(`change a note ${SERIES} times until all events are delivered, processor time of the service`, (service) =>
      processorTimeOf(service, async () => {
        await changeOften(service, SERIES);
        await hooked.delivered();
      }),
    ),
  ];
};

const rows = await runTable('webhooks', [webhooks]);
const [half, most] = [percentile(latencies, 0.5), percentile(latencies, 0.99)];
printTable(
  `from the request of a change until all ${WEBHOOKS} webhooks have delivered its event, ${DELIVERIES} changes`,
  ['p50', 'p99', 'goal of the p99'],
  [[`${half.toFixed(0)} ms`, `${most.toFixed(0)} ms`, '≤ 1,000 ms']],
);
if (rows.some(isMissed) || most > 1_000) process.exitCode = 1;
