/** Names what is sent, so that the same again is done once where no answer came. */
import { useMemo, useRef } from 'react';
import { UnreachableError } from '../service/errors.js';
import { newId } from './new-id.js';

export interface Attempt {
  /** @param of what is sent: another one is another try. @returns its `Idempotency-Key` */
  keyFor: (of: string) => string;
  /** @param error null: it was done. Where no answer came, it may have been */
  end: (error: Error | null) => void;
}

/** The same object as long as the component is there. */
export function useAttempt(): Attempt {
  const last = useRef<{ key: string; of: string } | null>(null);
  return useMemo(
    () => ({
      keyFor(of) {
        if (last.current?.of !== of) last.current = { key: newId(), of };
        return last.current.key;
      },
      end(error) {
        if (!(error instanceof UnreachableError)) last.current = null;
      },
    }),
    [],
  );
}
