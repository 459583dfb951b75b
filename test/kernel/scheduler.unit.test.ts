import { expect } from 'chai';
import { runYielding, sliceOf, yieldToEventLoop } from '../../src/kernel/event-loop.js';
import type { Resumable } from '../../src/kernel/resumable.js';
import {
  AbandonedError,
  LIMITS,
  type Limits,
  OverloadedError,
  runAsChange,
  runAsRead,
  runUrgent,
  createScheduler,
  currentJob,
  recordBytes,
} from '../../src/kernel/scheduler.js';
import { until } from '../support/until.js';

const never = (): boolean => false;

/** Each step is a slice. It counts as long work immediately, or as new work forever. */
const EACH_STEP = { ...LIMITS, sliceMs: 0 };
const LONG = { ...EACH_STEP, quickMs: 0 };
const NEW = { ...EACH_STEP, quickMs: Infinity };

function createWork(limits: Limits) {
  const scheduler = createScheduler(limits);
  const steps: string[] = [];
  const work = (name: string, count: number, isAbandoned = never, onStep: () => void = () => undefined) => {
    const build = function* (): Resumable<string> {
      for (let step = 0; step < count; step += 1) {
        steps.push(name);
        onStep();
        yield;
      }
      return name;
    };
    return runAsRead(name.slice(0, 1), isAbandoned, () => runYielding(build(), sliceOf(scheduler, true)));
  };
  return { scheduler, steps, work };
}

