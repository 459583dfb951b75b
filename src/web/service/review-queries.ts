import { queryOptions } from '@tanstack/react-query';
import type { SchemaDiff as DraftedDiff } from '../../schema/diff/diff.js';
import type { SchemaObject } from '../../schema/model/object-document.js';
import type { Resolution } from '../../schema/merge/model.js';
import type { Acknowledgement } from '../../schema/policy.js';
import { CHANGE, SCHEMA } from './queries.js';
import { answerTo, reasonHeader, request, requestAnswer } from './request.js';
import { readAnswer, ServiceError } from './send.js';
import { pathOf } from '../../client/request.js';
import type { ChangeRequest, Plan, SchemaDiff, Finding } from './types.js';

/* Sends conflict resolutions until the server accepts them. */

/**
 * Concurrent changes may end a conflict. Its resolution is dropped, and the rest is sent again.
 * @throws other errors of `send`
 */
export async function sendResolutions<T>(
  resolutions: readonly Resolution[],
  send: (resolutions: readonly Resolution[]) => Promise<T>,
): Promise<T> {
  let left = resolutions;
  for (;;) {
    try {
      return await send(left);
    } catch (error) {
      const needed = neededResolutions(left, error);
      if (needed === null) throw error;
      left = needed;
    }
  }
}

/** Matches the path of the first unused resolution in an error of the service: `resolve[2].place`. */
const NEEDLESS = /^resolve\[(\d+)\]\.place$/;

/** Returns the resolutions that are still needed. Null for other errors. */
function neededResolutions(resolutions: readonly Resolution[], error: unknown): readonly Resolution[] | null {
  if (!(error instanceof ServiceError)) return null;
  const named = error.problems.map(({ extensions }) => NEEDLESS.exec(extensions.path ?? '')?.[1]);
  if (named.includes(undefined)) return null;
  const needless = new Set(named.map(Number));
  const needed = resolutions.filter((_, index) => !needless.has(index));
  return needed.length < resolutions.length ? needed : null;
}

/** A reviewed diff from a state of the schema. */
export interface Reviewed {
  /** The hash of its base schema. */
  hash: string;
  /** The position of its base schema. */
  position: number;
  diff: Partial<SchemaDiff>;
  warnings: readonly Finding[];
}

async function readReviewed(answer: Response): Promise<Reviewed> {
  const { hash, diff, warnings = [] } = await readAnswer<Omit<Reviewed, 'warnings'> & { warnings?: Finding[] }>(answer);
  return { hash, diff, warnings, position: Number(answer.headers.get('x-log-position')) };
}

/** The diff from now to a past state. */
export const readPast = async (to: string, signal: AbortSignal): Promise<Reviewed> =>
  readReviewed(await requestAnswer('diffMoments', { query: { to }, signal }));

export interface SentFile {
  content: Blob;
  type: string;
}

/**
 * The diff from the current schema to a file. Nothing is changed.
 * @param options.mirror true to delete what is missing from the file
 * @param options.force true to accept a file of another release or product
 */
export async function compareFile(
  file: SentFile,
  { mirror, force }: { mirror: boolean; force: boolean },
  signal: AbortSignal,
): Promise<Reviewed> {
  const query = { mode: mirror ? 'mirror' : 'merge', force } as const;
  return readReviewed(await requestAnswer('diffSnapshot', { query, file, signal }));
}

/**
 * Reads the definition of an object, which contains its name. Nothing is changed.
 * @returns null if the schema already contains exactly this object
 * @throws ServiceError at `objects[0]`
 */
export async function readDefinedObject(
  object: Pick<SchemaObject, 'kind' | 'definition' | 'comment'>,
  release: string,
): Promise<SchemaObject | null> {
  const body = { version: 1, service: release, vendor: 'postgres', objects: [object] };
  const { diff } = await readAnswer<Reviewed>(await answerTo('diffSnapshot', { query: { mode: 'merge' }, body }));
  const [item] = diff.objects ?? [];
  if (item === undefined) return null;
  const [entry] = item.diff;
  return entry?.kind === 'N' && entry.path === undefined ? (entry.rhs as SchemaObject) : { ...object, id: item.id };
}

export interface Merging {
  /** The point in time at which the file was created. */
  base: string | number;
  resolve: readonly Resolution[];
  mirror: boolean;
  force: boolean;
}

