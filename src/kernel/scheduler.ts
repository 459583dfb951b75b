/*
 * Schedules the sliced work of the whole process: each turn of the event loop runs one slice. Callers alternate, then
 * the pieces of work of each caller. New work runs before long work, so that small answers do not wait for large ones.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

/** Counts units per caller. */
interface Counts {
  /** A negative count subtracts. */
  add(caller: string, count: number): void;
  of(caller: string): number;
  total(): number;
}

export function createCounts(): Counts {
  const counts = new Map<string, number>();
  let total = 0;
  return {
    add(caller, count) {
      const now = (counts.get(caller) ?? 0) + count;
      if (now === 0) counts.delete(caller);
      else counts.set(caller, now);
      total += count;
    },
    of: (caller) => counts.get(caller) ?? 0,
    total: () => total,
  };
}

/** Returns a function that calls `act` on its first call only. */
export function once(act: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    act();
  };
}

/** The request, or the service itself, that slices of work belong to. */
export interface Job {
  readonly caller: string;
  /** True if nothing waits for the result anymore. The work then ends at its next turn. */
  isAbandoned(): boolean;
  /** True if overload may reject the work. Work that may have changed something must not be rejected. */
  readonly isRefusable: boolean;
  /** True if all other changes wait for the work because it holds the log lock. It always counts as new work. */
  readonly isUrgent: boolean;
  /** Milliseconds of work so far. */
  spentMs: number;
  /** Milliseconds that the request has waited for capacity: for room for its body, or for a slot for long work. */
  waitedMs: number;
  /** Bytes produced so far. */
  madeBytes: number;
  /** True once the work has held a slot for long work. It needs no slot from then on. */
  hasBegun: boolean;
}

/** The scheduler ended the work because no client is waiting for its result. */
export class AbandonedError extends Error {
  override readonly name: string = 'AbandonedError';
}

/** The service cannot do this work in time. The work left nothing behind. */
export class OverloadedError extends Error {
  override readonly name = 'OverloadedError';
}

const jobs = new AsyncLocalStorage<Job>();

const jobFor = (caller: string, more: Partial<Job> = {}): Job => ({
  caller,
  isAbandoned: () => false,
  isRefusable: false,
  isUrgent: false,
  spentMs: 0,
  waitedMs: 0,
  madeBytes: 0,
  hasBegun: false,
  ...more,
});

/** The caller of work that no request started. */
const SERVICE = '';

/** Milliseconds that a request waits for capacity in total. A limit for each wait would add up to minutes. */
export const PATIENCE_MS = 10_000;

/**
 * Starts a wait for capacity.
 * @param onOver called when the request has waited for `patienceMs` in total
 * @returns the function that ends the wait
 */
export function startWait(job: Pick<Job, 'waitedMs'>, patienceMs: number, onOver: () => void): () => void {
  const started = performance.now();
  const timer = setTimeout(onOver, Math.max(0, patienceMs - job.waitedMs));
  return once(() => {
    clearTimeout(timer);
    job.waitedMs += performance.now() - started;
  });
}

export const currentJob = (): Job => jobs.getStore() ?? jobFor(SERVICE);

/** @throws AbandonedError if the client of the current job has disconnected */
export function requireClient(): void {
  if (currentJob().isAbandoned()) throw new AbandonedError('the client disconnected');
}

/** Adds the size of produced output to the current job. Large output makes the job long work. */
export function recordBytes(bytes: number): void {
  const job = jobs.getStore();
  if (job !== undefined) job.madeBytes += bytes;
}

/** Runs work that only reads, in slices that belong to `caller`. Abandonment and overload end it. */
export const runAsRead = <T>(caller: string, isAbandoned: () => boolean, work: () => T): T =>
  jobs.run(jobFor(caller, { isAbandoned, isRefusable: true }), work);

/** Runs work that changes something, in slices that belong to `caller`. Nothing ends it early. */
export const runAsChange = <T>(caller: string, work: () => T): T => jobs.run(jobFor(caller), work);

/** Runs work whose result several requests share. It continues when the request that started it is abandoned. */
export const runShared = <T>(work: () => T): T => jobs.run(jobFor(SERVICE), work);

/** Runs work that all other changes wait for. */
export const runUrgent = <T>(work: () => T): T => jobs.run(jobFor(SERVICE, { isUrgent: true }), work);

