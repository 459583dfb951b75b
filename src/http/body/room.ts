/** Bounds the bytes of bodies under way, for all callers together and for each caller. */
import { createCounts } from '../../kernel/per-caller.js';
import { AbandonedError, scheduler } from '../../kernel/scheduler.js';

export interface RoomLimits {
  bytes: number;
  bytesPerCaller: number;
  /** Milliseconds that a body waits for room. */
  patienceMs: number;
}

/** The room that one body occupies. */
export interface Share {
  /** Occupies room for bytes that have arrived. False: stop reading until `untilFree` resolves. */
  take(bytes: number): boolean;
  /** @throws OverloadedError where that lasts too long, AbandonedError */
  untilFree(gone: AbortSignal): Promise<void>;
  /** Gives all of it back. Idempotent. */
  release(): void;
}

export interface Room {
  open(caller: string): Share;
  /** Bytes taken. */
  taken(): number;
}

interface Held {
  caller: string;
  bytes: number;
  resume: () => void;
  leave: () => void;
}

/**
 * Bytes that have arrived occupy room, not a declared length. When the room is full, the body that has waited longest may
 * still arrive completely, one of each caller and one of all callers. Otherwise bodies that have half arrived would wait for
 * each other.
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
    // A body that ended while it waited must not be let in later.
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

/** A share of `small` that moves to `large` when the body grows beyond `longest` bytes. */
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
  /** Bytes of a small body. */
  longest: number;
}
