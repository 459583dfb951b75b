/* The state of the replay: position, batch, and possible steps. */
import { useQuery, type UseInfiniteQueryResult, useInfiniteQuery } from '@tanstack/react-query';
import { useMemo, useRef, useEffect, useState } from 'react';
import { momentQuery, framesQuery } from '../../../service/history-queries.js';
import type { ChangedBatch, DocumentChanges } from '../../../service/types.js';
import { type FrameMarks, NO_MARKS, marksOf, type Moment, momentOf, stepTo } from './frame.js';
import { infoQuery } from '../../../service/queries.js';
import { messages } from '../messages.js';

/* The batches around a position, loaded in pages near either end. */

/** Maximum number of cached states, which share most of their documents. */
const KEPT = 80;

interface FrameCache {
  add(moment: Moment): void;
  /**
   * Returns the state after a batch, or before the first if `index` is -1. Null if it cannot be derived and must be
   * read.
   */
  at(frames: readonly ChangedBatch[], index: number): Moment | null;
}

/**
 * Returns the position after the batch at `index`. For an index before the list, the position before the first batch. 0
 * without batches.
 */
const positionAt = (frames: readonly ChangedBatch[], index: number): number =>
  frames[index]?.last_position ?? (frames[0] === undefined ? 0 : frames[0].first_position - 1);

/** Derives neighbours from added states. Keeps the eighty states that were used last. */
function createFrameCache(): FrameCache {
  const kept = new Map<number, Moment>();

  const keep = (moment: Moment): Moment => {
    kept.delete(moment.position);
    kept.set(moment.position, moment);
    for (const position of kept.keys()) {
      if (kept.size <= KEPT) break;
      kept.delete(position);
    }
    return moment;
  };

  /** Steps batch by batch in either direction; null if a batch lacks its changes. */
  const walk = (frames: readonly ChangedBatch[], from: number, to: number): Moment | null => {
    const [side, by] = from < to ? (['after', 1] as const) : (['before', -1] as const);
    let moment = kept.get(positionAt(frames, from)) ?? null;
    for (let index = from; index !== to && moment !== null; index += by) {
      const changes = frames[side === 'after' ? index + 1 : index]?.changes ?? null;
      const position = positionAt(frames, index + by);
      moment = changes && keep(stepTo(side, { moment, changes, position }));
    }
    return moment;
  };

  const isKept = (frames: readonly ChangedBatch[], index: number): boolean =>
    index >= -1 && index < frames.length && kept.has(positionAt(frames, index));

  return {
    add: (moment) => void keep(moment),
    at(frames, index) {
      for (let distance = 0; distance <= frames.length; distance++) {
        for (const from of [index - distance, index + distance]) {
          const walked = isKept(frames, from) ? walk(frames, from, index) : null;
          if (walked !== null) return keep(walked);
        }
      }
      return null;
    },
  };
}

/** Returns the index of the batch of a position. -1 before the first batch. Undefined if it is not loaded. */
function indexAt(frames: readonly ChangedBatch[], position: number): number | undefined {
  if (position === positionAt(frames, -1)) return -1;
  const index = frames.findIndex(({ last_position: last }) => position <= last);
  return index < 0 || position < positionAt(frames, -1) ? undefined : index;
}

const batchesOf = (data: { pages: { batches: ChangedBatch[] }[] } | undefined): readonly ChangedBatch[] =>
  data?.pages.flatMap(({ batches }) => batches) ?? [];

/** Number of batches that are kept loaded on either side. */
const READY = 25;

interface Frames {
  /** The loaded batches. They are consecutive and in order. */
  all: readonly ChangedBatch[];
  /** The index of the wanted batch. -1 before the first one. Undefined while loading. */
  index: number | undefined;
  /** True if earlier batches are not loaded. */
  hasEarlier: boolean;
  hasLater: boolean;
  head: number;
  error: Error | null;
  refetch: () => Promise<unknown>;
}

/**
 * Loads further pages near either end. Starts again at a distant position.
 * @param position limited to the head
 */
function useFrames(position: number): Frames {
  const [anchor, setAnchor] = useState(position);
  const pages = useInfiniteQuery(framesQuery(anchor));
  const { data: info } = useQuery(infoQuery());
  const { data, error, refetch } = pages;
  const all = useMemo(() => batchesOf(data), [data]);
  const last = all.at(-1)?.last_position ?? 0;
  const head = Math.max(info?.position ?? 0, last);
  const index = data && placeOf(all, position, head);
  const isElsewhere = data !== undefined && index === undefined && anchor !== position;

  // A new replay begins there.
  useEffect(() => {
    if (isElsewhere) setAnchor(position);
  }, [isElsewhere, position]);

  const hasLater = last < head;
  useAhead(pages, {
    isNearFirst: index !== undefined && index < READY,
    isNearLast: isCloseToLast(index, all, hasLater),
  });
  // A later error keeps the loaded batches.
  return { all, index, hasEarlier: pages.hasPreviousPage, hasLater, head, error: data ? null : error, refetch };
}

const isCloseToLast = (index: number | undefined, all: readonly ChangedBatch[], hasLater: boolean): boolean =>
  index !== undefined && hasLater && index > all.length - READY;

type Pages = Pick<
  UseInfiniteQueryResult,
  'fetchNextPage' | 'fetchPreviousPage' | 'hasPreviousPage' | 'isFetching' | 'isError'
>;

