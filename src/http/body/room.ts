/** Limits the memory of request bodies, in total and per caller. */
import { createCounts } from '../../kernel/per-caller.js';
import { AbandonedError, scheduler } from '../../kernel/scheduler.js';

export interface RoomLimits {
  bytes: number;
  bytesPerCaller: number;
  /** Milliseconds that a body waits for room. */
  patienceMs: number;
}

/** The room of one body. */
export interface Share {
  /** Reserves room for bytes that have arrived. If it returns false, stop reading until `untilFree` resolves. */
  take(bytes: number): boolean;
  /** @throws OverloadedError if that takes too long, AbandonedError */
  untilFree(gone: AbortSignal): Promise<void>;
  /** Releases all of it. Idempotent. */
  release(): void;
}

export interface Room {
  open(caller: string): Share;
  /** The number of reserved bytes. */
  taken(): number;
}

interface Held {
  caller: string;
  bytes: number;
  resume: () => void;
  leave: () => void;
}

/**
 * Only received bytes count, not a declared length. If the room is full, the body that has waited longest may still
 * arrive completely, one per caller and one in total. Otherwise, partly received bodies would wait for each other.
 */
export function createRoom({ bytes: limit, bytesPerCaller, patienceMs }: RoomLimits): Room {
  const counts = createCounts();
  const waiting = new Set<Held>();
  const firstOf = new Map<string, Held>();
  let first: Held | undefined;

  const fitsCaller = (held: Held): boolean =>
    counts.of(held.caller) < bytesPerCaller || firstOf.get(held.caller) === held;
  const fits = (held: Held): boolean => fitsCaller(held) && (counts.total() < limit || first === held);

  const admit = (): void => {
    for (const held of waiting) {
      if (!fitsCaller(held) && !firstOf.has(held.caller)) firstOf.set(held.caller, held);
      if (fitsCaller(held) && !fits(held)) first ??= held;
      if (fits(held)) held.resume();
    }
  };

  const release = (held: Held): void => {
    counts.add(held.caller, -held.bytes);
    held.bytes = 0;
    // A body that ended while waiting must not be admitted later.
    if (waiting.has(held)) held.leave();
    if (firstOf.get(held.caller) === held) firstOf.delete(held.caller);
    if (first === held) first = undefined;
    admit();
  };

  const untilFree = (held: Held, gone: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const settle = (act: () => void): void => {
        clearTimeout(timer);
        gone.removeEventListener('abort', leave);
        waiting.delete(held);
        act();
      };
      const leave = (): void => settle(() => reject(new AbandonedError('the client hung up')));
      const timer = setTimeout(() => settle(() => reject(scheduler.refuse())), patienceMs);
      held.resume = () => settle(resolve);
      held.leave = leave;
      gone.addEventListener('abort', leave);
      waiting.add(held);
      if (gone.aborted) leave();
      else admit();
    });

  return {
    open(caller) {
      const held: Held = { caller, bytes: 0, resume: () => undefined, leave: () => undefined };
      return {
        take(bytes) {
          held.bytes += bytes;
          counts.add(caller, bytes);
          return fits(held);
        },
        untilFree: (gone) => untilFree(held, gone),
        release: () => release(held),
      };
    },
    taken: counts.total,
  };
}

/** A share of `small` that moves to `large` when the body exceeds `longest` bytes. */
export function growingShare(caller: string, { small, large, longest }: GrowingRoom): Share {
  let share = small.open(caller);
  let size = 0;
  return {
    take(bytes) {
      const wasSmall = size <= longest;
      size += bytes;
      if (!wasSmall || size <= longest) return share.take(bytes);
      share.release();
      share = large.open(caller);
      return share.take(size);
    },
    untilFree: (gone) => share.untilFree(gone),
    release: () => share.release(),
  };
}

export interface GrowingRoom {
  small: Room;
  large: Room;
  /** The maximum size of a small body in bytes. */
  longest: number;
}
