/** Sends conflict resolutions until the server accepts them. */
import type { Resolution } from '../../schema/merge/model.js';
import { RefusedError } from './errors.js';

/**
 * Concurrent changes may end a conflict. Its resolution is dropped, and the rest is sent again.
 * @throws other errors of `send`
 */
export async function resolving<T>(
  resolutions: readonly Resolution[],
  send: (resolutions: readonly Resolution[]) => Promise<T>,
): Promise<T> {
  let left = resolutions;
  for (;;) {
    try {
      return await send(left);
    } catch (error) {
      const needed = neededOf(left, error);
      if (needed === null) throw error;
      left = needed;
    }
  }
}

/** The service names the first unused resolution: `resolve[2].place`. */
const NEEDLESS = /^resolve\[(\d+)\]\.place$/;

/** Null for other errors. */
function neededOf(resolutions: readonly Resolution[], error: unknown): readonly Resolution[] | null {
  if (!(error instanceof RefusedError)) return null;
  const named = error.problems.map(({ extensions }) => NEEDLESS.exec(extensions.path ?? '')?.[1]);
  if (named.includes(undefined)) return null;
  const needless = new Set(named.map(Number));
  const needed = resolutions.filter((_, index) => !needless.has(index));
  return needed.length < resolutions.length ? needed : null;
}
