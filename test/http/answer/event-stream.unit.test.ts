import { PassThrough } from 'node:stream';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { writeEventStream } from '../../../src/http/answer/event-stream.js';
import type { EventText } from '../../../src/log/event-text.js';
import type { Tail } from '../../../src/reads/history/tail.js';
import { until } from '../../support/until.js';

/** A tail of given pages, each asked for only when the one before was taken. */
function tailOf(pages: EventText[][], asked: { pages: number }): Tail {
  return {
    async *follow(_after, signal) {
      for (const page of pages) {
        asked.pages += 1;
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
  it('beats while nothing happens', async () => {
    const res = response();
    const asked = { pages: 0 };
    const allowed = () => Promise.resolve(true);
    const done = writeEventStream(res, { tail: tailOf([], asked), after: 0, allowed, heartbeat: 10 });
    let read = '';
    await until('it beat four times', () => {
      read += String(res.read() ?? '');
      return read.split(': heartbeat\n\n').length > 4;
    });
    res.destroy();
    await done.catch(() => undefined);
  });

  it('reads no further than the client, and gives up one that takes nothing', async () => {
    const res = response();
    const asked = { pages: 0 };
    const pages = Array.from({ length: 100 }, (_, index) => page(index * 10 + 1, 1_000));
    const allowed = () => Promise.resolve(true);
    const started = performance.now();
    const done = writeEventStream(res, { tail: tailOf(pages, asked), after: 0, allowed, heartbeat: 5, stall: 100 });
    await done.then(
      () => expect.fail('it was not given up'),
      (error: Error) => expect(error.message).to.equal('the client takes nothing'),
    );
    expect(performance.now() - started).to.be.greaterThan(90);
    expect(asked.pages).to.be.at.most(2);
    expect(res.writableLength).to.be.lessThan(30_000);
  });

  it('ends when the client may not listen any more', async () => {
    const res = response();
    let may = true;
    const options = { tail: tailOf([], { pages: 0 }), after: 0, allowed: () => Promise.resolve(may), heartbeat: 10 };
    const done = writeEventStream(res, options);
    const early = await Promise.race([done.then(() => 'ended'), sleep(50).then(() => 'going on')]);
    expect(early).to.equal('going on');
    may = false;
    await done;
  });

  it('goes on when whether it may can not be found out', async () => {
    const res = response();
    const allowed = () => Promise.reject(new Error('the database is away'));
    const done = writeEventStream(res, { tail: tailOf([], { pages: 0 }), after: 0, allowed, heartbeat: 10 });
    const first = await Promise.race([done.then(() => 'ended'), sleep(60).then(() => 'going on')]);
    expect(first).to.equal('going on');
    res.destroy();
    await done.catch(() => undefined);
  });
});
