/** Reads of an unchanged schema against a bare Express server that answers the same bytes, and the no-op diff. */
import { median, milliseconds, throughput } from './measure.js';
import { type Row, show } from './report.js';
import { snapshotOf } from './schemas.js';
import { type Server, type Service, startBareExpress, startService } from './servers.js';

/** A service with so many collections. */
export async function filled(server: Server, release: string, count: number): Promise<Service> {
  const service = await startService(await server.createDatabase());
  await service.call('POST', '/schema/apply', await service.call('POST', '/schema/diff', snapshotOf(count, release)));
  return service;
}

export async function reads(server: Server, release: string, count: number, seconds: number): Promise<Row[]> {
  const service = await filled(server, release, count);
  const rows: Row[] = [];
  for (const [work, path] of [
    ['snapshot', '/schema/snapshot'],
    ['list', '/collections'],
    ['retrieve', '/collections/collection_00001'],
  ] as const) {
    const bytes = await (await fetch(service.url + path, { headers: service.headers })).text();
    const bare = await startBareExpress(bytes);
    await throughput(bare.url, {}, 1); // warm-up
    await throughput(service.url + path, service.headers, 1);
    const limit = await throughput(bare.url, {}, seconds);
    const ours = await throughput(service.url + path, service.headers, seconds);
    await bare.stop();
    rows.push({
      work: `${work}, ${count} collections, ${Math.ceil(bytes.length / 1024)} KiB`,
      measured: `${show(ours.perSecond, 'req/s')} (p99 ${ours.p99} ms)`,
      limit: `${show(limit.perSecond, 'req/s')} bare Express (p99 ${limit.p99} ms)`,
      ratio: ours.perSecond / limit.perSecond,
      budget: '>= 0.6',
    });
  }
  await service.stop();
  return rows;
}

export async function noopDiff(server: Server, release: string, count: number, runs: number): Promise<Row> {
  const service = await filled(server, release, count);
  const snapshot = await service.call('GET', '/schema/snapshot');
  const bare = await startBareExpress('');
  const body = JSON.stringify(snapshot);
  const post = (url: string) => async () => {
    const response = await fetch(url, { method: 'POST', headers: service.headers, body });
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    await response.text();
  };
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let run = -3; run < runs; run++) {
    const limit = await milliseconds(post(bare.url));
    const whole = await milliseconds(post(`${service.url}/schema/diff`));
    if (run < 0) continue; // warm-up
    theirs.push(limit);
    ours.push(whole);
  }
  await bare.stop();
  await service.stop();
  return {
    work: `no-op diff of ${count} collections, ${Math.ceil(body.length / 1024)} KiB`,
    measured: show(median(ours), 'ms'),
    limit: `${show(median(theirs), 'ms')} bare Express parsing the body`,
    ratio: median(ours) / median(theirs),
    budget: '<= 3',
  };
}