export interface Limits {
  /** Milliseconds of work per turn of the event loop. */
  sliceMs: number;
  /** Milliseconds of work, and bytes produced, after which a job counts as long. */
  quickMs: number;
  quickBytes: number;
  /** Concurrent pieces of long work, in total and per caller. Each may hold an unfinished answer. */
  long: number;
  longPerCaller: number;
  /** Maximum bytes of unsent answers, in total and per caller. No long work begins above these limits. */
  bytes: number;
  bytesPerCaller: number;
  /** Milliseconds that a request with long work may wait for capacity. */
  patienceMs: number;
}

const MIB = 1024 ** 2;

export const LIMITS: Limits = {
  sliceMs: 2,
  quickMs: 4,
  quickBytes: 64 * 1024,
  long: 4,
  longPerCaller: 2,
  bytes: 128 * MIB,
  bytesPerCaller: 64 * MIB,
  patienceMs: PATIENCE_MS,
};

interface Load {
  /** Pieces of work that wait for their turn. */
  waiting: number;
  /** Pieces of long work that have begun. */
  long: number;
  /** Bytes of finished answers that have not been sent. */
  bytes: number;
  /** Number of rejected pieces of work since the start. */
  refused: number;
  /** Milliseconds since the last rejection. Null if there was none. */
  sinceRefusedMs: number | null;
}

/** One run of steps. A long piece holds a slot until it ends. */
export interface Piece {
  readonly job: Job;
  /** Resolves at the turn of this piece. @throws AbandonedError, OverloadedError */
  turn(): Promise<void>;
  /** True if the piece has become long and has no slot yet. */
  mustWait(): boolean;
  /** Adds milliseconds of work. */
  spent(ms: number): void;
  /** Releases the slot. Idempotent. */
  end(): void;
}

/** An answer whose bytes count as unsent until they are released. */
interface Body {
  readonly length: number;
}

export interface Scheduler {
  readonly sliceMs: number;
  /**
   * @param isGated true if the piece calls `end` without waiting for anything else, so that long work can require a
   * slot
   */
  begin(isGated: boolean): Piece;
  /** True if this turn of the event loop has no time left. */
  isBusy(): boolean;
  /** Counts a finished answer until the returned function is called. The same bytes count once. */
  hold(caller: string, body: Body): () => void;
  /** Counts a rejection and returns the error for the caller to throw. */
  refuse(): OverloadedError;
  load(): Load;
}

interface Waiter {
  job: Job;
  piece: HeldSlot;
  enter(): void;
  leave(error: Error): void;
}

interface HeldSlot {
  readonly isGated: boolean;
  /** True if the piece holds a slot for long work. */
  isLong: boolean;
}

