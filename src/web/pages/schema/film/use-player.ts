/** Plays the replay, with keyboard shortcuts on the whole page. */
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
  /** Milliseconds per step. */
  speed: string;
  setSpeed: (speed: string) => void;
}

/**
 * Starts paused, pauses at the end, and waits for each state. Keys: `,` back, `.` forward, `k` play or pause.
 * @param onGo called with the next position
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
