/**
 * Streams the log to any number of followers for the cost of one. Followers share pages, and only one page is read at a
 * time. The store announces new events, including those of other processes.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { yieldToEventLoop } from '../../kernel/event-loop.js';
import { type EventText, readEventTexts } from '../../log/read.js';
import type { Queryable } from '../../postgres/pool.js';
import { LOG_ERASED } from '../../schema/model/events.js';
import type { Store } from '../state-store.js';

export interface Tail {
  /**
   * Yields events after `after` in order without gaps or repetitions, then waits for new ones. Ends when `signal` is
   * aborted or the tail is closed. It reads only on demand.
   */
  follow(after: number, signal: AbortSignal): AsyncGenerator<readonly EventText[], void, undefined>;
  /** Returns the current number of followers. */
  followers(): number;
  /** Ends all current and future followers. */
  close(): void;
}

export interface TailOptions {
  pool: Queryable;
  store: Pick<Store, 'point' | 'subscribe'>;
}

/** Events per page. A slow follower holds at most one page in memory. */
const PAGE = 50;

/** Followers that are woken in one turn of the event loop. */
const TOGETHER = 16;

/**
 * Milliseconds of pause per follower after all of them were woken. During constant changes, many followers are
 * therefore woken less often and receive several events at once.
 */
const REST_MS = 0.1;

/** Maximum size of all cached pages, in characters. */
const KEPT = 16 * 1024 * 1024;

interface Page {
  events: EventText[];
  characters: number;
  /** The query for missing events, shared by all waiting followers. */
  loading?: Promise<void>;
}

/** Follows the store for the lifetime of the store. Pages are cached and discarded when the log is replaced. */
export function createTail({ pool, store }: TailOptions): Tail {
  const pages = createPages(pool);
  let closing = new AbortController();
  let closed = false;
  let followers = 0;
  const waiting = new Set<() => void>();
  const head = (): number => store.point().head.position;
  let isAnnounced = false;
  let isWaking = false;
  /** The head when all followers were last woken. */
  let wokenAt = 0;

  store.subscribe((_point, replaced, events) => {
    // The log was replaced, so followers start over.
    if (replaced) restart();
    // Cached pages may contain what was erased. Another process does not report whether it erased anything.
    else if (events === undefined || events.some(({ type }) => type === LOG_ERASED)) pages.clear();
    isAnnounced = true;
    if (!isWaking) void wakeAll();
  });

  /** Wakes all followers after an announcement. The response to the announced change is sent first. */
  async function wakeAll(): Promise<void> {
    isWaking = true;
    while (isAnnounced) {
      isAnnounced = false;
      // An announcement without new events wakes nobody.
      if (head() === wokenAt) continue;
      wokenAt = head();
      // Load the page first. Otherwise all followers would wait for the same query and continue in the same turn.
      if (waiting.size > 0 && head() > 0) await pages.after(head() - 1, head()).catch(() => undefined);
      for (const [index, wake] of [...waiting].entries()) {
        if (index % TOGETHER === 0) await yieldToEventLoop();
        wake();
      }
      await sleep(waiting.size * REST_MS, undefined, { ref: false });
    }
    // There must be no await between the check above and this line. Otherwise an announcement could be missed.
    isWaking = false;
  }

  /** Resolves when the head advances or the follower ends. */
  const waitForNews = (ended: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const wake = (): void => {
        waiting.delete(wake);
        ended.removeEventListener('abort', wake);
        resolve();
      };
      waiting.add(wake);
      ended.addEventListener('abort', wake);
    });

  function restart(): void {
    closing.abort();
    closing = new AbortController();
    pages.clear();
    wokenAt = 0;
  }

  return {
    async *follow(after, signal) {
      const ended = AbortSignal.any([signal, closing.signal]);
      followers += 1;
      try {
        for (let at = after; !ended.aborted && !closed;) {
          if (at >= head()) {
            await waitForNews(ended);
            continue;
          }
          const events = await pages.after(at, head());
          at = events.at(-1)?.position ?? at;
          if (events.length > 0) yield events;
        }
      } finally {
        followers -= 1;
      }
    },
    followers: () => followers,
    close: () => {
      closed = true;
      closing.abort();
    },
  };
}

const lastOf = ({ events }: Page): number => events.at(-1)?.position ?? 0;

function createPages(pool: Queryable) {
  const pages = new Map<number, Page>();
  let characters = 0;
  let queue: Promise<void> = Promise.resolve();

  const evict = (): void => {
    for (const [number, page] of pages) {
      if (characters <= KEPT || pages.size === 1) return;
      if (page.loading !== undefined) continue;
      characters -= page.characters;
      pages.delete(number);
    }
  };

  const load = async (page: Page, number: number): Promise<void> => {
    const after = Math.max(lastOf(page), number * PAGE);
    const events = await readEventTexts(pool, { after, upTo: (number + 1) * PAGE, limit: PAGE });
    for (const event of events) {
      page.events.push(event);
      page.characters += event.text.length;
      characters += event.text.length;
    }
    evict();
  };

  /** Marks a page as most recently used. */
  const open = (number: number): Page => {
    const page = pages.get(number) ?? { events: [], characters: 0 };
    pages.delete(number);
    pages.set(number, page);
    return page;
  };

  return {
    /** Returns at least one event after `at` from one page, up to `head`. */
    async after(at: number, head: number): Promise<readonly EventText[]> {
      const number = Math.floor(at / PAGE);
      const upTo = Math.min(head, (number + 1) * PAGE);
      const page = open(number);
      // A query that is already running may have begun before `upTo` was committed.
      if (page.loading !== undefined && lastOf(page) < upTo) await page.loading;
      if (lastOf(page) < upTo) {
        // Pages are read one at a time, so that followers never use more than one connection of the pool.
        page.loading ??= runInTurn(() => load(page, number)).finally(() => delete page.loading);
        await page.loading;
      }
      if (lastOf(page) < upTo) throw new Error(`position ${upTo} was announced and is not in the log`);
      return page.events.slice(at - number * PAGE, upTo - number * PAGE);
    },
    clear: () => {
      pages.clear();
      characters = 0;
    },
  };

  function runInTurn(work: () => Promise<void>): Promise<void> {
    const done = queue.then(work);
    queue = done.catch(() => undefined);
    return done;
  }
}
