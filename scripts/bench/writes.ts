/** Creating and applying, against the same DDL as one plain SQL script. */
import { createCollection } from '../../src/schema/operations/collections.js';
import { planBatch } from '../../src/projector/ddl/plan.js';
import { initialState } from '../../src/schema/model/state.js';
import { runToEnd, stepsTo } from '../../src/kernel/resumable.js';
import { median, milliseconds, paced, percentile, runScript } from './measure.js';
import { type Row, show } from './report.js';
import { createBody, emptySnapshot, snapshotOf } from './schemas.js';
import { type Server, type Service, startService } from './servers.js';

/** The DDL of a create, as the service would send it. */
function scriptOf(collection: string): string {
  const command = runToEnd(stepsTo(createCollection.parse({ body: createBody(collection), concurrentIndexes: false })));
  if (!command.ok) throw new Error(JSON.stringify(command.problems));
  const events = runToEnd(stepsTo(createCollection.decide(initialState(), command.value)));
  if (!events.ok) throw new Error(JSON.stringify(events.problems));
  return runToEnd(planBatch(initialState(), events.value, 'public'))
    .statements.map(({ sql }) => `${sql};`)
    .join('\n');
}

export async function createOne(server: Server, runs: number): Promise<Row> {
  const plain = await server.createDatabase();
  const service = await startService(await server.createDatabase());
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let run = -20; run < runs; run++) {
    const name = `measured_${run + 20}`;
    const alone = await runScript(plain, scriptOf(name));
    const whole = await milliseconds(() => service.call('POST', '/collections', createBody(name)));
    if (run < 0) continue; // warm-up
    theirs.push(alone);
    ours.push(whole);
  }
  await service.stop();
  return {
    work: 'create one collection with 7 fields',
    measured: show(median(ours), 'ms'),
    limit: `${show(median(theirs), 'ms')} plain SQL`,
    ratio: median(ours) / median(theirs),
    budget: '<= 3',
  };
}

interface DiffAnswer {
  hash: string;
  diff: unknown;
}

const diffTo = (service: Service, snapshot: object) => service.call<DiffAnswer>('POST', '/schema/diff', snapshot);

const apply = (service: Service, { hash, diff }: DiffAnswer) => service.call('POST', '/schema/apply', { hash, diff });

export async function applyMany(server: Server, release: string, count: number, runs: number): Promise<Row> {
  const service = await startService(await server.createDatabase());
  // A database of the same history: what was made and dropped before stays in PostgreSQL's catalogs for a while.
  const plain = await server.createDatabase();
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let run = -3; run < runs; run++) {
    const diff = await diffTo(service, snapshotOf(count, release));
    const plan = await service.call<{ statements: { sql: string }[] }>('POST', '/schema/apply?dry_run', diff);
    const script = plan.statements.map(({ sql }) => `${sql};`).join('\n');
    const alone = await runScript(plain, script);
    const body = JSON.stringify({ hash: diff.hash, diff: diff.diff });
    const whole = await milliseconds(() => service.send('POST', '/schema/apply', body));
    await runScript(plain, 'DROP SCHEMA public CASCADE; CREATE SCHEMA public;');
    await apply(service, await diffTo(service, emptySnapshot(release)));
    if (run < 0) continue; // warm-up
    theirs.push(alone);
    ours.push(whole);
  }
  await service.stop();
  return {
    work: `apply a diff of ${count} collections`,
    measured: show(median(ours), 'ms'),
    limit: `${show(median(theirs), 'ms')} plain SQL`,
    ratio: median(ours) / median(theirs),
    budget: '<= 1.5',
  };
}

/** Creating one more, and adding a field to it, when few and when many exist; in turn, so that both meet the same machine. */
export async function changeAmong(server: Server, release: string, many: number, runs: number): Promise<Row[]> {
  const few = await startService(await server.createDatabase());
  const full = await startService(await server.createDatabase());
  await apply(few, await diffTo(few, snapshotOf(10, release)));
  for (let filled = 0; filled < many; filled += 2500) {
    await apply(full, await diffTo(full, snapshotOf(Math.min(many, filled + 2500), release)));
  }
  const creates: Pair = [[], []];
  const fields: Pair = [[], []];
  for (let run = -5; run < runs; run++) {
    for (const index of [0, 1] as const) {
      const service = index === 0 ? few : full;
      const name = `measured_${run + 5}`;
      const create = await milliseconds(() => service.call('POST', '/collections', createBody(name)));
      const field = await milliseconds(() => service.call('POST', `/fields/${name}`, NEW_FIELD));
      if (run < 0) continue; // warm-up
      creates[index].push(create);
      fields[index].push(field);
    }
  }
  await few.stop();
  await full.stop();
  return [amongRow('create one collection', many, creates), amongRow('add a field to a collection', many, fields)];
}

/** Times among few and among many. */
type Pair = [number[], number[]];

const NEW_FIELD = {
  field: 'added',
  type: 'string',
  meta: { interface: 'input', note: 'measured' },
  schema: { default_value: 'x', is_nullable: false, is_indexed: true },
};

function amongRow(work: string, many: number, times: Pair): Row {
  const [among10, amongMany] = times.map(median) as [number, number];
  return {
    work: `${work} when ${many} exist`,
    measured: show(amongMany, 'ms'),
    limit: `${show(among10, 'ms')} when 10 exist`,
    ratio: amongMany / among10,
    budget: '<= 1.2',
  };
}

/** Reads at a fixed slice, idle and while a big diff is applied. The ratio is the difference in milliseconds. */
export async function readsDuringApply(server: Server, release: string, count: number): Promise<Row> {
  const service = await startService(await server.createDatabase());
  await service.call('POST', '/collections', createBody('measured'));
  const read = () => service.call('GET', '/collections/measured');
  await paced(read, 5, new Promise((resolve) => setTimeout(resolve, 2_000))); // warm-up
  const idle = await paced(read, 5, new Promise((resolve) => setTimeout(resolve, 5_000)));
  const busy: number[] = [];
  for (let run = 0; run < 3; run++) {
    // merge: the collection that is read stays.
    // As text: what this process does with it isn't the service's.
    const diff = await service.send('POST', '/schema/diff?mode=merge', JSON.stringify(snapshotOf(count, release)));
    busy.push(...(await paced(read, 5, service.send('POST', '/schema/apply', diff))));
    const kept = { ...emptySnapshot(release), collections: [{ collection: 'measured' }], fields: undefined };
    await apply(service, await diffTo(service, kept));
  }
  await service.stop();
  const [p99Idle, p99Busy] = [percentile(idle, 0.99), percentile(busy, 0.99)];
  return {
    work: `p99 of reads while ${count} collections are applied (difference in ms)`,
    measured: show(p99Busy, 'ms'),
    limit: `${show(p99Idle, 'ms')} idle`,
    ratio: p99Busy - p99Idle,
    budget: '<= 10',
  };
}
