/** What this process knows of the log being another one than was seen: noticed by itself, or written down by others. */
import { createTimelineGuard } from '../postgres/hosts/timeline.js';
import type { Logger } from '../postgres/logger.js';
import type { Queryable } from '../postgres/pool.js';
import type { LogPlace } from '../schema/model/events.js';
import {
  type HeadCheck,
  type NotedDivergence,
  type Place,
  acknowledgedSince,
  checkHead,
  isInLog,
  isReplaced,
  missingDivergences,
  noteDivergence,
} from './divergence.js';
import type { LogHead } from './head.js';

export interface LogWatch {
  /**
   * Before anything that a server said of the log is believed.
   * @throws LostConnectionError from a primary that was deposed: its log isn't another one, it is an old one
   */
  admit(check: Pick<HeadCheck, 'timeline'>): void;
  /**
   * Looks at a head check: what was written down is told, and what shows itself is written down.
   * @param seen the end of what this process had folded before it asked
   * @returns whether `seen` isn't in the log, so that everything has to be folded again
   */
  examine(check: HeadCheck, seen: LogHead): Promise<boolean>;
  /** What is in the log doesn't go on from `seen`, which this process has folded. */
  replaced(seen: LogHead): Promise<void>;
  /** A place that this process has folded up to; the newest are remembered, to tell from where on a log is another one. */
  remember(place: Place): void;
  /** What blocks every change now; undefined: nothing. */
  pending(): NotedDivergence | undefined;
  /** Divergences that this process has been told of or has noticed, since it started. */
  count(): number;
  /** Told of each divergence once, before anything is folded again. Returns what ends it. */
  subscribe(listener: (divergence: NotedDivergence) => void): () => void;
}

export interface LogWatchOptions {
  pool: Queryable;
  logger: Logger;
  /** The database takes no rows now: what is noticed is kept here until it does. */
  readOnly?: () => boolean;
}

/** Places of a log that are remembered. */
const REMEMBERED = 2_000;

/** Nothing that was acknowledged speaks for a checkpoint: it is written with every event. */
const NEVER = Number.MAX_SAFE_INTEGER;

/** The database took no row, a standby for one: it is a divergence of this process alone. */
const UNWRITTEN = 0;

/** Asks nothing by itself: whoever reads the head of the log hands it to `examine`. */
export function createLogWatch({ pool, logger, readOnly = () => false }: LogWatchOptions): LogWatch {
  const known = new Set<number>();
  /** Written down, and not seen acknowledged yet: a row that is deleted is written again. */
  const open = new Map<number, NotedDivergence>();
  const listeners = new Set<(divergence: NotedDivergence) => void>();
  const timelines = createTimelineGuard();
  /** The newest acknowledged divergence when this process's fold was last seen to end where the log does. */
  let confirmed = 0;
  let path: Place[] = [];
  let pending: NotedDivergence | undefined;
  let unwritten: { seen: LogPlace; since: number } | undefined;

  const tell = (divergence: NotedDivergence): void => {
    if (known.has(divergence.id)) return;
    known.add(divergence.id);
    if (divergence.id !== UNWRITTEN) open.set(divergence.id, divergence);
    const { seen, found, fork } = divergence;
    logger.error('the log is not the one that was seen', {
      lost_after: fork ?? null,
      seen_position: seen.position,
      seen_hash: seen.hash,
      found_position: found.position,
      found_hash: found.hash,
      next: 'look at it (GET /history/verify), then acknowledge it: dps acknowledge-log',
    });
    for (const listener of listeners) listener(divergence);
  };

  /** It counts although it isn't written down, which the next look tries. */
  const keep = (lost: { seen: LogPlace; since: number }, found: LogPlace): void => {
    if (unwritten?.seen.hash !== lost.seen.hash) known.delete(UNWRITTEN);
    unwritten = lost;
    pending = { id: UNWRITTEN, seen: lost.seen, found, noticed_at: new Date().toISOString() };
    tell(pending);
  };

  const note = async (check: HeadCheck, { seen, since }: { seen: LogPlace; since: number }): Promise<void> => {
    const lost = { seen: { position: seen.position, hash: seen.hash }, since };
    const found = check.head;
    try {
      const unwritable = readOnly();
      const noted = await (unwritable ? acknowledgedSince(pool, lost) : noteDivergence(pool, { ...lost, found, path }));
      if (noted === undefined && unwritable) return keep(lost, found);
      unwritten = undefined;
      if (noted === undefined) return;
      if (noted.id > check.acknowledged) pending = noted;
      tell(noted);
    } catch (error) {
      keep(lost, found);
      logger.warn('a divergence of the log could not be written down', { error });
    }
  };

  const noteAgain = async (check: HeadCheck): Promise<void> => {
    if (unwritten === undefined) return;
    // A standby that was only behind has caught up with what was seen.
    const { position, hash } = unwritten.seen;
    if (await isInLog(pool, { position, hash: hash ?? '' })) unwritten = undefined;
    else await note(check, unwritten);
  };

  const writeAgain = async (check: HeadCheck): Promise<void> => {
    for (const id of open.keys()) if (id <= check.acknowledged) open.delete(id);
    if (readOnly()) return;
    const unseen = [...open.keys()].filter((id) => !check.pending?.some((each) => each.id === id));
    if (unseen.length === 0) return;
    for (const id of await missingDivergences(pool, unseen)) {
      const { seen } = open.get(id) as NotedDivergence;
      open.delete(id);
      await note(check, { seen, since: NEVER });
    }
  };

  return {
    admit: ({ timeline }) => timelines.admit(timeline),
    async examine(check, seen) {
      pending = check.pending?.[0];
      for (const each of check.pending ?? []) tell(each);
      await writeAgain(check);
      await noteAgain(check);
      if (check.forgotten !== null) await note(check, { seen: check.forgotten, since: NEVER });
      const replaced = isReplaced(check, seen);
      if (replaced) await note(check, { seen, since: confirmed });
      else if (check.head.position === seen.position) confirmed = check.acknowledged;
      return replaced;
    },
    async replaced(seen) {
      const check = await checkHead(pool);
      timelines.admit(check.timeline);
      if (!(await isInLog(pool, seen))) await note(check, { seen, since: confirmed });
    },
    remember: ({ position, hash }) => {
      const last = path.at(-1);
      if (last?.hash === hash) return;
      // Of another log than before: the places that both have are few, and told by their hashes.
      if (last !== undefined && last.position >= position) path = path.filter((place) => place.position < position);
      path.push({ position, hash });
      if (path.length > 2 * REMEMBERED) path = path.slice(-REMEMBERED);
    },
    pending: () => pending,
    count: () => known.size,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
