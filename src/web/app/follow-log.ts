/** Notices new events and invalidates the queries that depend on them. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { CHANGE, SCHEMA, infoQuery } from '../service/queries.js';
import type { Info } from '../service/types.js';

/** Milliseconds. A poll is cheaper than one connection per tab, of which a browser allows six. */
const EVERY = 4_000;

/** Information about the service; undefined until it responds. */
export function useLive(): { info: Info | undefined; isLost: boolean } {
  const client = useQueryClient();
  const { data: info, isError } = useQuery({ ...infoQuery(), refetchInterval: EVERY });
  const seen = useRef<string>(undefined);
  const head = info && `${info.position} ${info.hash}`;
  useEffect(() => {
    if (head === undefined) return;
    if (seen.current !== undefined && seen.current !== head) {
      void client.invalidateQueries({ queryKey: [SCHEMA] });
      // Events of change requests are in the same log.
      void client.invalidateQueries({ queryKey: [CHANGE] });
    }
    seen.current = head;
  }, [client, head]);
  return { info, isLost: isError };
}
