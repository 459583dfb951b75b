/** Plays the film: from moment to moment by itself, and by keys wherever one is on the page. */
import { useEffect, useState } from 'react';
import type { Film } from './use-film.js';

export const SPEEDS = [
  { value: '900', label: 'Slow' },
  { value: '350', label: 'Normal' },
  { value: '90', label: 'Fast' },
];

export interface Player {
  isPlaying: boolean;
  toggle: () => void;
  /** Milliseconds of each moment. */
  speed: string;
  setSpeed: (speed: string) => void;
}

/**
 * Stands still at first, and at the end; waits for each moment before it goes on. Keys: `,` back, `.` on, `k` play or
 * pause.
 * @param onGo called with the position of the next moment
 */
export function usePlayer({ previous, next, isBusy }: Film, onGo: (position: number) => void): Player {
  const [isPlaying, setPlaying] = useState(false);
  const [speed, setSpeed] = useState('350');
  const atEnd = next === null;

  useEffect(() => {
    if (isPlaying && atEnd) setPlaying(false);
    if (!isPlaying || isBusy || typeof next !== 'number') return;
    const timer = setTimeout(() => onGo(next), Number(speed));
    return () => clearTimeout(timer);
  }, [isPlaying, atEnd, isBusy, next, speed, onGo]);

  // From the end it starts over.
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

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.closest('input:not([type=range]), textarea, select, [role=dialog]') !== null;
