import { expect } from 'chai';
import { createRoom, createGrowingShare } from '../../../src/http/body/limited-bytes.js';
import { AbandonedError, OverloadedError } from '../../../src/kernel/scheduler.js';

const senderOf = (caller: string) => ({ caller, waitedMs: 0 });
const gone = new AbortController().signal;
const LIMITS = { bytes: 100, bytesPerCaller: 60, patienceMs: 60_000 };

/** Records which promises have settled. */
function recordSettled(waiting: Record<string, Promise<void>>): string[] {
  const over: string[] = [];
  for (const [name, each] of Object.entries(waiting)) void each.then(() => over.push(name));
  return over;
}

const flushPromises = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the memory for bodies', () => {
  it('is used by received bytes, not by declared lengths', () => {
    const room = createRoom(LIMITS);
    const slow = Array.from({ length: 20 }, (_, index) => room.open(senderOf(`${index}`)));
    for (const share of slow) expect(share.take(1)).to.equal(true);
    expect(room.open(senderOf('another')).take(50)).to.equal(true);
    expect(room.taken()).to.equal(70);
  });

  it('is not used up by one caller', () => {
    const room = createRoom(LIMITS);
    expect(room.open(senderOf('a')).take(40)).to.equal(true);
    expect(room.open(senderOf('a')).take(40)).to.equal(false);
    expect(room.open(senderOf('b')).take(10)).to.equal(true);
  });

  it('admits one body of a caller beyond its share, and the next one afterwards', async () => {
    const room = createRoom(LIMITS);
    const [first, second] = [room.open(senderOf('a')), room.open(senderOf('a'))];
    first.take(40);
    second.take(30);
    const over = recordSettled({ second: second.untilFree(gone), first: first.untilFree(gone) });
    await flushPromises();
    expect(over).to.deep.equal(['second']);
    second.release();
    await flushPromises();
    expect(over).to.deep.equal(['second', 'first']);
    first.release();
    first.release();
    expect(room.taken()).to.equal(0);
  });

  it('lets one of several waiting bodies complete', async () => {
    const room = createRoom(LIMITS);
    const shares = ['a', 'b', 'c'].map((caller) => {
      const share = room.open(senderOf(caller));
      share.take(40);
      return share;
    });
    const [a, b, c] = shares.map((share) => share.untilFree(gone)) as [Promise<void>, Promise<void>, Promise<void>];
    const over = recordSettled({ a, b, c });
    await flushPromises();
    expect(over).to.deep.equal(['a']);
    shares[0]?.take(500);
    await shares[0]?.untilFree(gone);
    shares[0]?.release();
    await flushPromises();
    expect(over).to.deep.equal(['a', 'b', 'c']);
  });

  it('lets a request that waits several times wait no longer in total than any other', async () => {
    const room = createRoom(LIMITS);
    room.open(senderOf('a')).take(40);
    const [held, sender] = [room.open(senderOf('b')), senderOf('c')];
    held.take(60);
    await held.untilFree(gone);
    const waiting = room.open(sender);
    expect(waiting.take(10)).to.equal(false);
    const first = waiting.untilFree(gone);
    held.release();
    await first;
    expect(sender.waitedMs).to.be.above(0);
    sender.waitedMs = LIMITS.patienceMs;
    const beyond = room.open(senderOf('d'));
    beyond.take(60);
    await beyond.untilFree(gone);
    expect(waiting.take(10)).to.equal(false);
    expect(await waiting.untilFree(gone).catch((error: unknown) => error)).to.be.instanceOf(OverloadedError);
  });

  it('is awaited for a limited time, and only by connected clients', async () => {
    const room = createRoom({ ...LIMITS, patienceMs: 10 });
    room.open(senderOf('a')).take(100);
    const first = room.open(senderOf('b'));
    first.take(10);
    await first.untilFree(gone);
    const [late, left] = [room.open(senderOf('c')), room.open(senderOf('d'))];
    expect([late.take(10), left.take(10)]).to.deep.equal([false, false]);
    const leaving = new AbortController();
    const waiting = left.untilFree(leaving.signal).catch((error: unknown) => error);
    leaving.abort();
    expect(await waiting).to.be.instanceOf(AbandonedError);
    expect(await late.untilFree(gone).catch((error: unknown) => error)).to.be.instanceOf(OverloadedError);
  });

  it('is not given to a body that ended while waiting', async () => {
    const room = createRoom(LIMITS);
    const [first, ended, next] = [room.open(senderOf('a')), room.open(senderOf('b')), room.open(senderOf('c'))];
    for (const share of [first, ended, next]) share.take(40);
    const waiting = [first, ended, next].map((share) => share.untilFree(gone).catch((error: unknown) => error));
    ended.release();
    expect(await waiting[1]).to.be.instanceOf(AbandonedError);
    first.release();
    await Promise.all([waiting[0], waiting[2]]);
    next.release();
    expect(room.taken()).to.equal(0);
    expect(room.open(senderOf('d')).take(60)).to.equal(false);
  });

  it('a body that becomes large releases the room for small bodies', () => {
    const [small, large] = [createRoom(LIMITS), createRoom({ ...LIMITS, bytes: 1_000, bytesPerCaller: 1_000 })];
    const share = createGrowingShare(senderOf('a'), { small, large, longest: 10 });
    share.take(10);
    expect([small.taken(), large.taken()]).to.deep.equal([10, 0]);
    share.take(1);
    share.take(100);
    expect([small.taken(), large.taken()]).to.deep.equal([0, 111]);
    share.release();
    expect([small.taken(), large.taken()]).to.deep.equal([0, 0]);
  });
});
