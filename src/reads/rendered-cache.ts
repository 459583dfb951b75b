/** Caches rendered responses as long as the data they show does not change. */
import { createHash } from 'node:crypto';
import { SharedBytes } from '../kernel/bytes.js';
import type { Resumable } from '../kernel/resumable.js';
import { runYielding } from '../kernel/event-loop.js';
import { AbandonedError, type Job, runAsRead, currentJob } from '../kernel/scheduler.js';

export interface Rendered {
  body: Buffer | SharedBytes;
  /** A strong entity tag, with quotes. It is computed from the content, so all instances return the same one. */
  etag: string;
  /**
   * Returns the encoded body. The first request runs `encode`, concurrent requests wait for it, and the result is
   * cached.
   */
  encoded<C extends string>(
    coding: C,
    encode: (body: Buffer | SharedBytes, coding: C) => Promise<Buffer | SharedBytes>,
  ): Promise<Buffer | SharedBytes>;
}

/** A body whose digest is not known is hashed. */
type Content = Buffer | DigestedBytes;

/** Renders a response in steps. Returns a promise if it needs to wait first. */
type Render = () => Resumable<Content> | Promise<Resumable<Content>>;

export interface RenderedCache {
  /**
   * Returns the response `key` about `subject`, which is a state or one of its nodes. Subjects are immutable, so a
   * response is never stale and is cached as long as its subject exists. It is rendered in time slices, once for all
   * concurrent requests. Rendering stops when no request waits for it anymore. If it fails, all waiting requests get
   * the error. If the responses about a subject grow too large, the least recently used ones are removed.
   */
  get(subject: object, key: string, render: Render): Promise<Rendered>;
  /**
   * Returns the size of the cache, where unreferenced subjects count until they are garbage-collected, and the number
   * of responses rendered since the start.
   */
  size(): { answers: number; bytes: number; renderings: number };
}

/** @param maxBytes size of the answers about one subject */
export function createRenderedCache({ maxBytes = 64 * 1024 * 1024 } = {}): RenderedCache {
  const subjects = new WeakMap<object, CachedResponses>();
  const size = { answers: 0, bytes: 0, renderings: 0 };
  const count = (answers: number, bytes: number): void => {
    size.answers += answers;
    size.bytes += bytes;
  };
  const registry = new FinalizationRegistry<CachedResponses>((kept) => count(-kept.answers.size, -kept.bytes));
  /** Updates the size of the cache, unless the entry has been removed in the meantime. */
  const grow = (kept: CachedResponses, entry: Entry, bytes: number): void => {
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
  const getKept = (subject: object): CachedResponses => {
    const cached = subjects.get(subject);
    if (cached !== undefined) return cached;
    const kept: CachedResponses = { answers: new Map(), begun: new Map(), bytes: 0 };
    subjects.set(subject, kept);
    registry.register(subject, kept);
    return kept;
  };
  const make = async (kept: CachedResponses, key: string, render: Render): Promise<Rendered> => {
    const rendered = await runYielding(renderInChunks(await render(), (bytes) => grow(kept, entry, bytes)));
    const entry: Entry = { rendered, bytes: 0, dropped: false };
    kept.answers.set(key, entry);
    count(1, 0);
    size.renderings += 1;
    grow(kept, entry, rendered.body.length);
    return rendered;
  };
  const begin = (kept: CachedResponses, key: string, render: Render): PendingRendering => {
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
      const kept = getKept(subject);
      const answer = kept.answers.get(key);
      if (answer !== undefined) {
        kept.answers.delete(key);
        kept.answers.set(key, answer);
        return answer.rendered;
      }
      const job = currentJob();
      for (;;) {
        const begun = kept.begun.get(key) ?? begin(kept, key, render);
        begun.waiting.push(job);
        try {
          return await begun.making;
        } catch (error) {
          // All earlier requests were abandoned, but this one was not.
          if (!(error instanceof AbandonedError) || job.isAbandoned()) throw error;
        }
      }
    },
    size: () => ({ ...size }),
  };
}

interface Entry {
  rendered: Rendered;
  /** Bytes of the body and its encodings. */
  bytes: number;
  dropped: boolean;
}