/** Loads ahead of the end. */
function useAhead(pages: Pages, { isNearFirst, isNearLast }: { isNearFirst: boolean; isNearLast: boolean }): void {
  const { fetchNextPage, fetchPreviousPage } = pages;
  const isIdle = !pages.isFetching && !pages.isError;
  const wantsEarlier = isIdle && isNearFirst && pages.hasPreviousPage;
  const wantsLater = isIdle && isNearLast;
  useEffect(() => {
    if (wantsEarlier) void fetchPreviousPage();
    else if (wantsLater) void fetchNextPage();
  }, [wantsEarlier, wantsLater, fetchNextPage, fetchPreviousPage]);
}

/** Returns the place of a position. A position after the end means the end. */
function placeOf(all: readonly ChangedBatch[], position: number, head: number): number | undefined {
  const last = all.at(-1);
  if (last !== undefined && position > last.last_position && last.last_position >= head) return all.length - 1;
  return indexAt(all, position);
}

export interface Replay {
  /** The shown state, which lags behind the wanted one while data is loading. */
  moment: Moment;
  /** The batch that leads to this state. Undefined before the first one. */
  batch: ChangedBatch | undefined;
  changes: DocumentChanges | null;
  marks: FrameMarks;
  /** The position of the previous step. Null if there is none in this direction. Undefined while loading. */
  previous: number | null | undefined;
  next: number | null | undefined;
  /** The head of the log. */
  head: number;
  isBusy: boolean;
}

type ReplayState =
  { status: 'waiting' } | { status: 'failed'; error: Error; retry: () => void } | ({ status: 'there' } & Replay);

/** @param isSmall reads all fields at once */
export function useReplay(position: number, isSmall: boolean): ReplayState {
  const frames = useFrames(position);
  const current = useMoment(frames, isSmall);
  const shown = useRef<Moment>(null);
  if (current.moment !== null) shown.current = current.moment;
  const moment = shown.current;
  const { all } = frames;
  const batch = useMemo(() => all.find(({ last_position: last }) => last === moment?.position), [all, moment]);
  const marks = useMemo(() => marksFor(batch, moment), [batch, moment]);

  const error = current.error ?? frames.error;
  if (error !== null) {
    return { status: 'failed', error, retry: () => void Promise.all([frames.refetch(), current.refetch()]) };
  }
  if (moment === null) return { status: 'waiting' };
  const { head } = frames;
  const changes = batch?.changes ?? null;
  return { status: 'there', moment, batch, changes, marks, ...waysOf(frames), head, isBusy: current.moment === null };
}

function waysOf({ all, index, hasEarlier, hasLater }: Frames): Pick<Replay, 'previous' | 'next'> {
  const to = (place: number, isMore: boolean) => {
    if (index === undefined) return undefined;
    if (place >= -1 && place < all.length) return positionAt(all, place);
    return isMore ? undefined : null;
  };
  const at = index ?? 0;
  return { previous: to(at - 1, hasEarlier), next: to(at + 1, hasLater) };
}

function marksFor(batch: ChangedBatch | undefined, moment: Moment | null): FrameMarks {
  if (moment === null || batch?.changes == null) return NO_MARKS;
  return marksOf(batch.changes, moment);
}

function useMoment({ all, index }: Frames, isSmall: boolean) {
  const reels = useRef<Record<string, FrameCache>>({});
  const reel = (reels.current[String(isSmall)] ??= createFrameCache());
  const position = index === undefined ? 0 : positionAt(all, index);
  const followed = index === undefined ? null : reel.at(all, index);
  const read = useQuery({ ...momentQuery(position, isSmall), enabled: index !== undefined && followed === null });
  const moment = useMemo(() => {
    if (followed !== null || index === undefined || read.data === undefined) return followed;
    const made = momentOf(position, read.data);
    reel.add(made);
    return made;
  }, [followed, index, read.data, position, reel]);
  return { moment, error: read.error, refetch: read.refetch };
}

/* Plays the replay, with keyboard shortcuts on the whole page. */

export const SPEEDS = [
  { value: '900', label: messages.replay.slow },
  { value: '350', label: messages.replay.normal },
  { value: '90', label: messages.replay.fast },
];

interface Player {
  isPlaying: boolean;
  toggle: () => void;
  /** Milliseconds per step. */
  speed: string;
  setSpeed: (speed: string) => void;
}

/**
 * Starts paused, pauses at the end, and waits for each state. Keys: `,` one step back, `.` one step forward, `k` play
 * or pause.
 * @param onGo called with the next position
 */
export function usePlayer({ previous, next, isBusy }: Replay, onGo: (position: number) => void): Player {
  const [isPlaying, setPlaying] = useState(false);
  const [speed, setSpeed] = useState('350');
  const atEnd = next === null;

  useEffect(() => {
    if (isPlaying && atEnd) setPlaying(false);
    if (!isPlaying || isBusy || typeof next !== 'number') return;
    const timer = setTimeout(() => onGo(next), Number(speed));
    return () => clearTimeout(timer);
  }, [isPlaying, atEnd, isBusy, next, speed, onGo]);

  const toggle = (): void => {
    if (!isPlaying && atEnd) onGo(0);
    setPlaying(!isPlaying);
  };
  useEffect(() => {
    const keys: Readonly<Record<string, () => void>> = {
      ',': () => typeof previous === 'number' && onGo(previous),
      '.': () => typeof next === 'number' && onGo(next),
      k: toggle,
    };
    const onKey = (event: KeyboardEvent): void => {
      const key = keys[event.key];
      if (key === undefined || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      event.preventDefault();
      key();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  });
  return { isPlaying, toggle, speed, setSpeed };
}

export const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.closest('input:not([type=range]), textarea, select, [role=dialog]') !== null;