/**
 * The changes of a file since its base, applied to the current schema.
 * @throws ServiceError MERGE_CONFLICT with each location and its three values
 */
export async function mergeFile(
  file: SentFile,
  { base, resolve, mirror, force }: Merging,
  signal: AbortSignal,
): Promise<Reviewed> {
  const query = { mode: mirror ? 'mirror' : 'merge', force } as const;
  const theirs = await jsonOf(file);
  return sendResolutions(resolve, async (needed) => {
    const before = `{"base":${JSON.stringify(base)},"resolve":${JSON.stringify(needed)},"theirs":`;
    const content = new Blob([before, theirs, '}']);
    const file = { content, type: 'application/json' };
    return readReviewed(await requestAnswer('mergeSnapshot', { query, file, signal }));
  });
}

/**
 * The changes of an environment since the last common schema, applied to the current schema.
 * @throws ServiceError like `mergeFile`
 */
export const mergeEnvironment = (id: string, resolve: readonly Resolution[], signal: AbortSignal): Promise<Reviewed> =>
  sendResolutions(resolve, async (needed) =>
    readReviewed(await requestAnswer('mergeEnvironment', { params: { id }, body: { resolve: [...needed] }, signal })),
  );

/** The byte order mark U+FEFF in UTF-8. */
const MARK = [0xef, 0xbb, 0xbf];

/** Sends a JSON file unchanged, except for a byte order mark, which is allowed only at the start of a body. */
async function jsonOf(file: SentFile): Promise<Blob | string> {
  if (file.type !== 'application/json') return JSON.stringify((await readDocument(file)) ?? null);
  const blob = new Blob([file.content]);
  const start = new Uint8Array(await blob.slice(0, MARK.length).arrayBuffer());
  return MARK.every((byte, index) => start[index] === byte) ? blob.slice(MARK.length) : file.content;
}

/** @throws Error if the file is neither JSON nor YAML */
export async function readDocument({ content, type }: SentFile): Promise<unknown> {
  // Does not block the page, however large the file is.
  if (type === 'application/json') return readAnswer(new Response(content));
  const { readYaml } = await import('./yaml.js');
  return readYaml(await content.text());
}

/** The changes by others between a file's base and a position. */
export const keptQuery = (base: string | number, position: number) =>
  queryOptions({
    queryKey: ['kept', base, position],
    staleTime: Infinity,
    queryFn: async ({ signal }) =>
      (await request('diffMoments', { query: { from: String(base), to: String(position) }, signal })).diff,
  });

/** The changes since a point in time. */
export const changesSinceQuery = (then: string) =>
  queryOptions({
    queryKey: ['since then', then],
    queryFn: async ({ signal }) => (await request('diffMoments', { query: { from: then }, signal })).diff,
  });

/** True if the log contains the event at which a snapshot was created. */
export const isOwnOriginQuery = ({ position, hash }: { position: number; hash: string }) =>
  queryOptions({
    queryKey: ['own origin', position, hash],
    queryFn: async ({ signal }) => {
      const event = request('getEvent', { params: { position }, signal });
      try {
        return (await event).data.hash.startsWith(hash);
      } catch (error) {
        if (error instanceof ServiceError && error.status === 404) return false;
        throw error;
      }
    },
  });

/** Recent points in time for the base of a file, if the user may read them. */
export const momentsQuery = () =>
  queryOptions({
    queryKey: [SCHEMA, 'moments'],
    queryFn: async ({ signal }) => (await request('listBatches', { query: { limit: 20 }, signal })).data,
  });

export interface ApplyInput {
  hash: string;
  /** Returns the diff. It is computed when it is sent. */
  diff: () => Partial<SchemaDiff> | DraftedDiff;
  online: boolean;
  purge: boolean;
  /** Acknowledged findings. */
  acknowledge?: readonly Acknowledgement[];
}

const optionsOf = ({ online, purge }: ApplyInput) => ({ online, purge });

const bodyOf = ({ hash, diff, acknowledge = [] }: ApplyInput) => ({
  hash,
  diff: diff(),
  ...(acknowledge.length > 0 && { acknowledge: [...acknowledge] }),
});

/** The plan without running or locking anything. */
export const explain = (applying: ApplyInput, signal?: AbortSignal): Promise<Plan> =>
  request('applyDiff', {
    query: { ...optionsOf(applying), explain: true },
    body: bodyOf(applying),
    ...(signal && { signal }),
  }) as Promise<Plan>;

