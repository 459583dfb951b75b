/** Follows the log by asking for its end, where nothing tells of news: a standby can't LISTEN. */

export interface PollingOptions {
  /** Asked each time; while nothing needs it, only after the longest pause. */
  needed: () => boolean;
  /** Looks at the log, and takes in what is new. @returns its end */
  look: () => Promise<number>;
  onError: (error: unknown) => void;
}

export interface Polling {
  stop(): void;
}

/** Milliseconds: after news, and the longest pause; between them each is twice as long as the one before. */
const PAUSES = { news: 25, quiet: 1_000 };

/** Begins at once. */
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
