/** Reads a checkpoint file for a comparison. Its signature is checked by `dps verify` with keys from elsewhere. */
import { isPosition } from '../../../kernel/position.js';
import type { Place, Result } from './messages.js';

export interface CheckpointFile extends Place {
  file: string;
}

/** Null if it is invalid. */
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

/** The difference between the log and a checkpoint; null if they match. */
export function differenceTo(checkpoint: CheckpointFile, { head, broken, places }: Result): string | null {
  const { position, hash, origin } = checkpoint;
  if (position > head.position) {
    return broken === null
      ? `The event log ends at position ${head.position}. Later events were deleted or not exported`
      : `The hash chain is already broken at position ${broken.position}`;
  }
  const there = places.find((place) => place.position === position);
  if (there?.hash !== hash)
    return `The hash at position ${position} differs. The event log was rewritten at or before this position`;
  return there.origin === origin ? null : `The checkpoint belongs to another event log (${origin})`;
}
