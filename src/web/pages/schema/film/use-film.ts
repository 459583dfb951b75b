/** The state of the replay: position, batch, and possible steps. */
import { useQuery } from '@tanstack/react-query';
import { useMemo, useRef } from 'react';
import { momentQuery } from '../../../service/film-queries.js';
import type { ChangedBatch, DocumentChanges } from '../../../service/types.js';
import { type Marks, NO_MARKS, marksOf } from './marks.js';
import { type Changes, type Moment, momentOf } from './moment.js';
import { type Reel, createReel, positionAt } from './reel.js';
import { type Frames, useFrames } from './use-frames.js';

export interface Film {
  /** The shown state, which lags behind the wanted one while data is loading. */
  moment: Moment;
  /** The batch before it; undefined before the first. */
  batch: ChangedBatch | undefined;
  changes: DocumentChanges | null;
  marks: Marks;
  /** Null if there is none in this direction; undefined while loading. */
  previous: number | null | undefined;
  next: number | null | undefined;
  /** The head of the log. */
  head: number;
  isBusy: boolean;
}

export type FilmState =
  { status: 'waiting' } | { status: 'failed'; error: Error; retry: () => void } | ({ status: 'there' } & Film);

/** @param isSmall reads all fields at once */
export function useFilm(wanted: number, isSmall: boolean): FilmState {
  const frames = useFrames(wanted);
  const found = useMoment(frames, isSmall);
  const shown = useRef<Moment>(null);
  if (found.moment !== null) shown.current = found.moment;
  const moment = shown.current;
  const { all } = frames;
  const batch = useMemo(() => all.find(({ last_position: last }) => last === moment?.position), [all, moment]);
  const marks = useMemo(() => marksFor(batch, moment), [batch, moment]);

  const error = found.error ?? frames.error;
  if (error !== null) {
    return { status: 'failed', error, retry: () => void Promise.all([frames.refetch(), found.refetch()]) };
  }
  if (moment === null) return { status: 'waiting' };
  const { head } = frames;
  const changes = batch?.changes ?? null;
  return { status: 'there', moment, batch, changes, marks, ...waysOf(frames), head, isBusy: found.moment === null };
}

function waysOf({ all, index, hasEarlier, hasLater }: Frames): Pick<Film, 'previous' | 'next'> {
  const to = (place: number, isMore: boolean) => {
    if (index === undefined) return undefined;
    if (place >= -1 && place < all.length) return positionAt(all, place);
    return isMore ? undefined : null;
  };
  const at = index ?? 0;
  return { previous: to(at - 1, hasEarlier), next: to(at + 1, hasLater) };
}

function marksFor(batch: ChangedBatch | undefined, moment: Moment | null): Marks {
  if (moment === null || batch?.changes == null) return NO_MARKS;
  return marksOf(batch.changes as unknown as Changes, moment);
}

function useMoment({ all, index }: Frames, isSmall: boolean) {
  const reels = useRef<Record<string, Reel>>({});
  const reel = (reels.current[String(isSmall)] ??= createReel());
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
