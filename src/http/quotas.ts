/** Limits for one user of this process. */
import type { ServerResponse } from 'node:http';
import type { Caller } from '../features/accounts/caller.js';
import { createCounts, once } from '../kernel/scheduler.js';
import { onClose } from './answer/stream.js';
import { RejectedError } from './errors.js';

export interface QuotaLimits {
  /** Maximum number of concurrent requests. */
  requests: number;
  /** Maximum number of concurrent streams. */
  streams: number;
}

export interface Quotas {
  /**
   * Counts a request until its response is sent.
   * @throws RejectedError TOO_MANY_REQUESTS
   */
  enter(caller: Caller, res: ServerResponse): void;
  /**
   * Counts an admitted request as a stream from now on.
   * @throws RejectedError TOO_MANY_REQUESTS
   */
  stream(caller: Caller, res: ServerResponse): void;
}

export function createQuotas(limits: QuotaLimits): Quotas {
  const requests = createQuota(limits.requests, 'running requests', 'REQUESTS_PER_USER');
  const streams = createQuota(limits.streams, 'open streams', 'STREAMS_PER_USER');
  const entered = new WeakMap<ServerResponse, () => void>();
  return {
    enter({ id }, res) {
      const leave = requests(id);
      entered.set(res, leave);
      onClose(res, leave);
    },
    stream({ id }, res) {
      onClose(res, streams(id));
      entered.get(res)?.();
    },
  };
}

/**
 * Adds one to the count of a user.
 * @returns a function that subtracts it again
 */
function createQuota(limit: number, name: string, setting: string): (user: string) => () => void {
  const counts = createCounts();
  return (user) => {
    if (counts.of(user) >= limit)
      throw tooMany(`You have ${limit} ${name}, the maximum for one user (${setting}). Try again when one has ended.`);
    counts.add(user, 1);
    return once(() => counts.add(user, -1));
  };
}

const tooMany = (message: string): RejectedError =>
  new RejectedError([{ code: 'TOO_MANY_REQUESTS', message }], ['Retry-After', '1']);
