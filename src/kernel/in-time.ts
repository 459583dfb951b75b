/** The result did not arrive in time. The work may still be running. */
export class NotInTimeError extends Error {
  override readonly name = 'NotInTimeError';
}

/**
 * Returns the result of `work` if it arrives within `limit` milliseconds.
 * @throws NotInTimeError, and the errors of `work`
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
