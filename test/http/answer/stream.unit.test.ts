import type { ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import { expect } from 'chai';
import { disconnectSignal, write } from '../../../src/http/answer/stream.js';

/** A client that reads as much as `taken` allows. */
function response() {
  const taken: (() => void)[] = [];
  const res = new Writable({ highWaterMark: 4, write: (_chunk, _encoding, done) => void taken.push(done) });
  return Object.assign(res as unknown as ServerResponse, { take: () => taken.shift()?.() });
}

const failureOf = (writing: Promise<void>): Promise<unknown> =>
  writing.then(
    () => expect.fail('it was written'),
    (error: Error) => `${error.name}: ${error.message}`,
  );

describe('a streamed response', () => {
  it('continues immediately while the buffer has room, and otherwise when the client has read', async () => {
    const [res, gone] = [response(), new AbortController()];
    await write(res, 'abc', { signal: gone.signal, stall: 0 });
    const writing = write(res, 'de', { signal: gone.signal, stall: 10_000 });
    let isWritten = false;
    void writing.then(() => (isWritten = true));
    await new Promise(setImmediate);
    expect(isWritten).to.equal(false);
    res.take();
    res.take();
    await writing;
    expect(res.listenerCount('drain')).to.equal(0);
  });

  it('ends when the client stalls or disconnects', async () => {
    const [res, gone] = [response(), new AbortController()];
    expect(await failureOf(write(res, 'abcd', { signal: gone.signal, stall: 5 }))).to.equal(
      'StreamEnded: the client does not read the response',
    );
    const writing = failureOf(write(res, 'e', { signal: gone.signal, stall: 10_000 }));
    gone.abort();
    expect(await writing).to.equal('StreamEnded: the client disconnected');
    expect(res.listenerCount('drain')).to.equal(0);
  });

  it('does not begin for a disconnected client', async () => {
    const [res, gone] = [response(), AbortSignal.abort()];
    expect(await failureOf(write(res, 'a', { signal: gone }))).to.equal('StreamEnded: the client disconnected');
    res.destroy();
    const there = new AbortController().signal;
    expect(await failureOf(write(res, 'a', { signal: there }))).to.equal('StreamEnded: the client disconnected');
    expect(res.writableLength).to.equal(0);
  });

  it('reports a closed connection, now or before', async () => {
    const res = response();
    const signal = disconnectSignal(res);
    expect(signal.aborted).to.equal(false);
    res.destroy();
    expect(disconnectSignal(res).aborted).to.equal(true);
    await new Promise((resolve) => res.once('close', resolve));
    expect(signal.aborted).to.equal(true);
  });
});
