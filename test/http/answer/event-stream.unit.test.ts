import { PassThrough } from 'node:stream';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { writeEventStream } from '../../../src/http/answer/stream.js';
import type { EventText } from '../../../src/log/read.js';
import type { Tail } from '../../../src/reads/history/tail.js';
import { until } from '../../support/until.js';

/** A tail of given pages, each requested only after the previous one was taken. */
function tailOf(pages: EventText[][], requested: { pages: number }): Tail {
  return {
    async *follow(_after, signal) {
      for (const page of pages) {
        requested.pages += 1;
        yield page;
      }
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    },
    followers: () => 1,
    close: () => undefined,
  };
}

const page = (from: number, size: number): EventText[] =>
  Array.from({ length: 10 }, (_, index) => ({
    position: from + index,
    hash: 'ab',
    text: `{"x":"${'x'.repeat(size)}"}`,
  }));

const response = (highWaterMark = 1024) =>
  new PassThrough({ highWaterMark }) as unknown as ServerResponse & PassThrough;

describe('the event stream', () => {
  it('sends heartbeats while nothing happens', async () => {
    const res = response();
    const request = { pages: 0 };
    const allowed = () => Promise.resolve(true);
    const done = writeEventStream(res, { tail: tailOf([], request), after: 0, allowed, heartbeat: 10 });
    let read = '';
    await until('it beat four times', () => {
      read += String(res.read() ?? '');
      return read.split(': heartbeat\n\n').length > 4;
    });
    res.destroy();
    await done.catch(() => undefined);
  });

  it('sends the retry time, then visible events, and the last position if its event is hidden', async () => {
    const res = response(100_000);
    const pages = [1, 4].map((from) =>
      [0, 1, 2].map((each) => ({ position: from + each, hash: `h${from + each}`, text: `{"x":${from + each}}` })),
    );
    const received: ((fork: never) => void)[] = [];
    const watch = { subscribe: (tell: (fork: never) => void) => (received.push(tell), () => void received.pop()) };
    const shown = ({ position, text }: EventText) => (position === 2 || position === 4 ? text : null);
    const allowed = () => Promise.resolve(true);
    const options = { tail: tailOf(pages, { pages: 0 }), after: 0, allowed, shown, watch, heartbeat: 60_000 };
    await Promise.resolve();
    const timers = () => process.getActiveResourcesInfo().filter((each) => each === 'Timeout').length;
    const before = timers();
    const done = writeEventStream(res, options);
    let read = '';
    const expected = 'retry: 2000\n\nid: 2-h2\ndata: {"x":2}\n\nid: 3-h3\n\nid: 4-h4\ndata: {"x":4}\n\nid: 6-h6\n\n';
    await until('it is all there', () => (read += String(res.read() ?? '')).length >= expected.length);
    expect(read).to.equal(expected);
    received[0]?.({ seen: 1, found: 2, noticed_at: 'now' } as never);
    expect(String(res.read())).to.equal(
      'event: diverged\ndata: {"seen":1,"found":2,"fork":null,"noticed_at":"now"}\n\n',
    );
    await done;
    expect(received, 'it listens no more').to.deep.equal([]);
    // Others may end in the meantime.
    expect(timers(), 'it beats no more').to.be.at.most(before);
  });

  it('reads no faster than the client, and closes a stalled connection', async () => {
    const res = response();
    const request = { pages: 0 };
    const pages = Array.from({ length: 100 }, (_, index) => page(index * 10 + 1, 1_000));
    const allowed = () => Promise.resolve(true);
    const started = performance.now();
    const done = writeEventStream(res, { tail: tailOf(pages, request), after: 0, allowed, heartbeat: 5, stall: 100 });
    await done.then(
      () => expect.fail('it was not given up'),
      (error: Error) => expect(error.message).to.equal('the client does not read the response'),
    );
    expect(performance.now() - started).to.be.greaterThan(90);
    expect(request.pages).to.be.at.most(2);
    expect(res.writableLength).to.be.lessThan(30_000);
    let held = '';
    for (let chunk = res.read() as Buffer | null; chunk !== null; chunk = res.read() as Buffer | null) held += chunk;
    expect(held, 'what is behind beats not').to.contain('id: 1-ab').and.not.contain('heartbeat');
  });

  it('ends when the client loses permission', async () => {
    const res = response();
    let may = true;
    const options = { tail: tailOf([], { pages: 0 }), after: 0, allowed: () => Promise.resolve(may), heartbeat: 10 };
    const done = writeEventStream(res, options);
    const early = await Promise.race([done.then(() => 'ended'), sleep(50).then(() => 'going on')]);
    expect(early).to.equal('going on');
    may = false;
    await done;
  });

  it('sends no event to a client without permission, or if permission cannot be checked', async () => {
    const refusals = [() => Promise.resolve(false), () => Promise.reject(new Error('the database is away'))];
    for (const allowed of refusals) {
      const res = response();
      await writeEventStream(res, { tail: tailOf([page(1, 1)], { pages: 0 }), after: 0, allowed, heartbeat: 60_000 });
      expect(String(res.read())).to.equal('retry: 2000\n\n');
    }
  });

  it('continues for the next check if permission cannot be determined', async () => {
    const res = response();
    const allowed = () => Promise.reject(new Error('the database is away'));
    const done = writeEventStream(res, { tail: tailOf([], { pages: 0 }), after: 0, allowed, heartbeat: 10 });
    const first = await Promise.race([done.then(() => 'ended'), sleep(60).then(() => 'going on')]);
    expect(first).to.equal('going on');
    res.destroy();
    await done.catch(() => undefined);
  });
});
