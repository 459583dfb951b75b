/** A limit on how long an answer is waited for. */

/** What was waited for did not come in time; it may still be under way. */
export class NotInTimeError extends Error {
  override readonly name = 'NotInTimeError';
}

/**
 * The result of `work`, if it is there within `limit` milliseconds.
 * @throws NotInTimeError, or what `work` throws
 */
export async function inTime<T>(work: Promise<T>, limit: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timedOut = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new NotInTimeError(`no answer within ${limit} ms`)), limit);
  });
  try {
    return await Promise.race([work, timedOut]);
  } finally {
    clearTimeout(timer);
  }
}