export function createScheduler(limits: Limits = LIMITS): Scheduler {
  const [urgent, quick, begun, unbegun] = [createRing(), createRing(), createRing(), createRing()];
  const waiting = (): number => [urgent, quick, begun, unbegun].reduce((sum, ring) => sum + ring.size(), 0);
  const long = createCounts();
  const held = createHeld();
  let used = 0;
  let isTurning = false;
  let turns = 0;
  let refused = 0;
  let refusedAt: number | undefined;

  const mayBegin = ({ job: { caller } }: Waiter): boolean =>
    long.of(caller) < limits.longPerCaller && held.of(caller) < limits.bytesPerCaller;

  const nextToBegin = (): Waiter | undefined =>
    long.total() < limits.long && held.total() < limits.bytes ? unbegun.take(mayBegin) : undefined;

  const beginLong = (waiter: Waiter): Waiter => {
    waiter.piece.isLong = true;
    waiter.job.hasBegun = true;
    long.add(waiter.job.caller, 1);
    return waiter;
  };

  const nextLong = (): Waiter | undefined => {
    const beginning = nextToBegin();
    return beginning === undefined ? begun.take() : beginLong(beginning);
  };

  const SOURCES = {
    urgent: () => urgent.take(),
    quick: () => quick.take(),
    long: nextLong,
  };

  /** Every source comes first in at least one order, so that none of them starves. */
  const ORDERS: readonly (readonly (keyof typeof SOURCES)[])[] = [
    ['quick', 'urgent', 'long'],
    ['urgent', 'quick', 'long'],
    ['quick', 'urgent', 'long'],
    ['long', 'urgent', 'quick'],
  ];

  const next = (): Waiter | undefined => {
    const order = ORDERS[turns++ % ORDERS.length] ?? [];
    for (const source of order) {
      const waiter = SOURCES[source]();
      if (waiter !== undefined) return waiter;
    }
    return undefined;
  };

  const grant = (): void => {
    used = 0;
    for (let waiter = next(); waiter !== undefined; waiter = next()) {
      if (!waiter.job.isAbandoned()) return waiter.enter();
      waiter.leave(new AbandonedError('no client is waiting for this result anymore'));
    }
  };

  const turn = (): void => {
    isTurning = true;
    setImmediate(() => {
      grant();
      isTurning = false;
      if (used > 0 || waiting() > 0) turn();
    });
  };

  const refuse = (): OverloadedError => {
    refused += 1;
    refusedAt = performance.now();
    return new OverloadedError('The service is overloaded.');
  };

  const isQuick = ({ spentMs, madeBytes }: Job): boolean => spentMs < limits.quickMs && madeBytes < limits.quickBytes;

  /** True if the job may continue without acquiring a slot for long work. */
  const isFree = (job: Job, piece: HeldSlot): boolean =>
    piece.isLong || !piece.isGated || job.hasBegun || !job.isRefusable;

  const ringFor = ({ job, piece }: Waiter): Ring => {
    if (job.isUrgent) return urgent;
    if (isQuick(job)) return quick;
    return isFree(job, piece) ? begun : unbegun;
  };

  const wait = (job: Job, piece: HeldSlot): Promise<void> =>
    new Promise((resolve, reject) => {
      const settle = (act: () => void): void => {
        endWait?.();
        act();
      };
      const waiter: Waiter = {
        job,
        piece,
        enter: () => settle(resolve),
        leave: (error) => settle(() => reject(error)),
      };
      const ring = ringFor(waiter);
      const refuseWaiter = (): void => {
        if (unbegun.remove(waiter)) waiter.leave(refuse());
      };
      const endWait = ring === unbegun ? startWait(job, limits.patienceMs, refuseWaiter) : undefined;
      ring.add(waiter);
      if (!isTurning) turn();
    });

  return {
    sliceMs: limits.sliceMs,
    isBusy: () => used >= limits.sliceMs || quick.size() > 0,
    begin(isGated) {
      const job = currentJob();
      const piece: HeldSlot = { isGated, isLong: false };
      return {
        job,
        turn: () => wait(job, piece),
        mustWait: () => !isQuick(job) && !isFree(job, piece),
        spent(ms) {
          job.spentMs += ms;
          used += ms;
          if (!isTurning) turn();
        },
        end() {
          if (piece.isLong) long.add(job.caller, -1);
          piece.isLong = false;
        },
      };
    },
    hold: held.hold,
    refuse,
    load: () => ({
      waiting: waiting(),
      long: long.total(),
      bytes: held.total(),
      refused,
      sinceRefusedMs: refusedAt === undefined ? null : performance.now() - refusedAt,
    }),
  };
}

interface Ring {
  add(waiter: Waiter): void;
  /** Takes the next waiter that fits. Callers alternate. */
  take(fits?: (waiter: Waiter) => boolean): Waiter | undefined;
  remove(waiter: Waiter): boolean;
  size(): number;
}

function createRing(): Ring {
  /** The first entry is the caller whose turn is next. */
  const callers = new Map<string, Waiter[]>();
  let size = 0;
  return {
    add(waiter) {
      const { caller } = waiter.job;
      const line = callers.get(caller);
      if (line === undefined) callers.set(caller, [waiter]);
      else line.push(waiter);
      size += 1;
    },
    take(fits = () => true) {
      for (const [caller, line] of callers) {
        const [first] = line;
        if (first === undefined || !fits(first)) continue;
        line.shift();
        callers.delete(caller);
        if (line.length > 0) callers.set(caller, line);
        size -= 1;
        return first;
      }
      return undefined;
    },
    remove(waiter) {
      const line = callers.get(waiter.job.caller) ?? [];
      const at = line.indexOf(waiter);
      if (at === -1) return false;
      line.splice(at, 1);
      if (line.length === 0) callers.delete(waiter.job.caller);
      size -= 1;
      return true;
    },
    size: () => size,
  };
}

/** Counts the bytes of unsent answers. A buffer that is sent to several callers counts once, for the first of them. */
function createHeld() {
  const bytes = createCounts();
  const users = new Map<Body, { caller: string; count: number }>();
  const release = (body: Body): void => {
    const use = users.get(body);
    if (use === undefined) return;
    use.count -= 1;
    if (use.count > 0) return;
    users.delete(body);
    bytes.add(use.caller, -body.length);
  };
  return {
    hold(caller: string, body: Body): () => void {
      const former = users.get(body);
      if (former !== undefined) former.count += 1;
      else {
        users.set(body, { caller, count: 1 });
        bytes.add(caller, body.length);
      }
      return once(() => release(body));
    },
    of: bytes.of,
    total: bytes.total,
  };
}

/** The process has one event loop, so it has one scheduler. */
export const scheduler = createScheduler();
