import { type ClientRequest, type IncomingMessage, get, request } from 'node:http';
import { expect } from 'chai';
import { runYielding } from '../../src/kernel/event-loop.js';
import type { Resumable } from '../../src/kernel/resumable.js';
import { LIMITS, runAsRead, scheduler } from '../../src/kernel/scheduler.js';
import { json } from '../support/client.js';
import { until } from '../support/until.js';
import { withService } from '../support/with-service.js';

describe('the quota of one user', () => {
  const { service, client: send } = withService({ settings: { REQUESTS_PER_USER: '3', STREAMS_PER_USER: '2' } });
  const open: ClientRequest[] = [];
  let author: string;

  before(async () => {
    const { json: user } = await send('/users', json({ email: 'author@example.com', role: 'author' }));
    const { id } = (user as { data: { id: string } }).data;
    const { json: created } = await send(`/users/${id}/tokens`, json({}));
    author = (created as { data: { token: string } }).data.token;
  });
  afterEach(() => {
    for (const each of open.splice(0)) each.destroy();
  });

  const headers = (token: string) => ({ authorization: `Bearer ${token}`, 'content-type': 'application/json' });

  /** A body that never ends. */
  function sendSlowly(token: string, bytes: number, declared = bytes + 1): ClientRequest {
    const options = { method: 'POST', headers: { ...headers(token), 'content-length': declared }, agent: false };
    const slow = request(`${service.url}/schema/diff`, options).on('error', () => undefined);
    open.push(slow);
    slow.write(Buffer.alloc(bytes, ' '));
    return slow;
  }

  const listen = (token: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const stream = get(`${service.url}/history/stream`, { headers: headers(token), agent: false });
      open.push(stream);
      stream.on('response', ({ statusCode = 0 }: IncomingMessage) => resolve(statusCode)).on('error', reject);
    });

  const ping = (token: string) => send('/collections', { token });

  it('limits concurrent requests with 429 and Retry-After, and does not affect others', async () => {
    let refused = await ping(author);
    // A slow request is rejected if the other one has the last place at that moment.
    await until('all are under way', async () => {
      sendSlowly(author, 10);
      refused = await ping(author);
      return refused.status === 429;
    });
    const { headers: output, codes, text } = refused;
    expect([codes, output.get('retry-after')]).to.deep.equal([['TOO_MANY_REQUESTS'], '1']);
    expect(text).to.contain('REQUESTS_PER_USER');
    expect((await ping(service.adminToken)).status).to.equal(200);
    for (const each of open.splice(0)) each.destroy();
    await until('there is room again', async () => (await ping(author)).status === 200);
  });

  it('limits streams, which do not count as requests', async () => {
    expect(await Promise.all([listen(service.adminToken), listen(service.adminToken)])).to.deep.equal([200, 200]);
    expect(await listen(service.adminToken)).to.equal(429);
    const reads = await Promise.all([1, 2, 3].map(() => ping(service.adminToken)));
    expect(reads.map(({ status }) => status)).to.deep.equal([200, 200, 200]);
    open.shift()?.destroy();
    await until('there is room again', async () => (await listen(service.adminToken)) === 200);
  });

  it('keeps announced bodies that never arrive from blocking large documents of other users', async () => {
    // As many bytes as a body may have.
    for (let sent = 0; sent < 2; sent += 1) sendSlowly(author, 2 * 1024 ** 2, 32 * 1024 ** 2);
    const { text: snapshot } = await send('/schema/snapshot');
    const padded = snapshot + ' '.repeat(3 * 1024 ** 2);
    const { status } = await send('/schema/diff', { ...json({}), body: padded });
    expect(status).to.equal(200);
  });

  it('keeps the service healthy under load, and its health shows the load', async () => {
    const { json: health } = await send('/server/health', { token: null });
    expect(health).to.have.nested.property('load.overloaded', false);
    expect(health).to.have.nested.property('load.answer_bytes', 0);
    const refusal = scheduler.refuse();
    expect(refusal.name).to.equal('OverloadedError');
    const { status, json: later } = await send('/server/health', { token: null });
    expect(status).to.equal(200);
    expect(later).to.have.nested.property('load.overloaded', true);
  });

  it('answers requests and liveness checks while another caller has 200 endless tasks', async () => {
    let isOver = false;
    const endless = function* (): Resumable<void> {
      while (!isOver) yield;
    };
    const ends = new Set<string | undefined>();
    const task = async (): Promise<void> => {
      // The scheduler rejects waiting work after some time. The test retries like a client.
      while (!isOver) {
        const work = (): Promise<void> => runYielding(endless());
        await runAsRead('another', () => isOver, work).then(
          () => ends.add(undefined),
          (error: unknown) => ends.add((error as Error).name),
        );
      }
    };
    const tasks = Array.from({ length: 200 }, task);
    for (const path of ['/server/ping', '/server/live', '/server/health', '/collections', '/fields']) {
      await until('they wait for each other', () => scheduler.load().waiting >= 190);
      expect(scheduler.load().long, path).to.be.at.most(LIMITS.longPerCaller);
      expect((await send(path)).status, path).to.equal(200);
    }
    isOver = true;
    await Promise.all(tasks);
    expect([...ends]).to.include('AbandonedError');
    expect(scheduler.load()).to.include({ waiting: 0, long: 0 });
  });
});
