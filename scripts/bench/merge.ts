/** A three-way merge among many collections against the diff that changes nothing. */
import { median, milliseconds } from './measure.js';
import { filled } from './reads.js';
import { type Row, show } from './report.js';
import type { Server } from './servers.js';

interface Snapshot {
  collections: { collection: string; meta: { note: string | null } }[];
}

/** Collections that each side changed. */
const CHANGED = 100;

export async function mergeMany(server: Server, release: string, count: number, runs: number): Promise<Row> {
  const service = await filled(server, release, count);
  const head = async (): Promise<number> =>
    (await service.call<{ data: { position: number } }>('GET', '/server/info')).data.position;
  const snapshot = await service.call<Snapshot>('GET', '/schema/snapshot');
  const base = await head();
  const names = snapshot.collections.map(({ collection }) => collection);
  const patches = names.slice(0, CHANGED).map((collection) => ({ collection, meta: { note: 'ours' } }));
  await service.call('PATCH', '/collections', patches);
  for (const { meta } of snapshot.collections.slice(-CHANGED)) meta.note = 'theirs';
  const merge = JSON.stringify({ base, theirs: snapshot });
  const now = JSON.stringify(await service.call('GET', '/schema/snapshot'));
  const post = (path: string, body: string) => async () => void (await service.send('POST', path, body));
  const diffs: number[] = [];
  const merges: number[] = [];
  const first = await milliseconds(post('/schema/merge', merge));
  for (let run = -1; run < runs; run++) {
    const diff = await milliseconds(post('/schema/diff', now));
    const merged = await milliseconds(post('/schema/merge', merge));
    if (run < 0) continue; // warm-up
    diffs.push(diff);
    merges.push(merged);
  }
  await service.stop();
  return {
    work: `merge of ${count} collections, ${CHANGED} changed on each side, ${Math.ceil(merge.length / 1024)} KiB`,
    measured: `${show(median(merges), 'ms')} (the first, which folds the base: ${show(first, 'ms')})`,
    limit: `${show(median(diffs), 'ms')} a diff that changes nothing`,
    // In pairs: what else the machine does slows both.
    ratio: median(merges.map((merged, run) => merged / (diffs[run] ?? NaN))),
    budget: '<= 3',
  };
}
