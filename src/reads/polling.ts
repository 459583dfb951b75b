/** Follows the log by polling its head, because a standby does not support LISTEN. */

export interface PollingOptions {
  /** Called before each poll. While it returns false, the longest pause applies. */
  needed: () => boolean;
  /** Reads new events. @returns the head */
  look: () => Promise<number>;
  onError: (error: unknown) => void;
}

export interface Polling {
  stop(): void;
}

/**
 * The pause after new events, and the longest pause, in milliseconds. Without news, each pause is twice the previous
 * one.
 */
const PAUSES = { news: 25, quiet: 1_000 };

/** The first poll starts immediately. */
export function startPolling({ needed, look, onError }: PollingOptions): Polling {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let pause = PAUSES.news;
  let last = -1;

  const later = (): void => {
    if (stopped) return;
    timer = setTimeout(() => void next(), pause);
    timer.unref();
  };

  const next = async (): Promise<void> => {
    pause = Math.min(PAUSES.quiet, pause * 2);
    if (needed()) {
      try {
        const head = await look();
        if (head !== last) pause = PAUSES.news;
        last = head;
      } catch (error) {
        pause = PAUSES.quiet;
        if (!stopped) onError(error);
      }
    }
    later();
  };

  later();
  return {
    stop: () => {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