describe('the scheduler', () => {
  it('runs one slice per turn of the event loop, regardless of the waiting work', async () => {
    const { steps, work } = createWork(NEW);
    const all = Promise.all(Array.from({ length: 20 }, (_, index) => work(`${index}`, 3)));
    let most = 0;
    for (let before = steps.length; steps.length < 60; before = steps.length) {
      await yieldToEventLoop();
      most = Math.max(most, steps.length - before);
    }
    await all;
    // Runs for two turns, because the order of their end is random.
    expect(most).to.be.at.most(2);
  });

  it('alternates between callers, regardless of the number of their requests', async () => {
    const { steps, work } = createWork(NEW);
    const many = Array.from({ length: 10 }, (_, index) => work(`a${index}`, 5));
    await Promise.all([...many, work('b', 5)]);
    const upTo = steps.lastIndexOf('b');
    expect(steps.slice(0, upTo).filter((name) => name.startsWith('a')).length).to.be.at.most(20);
  });

  it('prefers new work over long work, without stopping long work', async () => {
    const { steps, work } = createWork({ ...EACH_STEP, quickMs: 1 });
    const busy = (): void => {
      for (const end = performance.now() + 2; performance.now() < end;);
    };
    const long = [work('a', 30, never, busy), work('b', 30, never, busy)];
    await until('they are long', () => steps.length > 8);
    const before = steps.length;
    await work('c', 3);
    expect(steps.length - before).to.be.at.most(12);
    await Promise.all(long);
    expect(steps.filter((name) => name !== 'c')).to.have.length(60);
  });

  it('limits concurrent long tasks, in total and per caller', async () => {
    const { scheduler, steps, work } = createWork({ ...LONG, long: 3, longPerCaller: 2 });
    let [most, mostOfOne] = [0, 0];
    const open = new Set<string>();
    const look = (name: string, count: number) => () => {
      open.add(name);
      if (steps.filter((each) => each === name).length === count) open.delete(name);
      most = Math.max(most, scheduler.load().long);
      mostOfOne = Math.max(mostOfOne, [...open].filter((each) => each.startsWith('a')).length);
    };
    const names = ['a1', 'a2', 'a3', 'a4', 'b1', 'c1'];
    await Promise.all(names.map((name) => work(name, 4, never, look(name, 4))));
    expect([most, mostOfOne]).to.deep.equal([3, 2]);
    expect(scheduler.load()).to.include({ long: 0, waiting: 0, refused: 0 });
  });

  it('treats tasks that produce many bytes as long', async () => {
    const { scheduler, work } = createWork({ ...NEW, quickBytes: 100, long: 1 });
    const seen: number[] = [];
    await work('a', 4, never, () => {
      recordBytes(60);
      seen.push(scheduler.load().long);
    });
    expect(seen).to.deep.equal([0, 0, 1, 1]);
  });

  it('starts no long task while finished responses use the memory, and rejects after a limit', async () => {
    const { scheduler, steps, work } = createWork({ ...LONG, bytes: 100, bytesPerCaller: 100, patienceMs: 20 });
    const release = scheduler.hold('b', new Uint8Array(100));
    const refused = await work('a', 2).catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(OverloadedError);
    expect(steps).to.deep.equal([]);
    expect(scheduler.load()).to.include({ bytes: 100, refused: 1, waiting: 0 });
    release();
    release();
    expect(await work('a', 2)).to.equal('a');
    expect(scheduler.load()).to.include({ bytes: 0, refused: 1 });
  });

  it('rejects long work of a request that has waited long enough elsewhere', async () => {
    const scheduler = createScheduler({ ...LONG, bytes: 100, bytesPerCaller: 100, patienceMs: 60_000 });
    scheduler.hold('b', new Uint8Array(100));
    let steps = 0;
    const count = function* (): Resumable<void> {
      for (; steps < 2; steps += 1) yield;
    };
    const refused = await runAsRead('a', never, () => {
      currentJob().waitedMs = 60_000;
      return runYielding(count(), sliceOf(scheduler, true)).catch((error: unknown) => error);
    });
    expect(refused).to.be.instanceOf(OverloadedError);
    expect(steps).to.equal(0);
  });

  it('counts a shared response once, until the last recipient has it', () => {
    const { scheduler } = createWork(LONG);
    const body = new Uint8Array(10);
    const [first, second] = [scheduler.hold('a', body), scheduler.hold('b', body)];
    expect(scheduler.load().bytes).to.equal(10);
    first();
    expect(scheduler.load().bytes).to.equal(10);
    second();
    expect(scheduler.load().bytes).to.equal(0);
  });

  it('ends abandoned work at its next turn and frees its memory', async () => {
    const { scheduler, steps, work } = createWork(LONG);
    let isGone = false;
    const left = work('a', Infinity, () => isGone).catch((error: unknown) => error);
    await until('it is under way', () => steps.length > 3);
    isGone = true;
    expect(await left).to.be.instanceOf(AbandonedError);
    expect(scheduler.load()).to.include({ long: 0, waiting: 0 });
  });

  it('never rejects or ends a change, which may already have happened', async () => {
    const { scheduler, work } = createWork({ ...LONG, long: 1, patienceMs: 5 });
    let isOver = false;
    // On a busy machine, the work can run out of patience before its first slice.
    const hold = async (): Promise<void> => {
      while (!isOver) await work('a', Infinity, () => isOver).catch(() => undefined);
    };
    const other = hold();
    await until('the place is taken', () => scheduler.load().long === 1);
    const { refused } = scheduler.load();
    const change = function* (): Resumable<string> {
      for (let step = 0; step < 50; step += 1) yield;
      return 'done';
    };
    expect(await runAsChange('b', () => runYielding(change(), sliceOf(scheduler, true)))).to.equal('done');
    expect(await work('c', 2).catch((error: unknown) => error)).to.be.instanceOf(OverloadedError);
    isOver = true;
    await other;
    expect(scheduler.load().refused).to.equal(refused + 1);
  });

  it('lets shared work continue among any amount of other work', async () => {
    const { scheduler, steps, work } = createWork(LONG);
    const others = Promise.all(Array.from({ length: 50 }, (_, index) => work(`${index}`, 20)));
    const holder = function* (): Resumable<number> {
      for (let step = 0; step < 20; step += 1) yield;
      return steps.length;
    };
    const passed = await runUrgent(() => runYielding(holder(), sliceOf(scheduler, true)));
    expect(passed).to.be.at.most(60);
    await others;
  });
});