interface PendingRendering {
  making: Promise<Rendered>;
  waiting: Job[];
}

interface CachedResponses {
  answers: Map<string, Entry>;
  /** Responses that are being rendered. */
  begun: Map<string, PendingRendering>;
  bytes: number;
}

/** Bytes, and a digest that differs if they differ. */
export interface DigestedBytes {
  body: SharedBytes;
  digest: string;
}

/** A part of a body: the text `before`, then the pieces with commas between them. */
export interface Section {
  before: string;
  pieces: readonly Buffer[];
}

interface Group extends Section {
  joined: Buffer;
  digest: string;
}

/** Pieces, and bytes, after which a group ends. Each group is joined and hashed in one step. */
const GROUP_PIECES = 32;
const GROUP_BYTES = 1024 * 1024;

/**
 * Returns a function that joins sections, and the text `end` after them. It joins and hashes only those groups of
 * pieces that differ from its last call. The digest depends on the pieces alone, so all processes compute the same one.
 */
export function createJoiner(): (sections: readonly Section[], end: string) => Resumable<DigestedBytes> {
  let last: readonly (readonly Group[])[] = [];
  // The buffer stays the same while the text does, because data that belongs to part of a body is cached by its
  // buffer.
  let ending = Buffer.alloc(0);
  return function* (sections, end) {
    if (ending.toString() !== end) ending = Buffer.from(end);
    const previous = last;
    const next: Group[][] = [];
    for (const [index, section] of sections.entries()) next.push(yield* joinSection(section, previous[index] ?? []));
    last = next;
    const groups = next.flat();
    const parts = [...groups.map(({ joined }) => joined), ending];
    const hash = createHash('sha256');
    for (const { digest } of groups) hash.update(digest);
    return { body: new SharedBytes(parts), digest: hash.digest('base64url') };
  };
}

function* joinSection({ before, pieces }: Section, previous: readonly Group[]): Resumable<Group[]> {
  const groups: Group[] = [];
  for (let start = 0, end = 0; start === 0 || start < pieces.length; start = end) {
    end = endOfGroup(pieces, start);
    const group = { before: start === 0 ? before : ',', pieces: pieces.slice(start, end) };
    const same = previous[groups.length];
    if (same !== undefined && isSame(group, same)) {
      groups.push(same);
      continue;
    }
    const between = group.pieces.flatMap((piece, at) => (at === 0 ? [piece] : [COMMA, piece]));
    const joined = Buffer.concat([Buffer.from(group.before), ...between]);
    groups.push({ ...group, joined, digest: createHash('sha256').update(joined).digest('base64url') });
    yield;
  }
  return groups;
}

function endOfGroup(pieces: readonly Buffer[], start: number): number {
  let end = start;
  for (let bytes = 0; end < start + GROUP_PIECES && bytes < GROUP_BYTES; end += 1) bytes += pieces[end]?.length ?? 0;
  return end;
}

const COMMA = Buffer.from(',');

const isSame = (a: Section, b: Section): boolean =>
  a.before === b.before && a.pieces.length === b.pieces.length && a.pieces.every((piece, at) => piece === b.pieces[at]);

/** Bytes hashed per step. */
const HASHED = 512 * 1024;

/** Renders a body and its entity tag. `onGrown` receives the number of additional cached bytes. */
export function* renderInChunks(
  content: Resumable<Content>,
  onGrown: (bytes: number) => void = () => undefined,
): Resumable<Rendered> {
  const rendered = yield* content;
  const { body, digest } = Buffer.isBuffer(rendered) ? yield* digestBody(rendered) : rendered;
  const codings = new Map<string, Promise<Buffer | SharedBytes>>();
  return {
    body,
    etag: `"${digest}"`,
    encoded: (coding, encode) => {
      const cached = codings.get(coding);
      if (cached !== undefined) return cached;
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

function* digestBody(body: Buffer): Resumable<{ body: Buffer; digest: string }> {
  const hash = createHash('sha256');
  for (let at = 0; at < body.length; at += HASHED) {
    hash.update(body.subarray(at, at + HASHED));
    yield;
  }
  return { body, digest: hash.digest('base64url') };
}
