/** Answers that were rendered once and are sent again as long as what they show hasn't changed. */
import { createHash } from 'node:crypto';

export interface Rendered {
  body: Buffer;
  /** Strong, quoted, the same on every instance: it is computed from the body. */
  etag: string;
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
        return found;
      }
      const rendered = toRendered(render());
      kept.answers.set(key, rendered);
      kept.bytes += rendered.body.length;
      count(1, rendered.body.length);
      for (const [oldest, { body }] of kept.answers) {
        if (kept.bytes <= maxBytes || oldest === key) break;
        kept.answers.delete(oldest);
        kept.bytes -= body.length;
        count(-1, -body.length);
      }
      return rendered;
    },
    size: () => ({ ...size }),
  };
}

/** The answers about one subject. */
interface Kept {
  answers: Map<string, Rendered>;
  bytes: number;
}

/** A body with its entity tag. */
export function toRendered(content: string | Buffer): Rendered {
  const body = typeof content === 'string' ? Buffer.from(content) : content;
  return { body, etag: `"${createHash('sha256').update(body).digest('base64url')}"` };
}
