/**
 * Schedules all sliced work of the process: one slice in each turn of the event loop, however many requests there are.
 * Callers take turns, then the pieces of work of each caller. New work goes before long work, so that a small answer does not
 * wait for large ones.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { createCounts, once } from './per-caller.js';

/** What slices are worked on for: a request, or the service itself. */
export interface Job {
  /** Whose work it is. */
  readonly caller: string;
  /** Whether nobody waits for the result any longer: the work then ends at its next turn. */
  isAbandoned(): boolean;
  /** Whether overload may reject it. Work that may have changed something must not be rejected. */
  readonly isRefusable: boolean;
  /** Whether all other changes wait for it, because it holds the lock of the log. It counts as new, however long it takes. */
  readonly isUrgent: boolean;
  /** Milliseconds worked on it. */
  spentMs: number;
  /** Bytes made for it. */
  madeBytes: number;
  /** Whether it once had a place for long work. It needs none from then on. */
  hasBegun: boolean;
}

/** Nobody waits for the result of the work any longer, so it ended. */
export class AbandonedError extends Error {
  override readonly name: string = 'AbandonedError';
}

/** The service cannot do this work in time. Nothing of it was kept. */
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
  madeBytes: 0,
  hasBegun: false,
  ...more,
});

/** The caller of work that no request asked for. */
const SERVICE = '';

export const currentJob = (): Job => jobs.getStore() ?? jobFor(SERVICE);

/** Records bytes that were produced for the current job. */
export function recordBytes(bytes: number): void {
  const job = jobs.getStore();
  if (job !== undefined) job.madeBytes += bytes;
}

/** Runs `work`, which only reads. Its slices belong to `caller`. Abandonment and overload end it. */
export const runAsRead = <T>(caller: string, isAbandoned: () => boolean, work: () => T): T =>
  jobs.run(jobFor(caller, { isAbandoned, isRefusable: true }), work);

/** Runs `work`, which changes something. Its slices belong to `caller`. Nothing ends it early. */
export const runAsChange = <T>(caller: string, work: () => T): T => jobs.run(jobFor(caller), work);

/** Runs `work` whose result several requests share. It goes on when the request that started it is abandoned. */
export const runShared = <T>(work: () => T): T => jobs.run(jobFor(SERVICE), work);

/** Runs `work` for which all other changes wait. */
export const runUrgent = <T>(work: () => T): T => jobs.run(jobFor(SERVICE, { isUrgent: true }), work);

export interface Limits {
  /** Milliseconds of work in a turn, after which the next piece waits for the next turn. */
  sliceMs: number;
  /** Milliseconds of work, and bytes produced, after which a job is long. */
  quickMs: number;
  quickBytes: number;
  /** Pieces of long work at once, of all callers and of one. Each may hold an unfinished answer. */
  long: number;
  longPerCaller: number;
  /** Bytes of unsent answers, of all callers and of one, above which no long work begins. */
  bytes: number;
  bytesPerCaller: number;
  /** Milliseconds that long work waits for its beginning. */
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
  patienceMs: 10_000,
};

export interface Load {
  /** Pieces of work that wait for their turn. */
  waiting: number;
  /** Pieces of long work that have begun. */
  long: number;
  /** Bytes of the answers that are finished and not sent yet. */
  bytes: number;
  /** How often work was refused since the start. */
  refused: number;
  /** Milliseconds since work was last refused; null: never. */
  sinceRefusedMs: number | null;
}

/** One run of steps. A long one holds a place from its beginning as long work to its end. */
export interface Piece {
  readonly job: Job;
  /** Resolves when it is the turn of this piece. @throws AbandonedError, OverloadedError */
  turn(): Promise<void>;
  /** Whether it is long by now, and has no place yet. */
  mustWait(): boolean;
  /** Records milliseconds of work. */
  spent(ms: number): void;
  /** Gives its place back. Idempotent. */
  end(): void;
}

export interface Scheduler {
  readonly sliceMs: number;
  /** @param isGated whether the piece ends (`end`) without waiting for anything else: as long work it needs a place */
  begin(isGated: boolean): Piece;
  /** Whether this turn of the event loop has no time left for more. */
  isBusy(): boolean;
  /** Counts a finished answer until the returned function is called. The same bytes count once. */
  hold(caller: string, bytes: Uint8Array): () => void;
  /** Counts a refusal. Returned, for the caller to throw. */
  refuse(): OverloadedError;
  load(): Load;
}

interface Waiter {
  job: Job;
  piece: Held;
  enter(): void;
  leave(error: Error): void;
}

interface Held {
  readonly isGated: boolean;
  /** Whether it has a place among the long pieces. */
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

  /** None of them waits for ever, however much there is of the others. */
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
      waiter.leave(new AbandonedError('nobody waits for this any longer'));
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
    return new OverloadedError('The service has more work than it can do in time.');
  };

  const isQuick = ({ spentMs, madeBytes }: Job): boolean => spentMs < limits.quickMs && madeBytes < limits.quickBytes;

  /** Needs no place, for which it might wait in vain. */
  const isFree = (job: Job, piece: Held): boolean => piece.isLong || !piece.isGated || job.hasBegun || !job.isRefusable;

  const ringFor = ({ job, piece }: Waiter): Ring => {
    if (job.isUrgent) return urgent;
    if (isQuick(job)) return quick;
    return isFree(job, piece) ? begun : unbegun;
  };

  const wait = (job: Job, piece: Held): Promise<void> =>
    new Promise((resolve, reject) => {
      const settle = (act: () => void): void => {
        clearTimeout(timer);
        act();
      };
      const waiter: Waiter = {
        job,
        piece,
        enter: () => settle(resolve),
        leave: (error) => settle(() => reject(error)),
      };
      const ring = ringFor(waiter);
      const timer =
        ring === unbegun
          ? setTimeout(() => {
              if (unbegun.remove(waiter)) waiter.leave(refuse());
            }, limits.patienceMs)
          : undefined;
      ring.add(waiter);
      if (!isTurning) turn();
    });

  return {
    sliceMs: limits.sliceMs,
    isBusy: () => used >= limits.sliceMs || quick.size() > 0,
    begin(isGated) {
      const job = currentJob();
      const piece: Held = { isGated, isLong: false };
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
  /** The next that fits: the callers take turns. */
  take(fits?: (waiter: Waiter) => boolean): Waiter | undefined;
  remove(waiter: Waiter): boolean;
  size(): number;
}

function createRing(): Ring {
  /** The caller whose turn is next comes first. */
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

/** Unsent answers. A buffer that is sent to several callers counts once, for the first of them. */
function createHeld() {
  const bytes = createCounts();
  const users = new Map<Uint8Array, { caller: string; count: number }>();
  const release = (body: Uint8Array): void => {
    const found = users.get(body);
    if (found === undefined) return;
    found.count -= 1;
    if (found.count > 0) return;
    users.delete(body);
    bytes.add(found.caller, -body.byteLength);
  };
  return {
    hold(caller: string, body: Uint8Array): () => void {
      const found = users.get(body);
      if (found !== undefined) found.count += 1;
      else {
        users.set(body, { caller, count: 1 });
        bytes.add(caller, body.byteLength);
      }
      return once(() => release(body));
    },
    of: bytes.of,
    total: bytes.total,
  };
}

/** The scheduler of this process, which has one event loop. */
export const scheduler = createScheduler();
