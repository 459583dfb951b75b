/* Identifies attempts, so that a retry takes effect once if there was no response. */
import { useMemo, useRef } from 'react';
import { ConnectionError } from '../service/send.js';

/** Returns a UUID. Over plain http, browsers have no randomUUID. */
export function newId(): string {
  const hex = [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

interface Attempt {
  /**
   * Returns the `Idempotency-Key` of an attempt.
   * @param of the content. Different content is a different attempt
   */
  keyFor: (of: string) => string;
  /**
   * Ends the attempt.
   * @param error null on success. Without a response, the request may have taken effect
   */
  end: (error: Error | null) => void;
}

/** Returns the same object while the component is mounted. */
export function useAttempt(): Attempt {
  const last = useRef<{ key: string; of: string } | null>(null);
  return useMemo(
    () => ({
      keyFor(of) {
        if (last.current?.of !== of) last.current = { key: newId(), of };
        return last.current.key;
      },
      end(error) {
        if (!(error instanceof ConnectionError)) last.current = null;
      },
    }),
    [],
  );
}