/** Starts a dry run, which PostgreSQL runs and rolls back. */
export const rehearse = (applying: ApplyInput): Promise<Plan> =>
  request('applyDiff', { query: { ...optionsOf(applying), dry_run: true }, body: bodyOf(applying) }) as Promise<Plan>;

/** The path of the apply request, for export. */
export const addressOf = (applying: ApplyInput): string => pathOf('applyDiff', { query: optionsOf(applying) });

export type ApplyResult =
  /**
   * The change was applied. `isDataLost` is true if rows or values are permanently deleted, although nobody requested
   * that.
   */
  | { kind: 'done'; batch: string | null; position: number; isDataLost: boolean }
  | { kind: 'opened'; change: ChangeRequest };

/**
 * @param options.key identifies the attempt. A repetition with the same key gets the same response and takes effect only
 *   once
 * @param options.lossless true if the service must reject the change if rows or values would be lost
 */
export async function apply(
  applying: ApplyInput,
  { reason, key, lossless }: { reason: string; key: string; lossless: boolean },
): Promise<ApplyResult> {
  const answer = await requestAnswer('applyDiff', {
    query: { ...optionsOf(applying), ...(lossless && { lossless }) },
    body: bodyOf(applying),
    headers: { ...reasonHeader(reason), 'If-Match': `"${applying.hash}"`, 'Idempotency-Key': key },
  });
  if (answer.status !== 202) {
    // The browser ends the request when the response has been read.
    await answer.arrayBuffer();
    const position = Number(answer.headers.get('x-log-position'));
    return { kind: 'done', batch: answer.headers.get('x-batch-id'), position, isDataLost: isDataLost(answer) };
  }
  return { kind: 'opened', change: (await readAnswer<{ data: ChangeRequest }>(answer)).data };
}

const LOSSES: ReadonlySet<string> = new Set(['DATA_NOT_KEPT', 'DATA_NOT_RESTORED']);

const isDataLost = ({ headers }: Response): boolean =>
  (headers.get('x-warnings') ?? '').split(',').some((code) => LOSSES.has(code.trim()));

/**
 * Changes by others since a position.
 * @param isNamed true to include actors, if the user may read them
 */
export const sinceQuery = (position: number, now: number | undefined, isNamed: boolean) =>
  queryOptions({
    queryKey: ['since', position, now, isNamed],
    enabled: now !== undefined && now !== position,
    staleTime: Infinity,
    queryFn: async ({ signal }) => {
      const [{ diff }, { data }] = await Promise.all([
        request('diffMoments', { query: { from: String(position), to: now?.toString() }, signal }),
        isNamed ? request('listBatches', { query: { limit: 20 }, signal }) : { data: [] },
      ]);
      return { diff, batches: data.filter(({ last_position: last }) => last > position) };
    },
  });

/** Recent changes to a collection. */
export const recentChangesQuery = (collection: string) =>
  queryOptions({
    queryKey: [SCHEMA, 'lately', collection],
    staleTime: Infinity,
    queryFn: async ({ signal }) => (await request('listBatches', { query: { collection, limit: 1 }, signal })).data,
  });

const FOLLOWED_EVERY = 1_000;
/** Milliseconds between refetches. Approvals and the plan may change while the request waits for people. */
const LOOKED_AT_EVERY = 10_000;
const WAITS: ReadonlySet<string> = new Set(['open', 'approved', 'rejected', 'scheduled']);

const isOver = ({ state, cleaning }: ChangeRequest): boolean =>
  ['applied', 'failed', 'withdrawn'].includes(state) && !cleaning;

/** Refetched every second while it runs, every ten seconds while it waits for people, and never after its end. */
export const changeQuery = (id: string) =>
  queryOptions({
    queryKey: [CHANGE, id],
    queryFn: async ({ signal }) => (await request('getChange', { params: { id }, signal })).data,
    refetchInterval: ({ state: { data } }) => {
      if (data !== undefined && isOver(data)) return false;
      return data !== undefined && WAITS.has(data.state) ? LOOKED_AT_EVERY : FOLLOWED_EVERY;
    },
  });

/**
 * Withdraws a change request and its preparation.
 * @throws ServiceError if its state does not allow it
 */
export const withdraw = (id: string) => request('withdrawChange', { params: { id } });
