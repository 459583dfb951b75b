/** A checkpoint's file, as far as a log is held against it here: its signature is for `dps verify`, with keys from elsewhere. */
import { isPosition } from '../../../kernel/position.js';
import type { Place, Result } from './messages.js';

export interface CheckpointFile extends Place {
  file: string;
}

/** Null: it is none. */
export function readCheckpoint(file: string, text: string): CheckpointFile | null {
  const [origin = '', position = '', hash = ''] = text.split('\n');
  if (!text.includes('\n\n') || !isPosition(position)) return null;
  const hex = hexOf(hash);
  return hex === null || origin === '' ? null : { file, origin, position: Number(position), hash: hex };
}

function hexOf(base64: string): string | null {
  try {
    const bytes = Array.from(atob(base64), (letter) => letter.charCodeAt(0).toString(16).padStart(2, '0'));
    return bytes.length === 32 ? bytes.join('') : null;
  } catch {
    return null;
  }
}

/** Why a log isn't the one that was signed; null: it is. */
export function differenceTo(checkpoint: CheckpointFile, { head, broken, places }: Result): string | null {
  const { position, hash, origin } = checkpoint;
  if (position > head.position) {
    return broken === null
      ? `the log ends at position ${head.position}: what came after that is gone, or was not exported`
      : `the log does not hold up to there: it is broken at position ${broken.position}`;
  }
  const there = places.find((place) => place.position === position);
  if (there?.hash !== hash) return `position ${position} has another hash: the log was rewritten, there or before`;
  return there.origin === origin ? null : `it names another log (${origin})`;
}
