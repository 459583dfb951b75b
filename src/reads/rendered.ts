/** Answers that were rendered once and are sent again as long as what they show hasn't changed. */
import { createHash } from 'node:crypto';

export interface Rendered {
  body: Buffer;
  /** Strong, quoted, the same on every instance: it is computed from the body. */
  etag: string;
  /** The body in a coding: made by `encode` when it is first asked for, by one for all who ask meanwhile, and kept. */
  encoded<C extends string>(coding: C, encode: (body: Buffer, coding: C) => Promise<Buffer>): Promise<Buffer>;
}

export interface RenderedCache {
  /**
   * The answer `key` about `subject`: a state, or a node of it. Subjects are immutable values, so an answer lives as
   * long as its subject and is never stale. Of one subject, the answers used longest ago go when they grow too large.
   */
  get(subject: object, key: string, render: () => string | Buffer): Rendered;
  /** How much is kept; subjects that nobody holds any longer are in it until memory is reclaimed. */
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
  return {
    get: (subject, key, render) => {
      let kept = subjects.get(subject);
      if (kept === undefined) {
        subjects.set(subject, (kept = { answers: new Map(), bytes: 0 }));
        gone.register(subject, kept);
      }
      const found = kept.answers.get(key);
      if (found !== undefined) {
        kept.answers.delete(key);
        kept.answers.set(key, found);
        return found.rendered;
      }
      const entry: Entry = {
        rendered: toRendered(render(), (bytes) => grow(holder, entry, bytes)),
        bytes: 0,
        dropped: false,
      };
      const holder = kept;
      holder.answers.set(key, entry);
      count(1, 0);
      grow(holder, entry, entry.rendered.body.length);
      return entry.rendered;
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

/** The answers about one subject. */
interface Kept {
  answers: Map<string, Entry>;
  bytes: number;
}

/** A body with its entity tag. `onGrown` is told of the bytes that are kept beside it. */
export function toRendered(content: string | Buffer, onGrown: (bytes: number) => void = () => undefined): Rendered {
  const body = typeof content === 'string' ? Buffer.from(content) : content;
  const codings = new Map<string, Promise<Buffer>>();
  return {
    body,
    etag: `"${createHash('sha256').update(body).digest('base64url')}"`,
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
