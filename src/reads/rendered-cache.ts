/** Answers that were rendered once and are sent again as long as what they show hasn't changed. */
import { createHash } from 'node:crypto';
import type { Resumable } from '../kernel/resumable.js';
import { runYielding } from '../kernel/event-loop.js';
import { AbandonedError, type Job, runAsRead, currentJob } from '../kernel/scheduler.js';

export interface Rendered {
  body: Buffer;
  /** Strong, quoted, the same on every instance: it is computed from the body. */
  etag: string;
  /** The body in a coding: made by `encode` when it is first asked for, by one for all who ask meanwhile, and kept. */
  encoded<C extends string>(coding: C, encode: (body: Buffer, coding: C) => Promise<Buffer>): Promise<Buffer>;
}

/** In steps, or in several runs of them, which others may interrupt. */
type Render = () => Resumable<Buffer> | Promise<Resumable<Buffer>>;

export interface RenderedCache {
  /**
   * The answer `key` about `subject`: a state, or a node of it. Subjects are immutable values, so an answer lives as
   * long as its subject and is never stale. It is rendered in time slices, once for all concurrent requests, until none of
   * them waits for it; what `render` throws, all of them get. Of one subject, the answers used longest ago go when they
   * grow too large.
   */
  get(subject: object, key: string, render: Render): Promise<Rendered>;
  /** How much is kept; subjects that are not referenced any longer are in it until memory is reclaimed. */
  size(): { answers: number; bytes: number };
}

/** @param maxBytes of answers about one subject */
export function createRenderedCache({ maxBytes = 64 * 1024 * 1024 } = {}): RenderedCache {
  const subjects = new WeakMap<object, Kept>();
  const size = { answers: 0, bytes: 0 };
  const count = (answers: number, bytes: number): void => {
    size.answers += answers;
    size.bytes += bytes;
  };
  const gone = new FinalizationRegistry<Kept>((kept) => count(-kept.answers.size, -kept.bytes));
  /** An answer that was dropped meanwhile is no longer counted. */
  const grow = (kept: Kept, entry: Entry, bytes: number): void => {
    if (entry.dropped) return;
    entry.bytes += bytes;
    kept.bytes += bytes;
    count(0, bytes);
    for (const [oldest, each] of kept.answers) {
      if (kept.bytes <= maxBytes || each === entry) break;
      kept.answers.delete(oldest);
      each.dropped = true;
      kept.bytes -= each.bytes;
      count(-1, -each.bytes);
    }
  };
  const keptOf = (subject: object): Kept => {
    const found = subjects.get(subject);
    if (found !== undefined) return found;
    const kept: Kept = { answers: new Map(), begun: new Map(), bytes: 0 };
    subjects.set(subject, kept);
    gone.register(subject, kept);
    return kept;
  };
  const make = async (kept: Kept, key: string, render: Render): Promise<Rendered> => {
    const rendered = await runYielding(renderedChunks(await render(), (bytes) => grow(kept, entry, bytes)));
    const entry: Entry = { rendered, bytes: 0, dropped: false };
    kept.answers.set(key, entry);
    count(1, 0);
    grow(kept, entry, rendered.body.length);
    return rendered;
  };
  const begin = (kept: Kept, key: string, render: Render): Begun => {
    const waiting: Job[] = [];
    const isAbandoned = (): boolean => waiting.every((job) => job.isAbandoned());
    const over = (): void => void kept.begun.delete(key);
    const making = runAsRead(currentJob().caller, isAbandoned, () => make(kept, key, render));
    const begun = { making, waiting };
    kept.begun.set(key, begun);
    making.then(over, over);
    return begun;
  };
  return {
    async get(subject, key, render) {
      const kept = keptOf(subject);
      const found = kept.answers.get(key);
      if (found !== undefined) {
        kept.answers.delete(key);
        kept.answers.set(key, found);
        return found.rendered;
      }
      const job = currentJob();
      for (;;) {
        const begun = kept.begun.get(key) ?? begin(kept, key, render);
        begun.waiting.push(job);
        try {
          return await begun.making;
        } catch (error) {
          // All who had waited before had left.
          if (!(error instanceof AbandonedError) || job.isAbandoned()) throw error;
        }
      }
    },
    size: () => ({ ...size }),
  };
}

interface Entry {
  rendered: Rendered;
  /** Of the body, and of what it was encoded to. */
  bytes: number;
  dropped: boolean;
}

interface Begun {
  making: Promise<Rendered>;
  waiting: Job[];
}

/** The answers about one subject. */
interface Kept {
  answers: Map<string, Entry>;
  /** Those that are being rendered. */
  begun: Map<string, Begun>;
  bytes: number;
}

/** Bytes that are hashed at once. */
const HASHED = 512 * 1024;

/** A body with its entity tag. `onGrown` is told of the bytes that are kept beside it. */
export function* renderedChunks(
  content: Resumable<Buffer>,
  onGrown: (bytes: number) => void = () => undefined,
): Resumable<Rendered> {
  const body = yield* content;
  const hash = createHash('sha256');
  for (let at = 0; at < body.length; at += HASHED) {
    hash.update(body.subarray(at, at + HASHED));
    yield;
  }
  const codings = new Map<string, Promise<Buffer>>();
  return {
    body,
    etag: `"${hash.digest('base64url')}"`,
    encoded: (coding, encode) => {
      const found = codings.get(coding);
      if (found !== undefined) return found;
      const made = encode(body, coding);
      codings.set(coding, made);
      made.then(
        (bytes) => onGrown(bytes.length),
        () => codings.delete(coding),
      );
      return made;
    },
  };
}
