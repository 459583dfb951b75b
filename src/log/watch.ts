/** Tracks divergences of the log, both those that this process noticed and those that other processes recorded. */
import { createTimelineGuard } from '../postgres/hosts/choose-host.js';
import type { Logger } from '../postgres/logger.js';
import type { Queryable } from '../postgres/pool.js';
import type { LogPosition } from '../schema/model/events.js';
import {
  type HeadCheck,
  type NotedDivergence,
  type HashedPosition,
  findAcknowledgedSince,
  checkHead,
  isInLog,
  isReplaced,
  findMissingDivergences,
  noteDivergence,
} from './divergence.js';
import type { LogHead } from './head.js';

export interface LogWatch {
  /**
   * Call this before using anything that a server reports about the log.
   * @throws LostConnectionError if the server is a deposed primary. Its log is outdated, not diverged.
   */
  admit(check: Pick<HeadCheck, 'timeline'>): void;
  /**
   * Evaluates a head check. Reports recorded divergences and records new ones.
   * @param seen the end of the events that this process had folded before the check
   * @returns true if `seen` is not in the log, so that everything must be folded again
   */
  examine(check: HeadCheck, seen: LogHead): Promise<boolean>;
  /** Call this if the log does not continue `seen`, which this process has folded. */
  replaced(seen: LogHead): Promise<void>;
  /**
   * Remembers a position that this process has folded. The newest positions show where a diverged log begins to differ.
   */
  remember(place: HashedPosition): void;
  /** Returns the divergence that blocks every change, or undefined. */
  pending(): NotedDivergence | undefined;
  /** Returns the number of divergences that this process has noticed or been notified of since its start. */
  count(): number;
  /** Calls `listener` once per divergence, before anything is folded again. Returns the function that unsubscribes. */
  subscribe(listener: (divergence: NotedDivergence) => void): () => void;
}

export interface LogWatchOptions {
  pool: Queryable;
  logger: Logger;
  /** True while the database is read-only. Until it is writable, divergences are kept in memory. */
  readOnly?: () => boolean;
}

/** Maximum number of remembered positions. */
const REMEMBERED = 2_000;

/**
 * An acknowledgement never covers a lost checkpoint, because the checkpoint is written in the transaction of its
 * events.
 */
const NEVER = Number.MAX_SAFE_INTEGER;

/** The id of a divergence that only this process knows, because the database is read-only. */
const UNWRITTEN = 0;

/** Runs no queries itself. Code that reads the head of the log passes it to `examine`. */
export function createLogWatch({ pool, logger, readOnly = () => false }: LogWatchOptions): LogWatch {
  const seenPositions = new Set<number>();
  /** Recorded divergences that are not acknowledged yet. If someone deletes a row, it is written again. */
  const open = new Map<number, NotedDivergence>();
  const listeners = new Set<(divergence: NotedDivergence) => void>();
  const timelines = createTimelineGuard();
  /** The newest acknowledged divergence at the time when this process had last folded the whole log. */
  let confirmed = 0;
  let path: HashedPosition[] = [];
  let pending: NotedDivergence | undefined;
  let unwritten: { seen: LogPosition; since: number } | undefined;

  const reportDivergence = (divergence: NotedDivergence): void => {
    if (seenPositions.has(divergence.id)) return;
    seenPositions.add(divergence.id);
    if (divergence.id !== UNWRITTEN) open.set(divergence.id, divergence);
    const { seen, found, fork } = divergence;
    logger.error('the log has forked: it no longer contains the events that were read before', {
      lost_after: fork ?? null,
      seen_position: seen.position,
      seen_hash: seen.hash,
      found_position: found.position,
      found_hash: found.hash,
      next: 'verify it (GET /history/verify), then acknowledge the fork: dps acknowledge-log',
    });
    for (const listener of listeners) listener(divergence);
  };

  /** Keeps a divergence that could not be recorded. The next check tries again. */
  const keepUnwritten = (lost: { seen: LogPosition; since: number }, head: LogPosition): void => {
    if (unwritten?.seen.hash !== lost.seen.hash) seenPositions.delete(UNWRITTEN);
    unwritten = lost;
    pending = { id: UNWRITTEN, seen: lost.seen, found: head, noticed_at: new Date().toISOString() };
    reportDivergence(pending);
  };

  const recordDivergence = async (
    check: HeadCheck,
    { seen, since }: { seen: LogPosition; since: number },
  ): Promise<void> => {
    const lost = { seen: { position: seen.position, hash: seen.hash }, since };
    const current = check.head;
    try {
      const unwritable = readOnly();
      const noted = await (unwritable
        ? findAcknowledgedSince(pool, lost)
        : noteDivergence(pool, { ...lost, found: current, path }));
      if (noted === undefined && unwritable) return keepUnwritten(lost, current);
      unwritten = undefined;
      if (noted === undefined) return;
      if (noted.id > check.acknowledged) pending = noted;
      reportDivergence(noted);
    } catch (error) {
      keepUnwritten(lost, current);
      logger.warn('a fork of the log could not be recorded', { error });
    }
  };

  const retryRecording = async (check: HeadCheck): Promise<void> => {
    if (unwritten === undefined) return;
    // The log contains the event after all: the standby was only behind and has caught up.
    const { position, hash } = unwritten.seen;
    if (await isInLog(pool, { position, hash: hash ?? '' })) unwritten = undefined;
    else await recordDivergence(check, unwritten);
  };

  const writeAgain = async (check: HeadCheck): Promise<void> => {
    for (const id of open.keys()) if (id <= check.acknowledged) open.delete(id);
    if (readOnly()) return;
    const unseen = [...open.keys()].filter((id) => !check.pending?.some((each) => each.id === id));
    if (unseen.length === 0) return;
    for (const id of await findMissingDivergences(pool, unseen)) {
      const { seen } = open.get(id) as NotedDivergence;
      open.delete(id);
      await recordDivergence(check, { seen, since: NEVER });
    }
  };

  return {
    admit: ({ timeline }) => timelines.admit(timeline),
    async examine(check, seen) {
      pending = check.pending?.[0];
      for (const each of check.pending ?? []) reportDivergence(each);
      await writeAgain(check);
      await retryRecording(check);
      if (check.forgotten !== null) await recordDivergence(check, { seen: check.forgotten, since: NEVER });
      const replaced = isReplaced(check, seen);
      if (replaced) await recordDivergence(check, { seen, since: confirmed });
      else if (check.head.position === seen.position) confirmed = check.acknowledged;
      return replaced;
    },
    async replaced(seen) {
      const check = await checkHead(pool);
      timelines.admit(check.timeline);
      if (!(await isInLog(pool, seen))) await recordDivergence(check, { seen, since: confirmed });
    },
    remember: ({ position, hash }) => {
      const last = path.at(-1);
      if (last?.hash === hash) return;
      // If the log was replaced, only positions with equal hashes belong to both logs.
      if (last !== undefined && last.position >= position)
        path = path.filter((location) => location.position < position);
      path.push({ position, hash });
      if (path.length > 2 * REMEMBERED) path = path.slice(-REMEMBERED);
    },
    pending: () => pending,
    count: () => seenPositions.size,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
