/** Notices that the log has moved, and has what depends on it asked for again. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { CHANGE, SCHEMA, infoQuery } from '../service/queries.js';
import type { Info } from '../service/types.js';

/** Milliseconds. A question costs the service less than a connection kept for each tab, of which a browser has six. */
const EVERY = 4_000;

/** What the service says of itself; undefined until it does. */
export function useLive(): { info: Info | undefined; isLost: boolean } {
  const client = useQueryClient();
  const { data: info, isError } = useQuery({ ...infoQuery(), refetchInterval: EVERY });
  const seen = useRef<string>(undefined);
  const head = info && `${info.position} ${info.hash}`;
  useEffect(() => {
    if (head === undefined) return;
    if (seen.current !== undefined && seen.current !== head) {
      void client.invalidateQueries({ queryKey: [SCHEMA] });
      // What people do with change requests stands in the same log.
      void client.invalidateQueries({ queryKey: [CHANGE] });
    }
    seen.current = head;
  }, [client, head]);
  return { info, isLost: isError };
}
