/** What a review asks of the service, and what it sends. */
import { queryOptions } from '@tanstack/react-query';
import type { SchemaDiff as DraftedDiff } from '../../schema/diff/diff.js';
import type { Resolution } from '../../schema/merge/model.js';
import type { Acknowledgement } from '../../schema/policy/index.js';
import { CHANGE, SCHEMA } from './queries.js';
import { reasonHeader } from './reason.js';
import { request, requestAnswer, withQuery } from './request.js';
import { resolving } from './resolving.js';
import { readAnswer } from './send.js';
import type { Batch, ChangeRequest, Plan, SchemaDiff, Finding } from './types.js';

/** What is reviewed: what turns one moment of the schema into what is wanted. */
export interface Reviewed {
  /** Of the schema that it starts from. */
  hash: string;
  /** Of the log, where that schema was read. */
  position: number;
  diff: Partial<SchemaDiff>;
  warnings: readonly Finding[];
}

async function reviewedBy(answer: Response): Promise<Reviewed> {
  const { hash, diff, warnings = [] } = await readAnswer<Omit<Reviewed, 'warnings'> & { warnings?: Finding[] }>(answer);
  return { hash, diff, warnings, position: Number(answer.headers.get('x-log-position')) };
}

/** What leads from now to a moment. */
export const readPast = async (to: string, signal: AbortSignal): Promise<Reviewed> =>
  reviewedBy(await requestAnswer(withQuery('/history/diff', { to }), { signal }));

export interface SentFile {
  content: Blob;
  /** Its media type. */
  type: string;
}

/**
 * What leads from the schema as it is now to that of a file. Nothing is changed by it.
 * @param options.mirror delete what is missing from the file
 * @param options.force accept a file of another release or product
 */
export async function compareFile(
  file: SentFile,
  { mirror, force }: { mirror: boolean; force: boolean },
  signal: AbortSignal,
): Promise<Reviewed> {
  const query = { mode: mirror ? 'mirror' : 'merge', force: force ? 'true' : undefined };
  return reviewedBy(await requestAnswer(withQuery('/schema/diff', query), { method: 'POST', file, signal }));
}

export interface Merging {
  /** The moment that the file was made from. */
  base: string | number;
  resolve: readonly Resolution[];
  mirror: boolean;
  force: boolean;
}

/**
 * What the file changes since it was made, on the schema as it is now: what others changed since stays.
 * @throws RefusedError MERGE_CONFLICT with each place and its three values
 */
export async function mergeFile(
  file: SentFile,
  { base, resolve, mirror, force }: Merging,
  signal: AbortSignal,
): Promise<Reviewed> {
  const query = { mode: mirror ? 'mirror' : 'merge', force: force ? 'true' : undefined };
  const theirs = await jsonOf(file);
  return resolving(resolve, async (needed) => {
    const before = `{"base":${JSON.stringify(base)},"resolve":${JSON.stringify(needed)},"theirs":`;
    const content = new Blob([before, theirs, '}']);
    const sent = { method: 'POST' as const, file: { content, type: 'application/json' }, signal };
    return reviewedBy(await requestAnswer(withQuery('/schema/merge', query), sent));
  });
}

/** U+FEFF in UTF-8. */
const MARK = [0xef, 0xbb, 0xbf];

/** A JSON file is sent unchanged but for a byte order mark, which is allowed at the start of a body only. */
async function jsonOf(file: SentFile): Promise<Blob | string> {
  if (file.type !== 'application/json') return JSON.stringify((await readDocument(file)) ?? null);
  const blob = new Blob([file.content]);
  const start = new Uint8Array(await blob.slice(0, MARK.length).arrayBuffer());
  return MARK.every((byte, index) => start[index] === byte) ? blob.slice(MARK.length) : file.content;
}

/** @throws Error where the file is neither JSON nor YAML */
export async function readDocument({ content, type }: SentFile): Promise<unknown> {
  const text = await content.text();
  if (type === 'application/json') return JSON.parse(text.replace(/^\uFEFF/, '')) as unknown;
  const { readYaml } = await import('./yaml.js');
  return readYaml(text);
}

/** What others changed between the moment that a file was made from and another one. */
export const keptQuery = (base: string | number, position: number) =>
  queryOptions({
    queryKey: ['kept', base, position],
    staleTime: Infinity,
    queryFn: async ({ signal }) =>
      (await request<{ diff: SchemaDiff }>(withQuery('/history/diff', { from: base, to: position }), { signal })).diff,
  });

/** What was changed between a moment and now. */
export const sinceThenQuery = (then: string) =>
  queryOptions({
    queryKey: ['since then', then],
    queryFn: async ({ signal }) =>
      (await request<{ diff: SchemaDiff }>(withQuery('/history/diff', { from: then }), { signal })).diff,
  });

/** The newest moments that a file may have been made at, for who may read what they were. */
export const momentsQuery = () =>
  queryOptions({
    queryKey: [SCHEMA, 'moments'],
    queryFn: async ({ signal }) =>
      (await request<{ data: Batch[] }>(withQuery('/history/batches', { limit: 20 }), { signal })).data,
  });

export interface Applying {
  hash: string;
  /** Made when it is sent. */
  diff: () => Partial<SchemaDiff> | DraftedDiff;
  online: boolean;
  purge: boolean;
  /** Findings that their reader knows of. */
  acknowledge?: readonly Acknowledgement[];
}

const applyPath = ({ online, purge }: Applying, how: 'explain' | 'dry_run' | null): string =>
  withQuery('/schema/apply', {
    ...(how !== null && { [how]: 'true' }),
    online: online ? 'true' : undefined,
    purge: purge ? 'true' : undefined,
  });

const bodyOf = ({ hash, diff, acknowledge = [] }: Applying) => ({
  hash,
  diff: diff(),
  ...(acknowledge.length > 0 && { acknowledge }),
});

/** The plan, without anything being run or locked. */
export const explain = (applying: Applying, signal: AbortSignal): Promise<Plan> =>
  request(applyPath(applying, 'explain'), { method: 'POST', json: bodyOf(applying), signal });

/** What PostgreSQL says of it: it is run, and taken back. */
export const rehearse = (applying: Applying): Promise<Plan> =>
  request(applyPath(applying, 'dry_run'), { method: 'POST', json: bodyOf(applying) });

/** The path that `apply` sends to, for who wants to do the same elsewhere. */
export const addressOf = (applying: Applying): string => applyPath(applying, null);

export type Applied =
  /** `isDataLost`: deleted rows or values are not in the trash, although nobody asked for that. */
  { kind: 'done'; batch: string | null; isDataLost: boolean } | { kind: 'opened'; change: ChangeRequest };

/** @param key names this try: the same key again is answered the same, and done once */
export async function apply(applying: Applying, { reason, key }: { reason: string; key: string }): Promise<Applied> {
  const answer = await requestAnswer(applyPath(applying, null), {
    method: 'POST',
    json: bodyOf(applying),
    headers: { ...reasonHeader(reason), 'If-Match': `"${applying.hash}"`, 'Idempotency-Key': key },
  });
  if (answer.status !== 202)
    return { kind: 'done', batch: answer.headers.get('x-batch-id'), isDataLost: isDataLost(answer) };
  return { kind: 'opened', change: (await readAnswer<{ data: ChangeRequest }>(answer)).data };
}

const isDataLost = ({ headers }: Response): boolean =>
  (headers.get('x-warnings') ?? '').split(',').some((code) => code.trim() === 'DATA_NOT_KEPT');

/** What others did to the schema since. @param isNamed who did it, too, for who may read that */
export const sinceQuery = (position: number, now: number | undefined, isNamed: boolean) =>
  queryOptions({
    queryKey: ['since', position, now, isNamed],
    enabled: now !== undefined && now !== position,
    staleTime: Infinity,
    queryFn: async ({ signal }) => {
      const [{ diff }, { data }] = await Promise.all([
        request<{ diff: SchemaDiff }>(withQuery('/history/diff', { from: position, to: now }), { signal }),
        isNamed ? request<{ data: Batch[] }>(withQuery('/history/batches', { limit: 20 }), { signal }) : { data: [] },
      ]);
      return { diff, batches: data.filter(({ last_position: last }) => last > position) };
    },
  });

/** Who changed a collection lately. */
export const latelyQuery = (collection: string) =>
  queryOptions({
    queryKey: [SCHEMA, 'lately', collection],
    staleTime: Infinity,
    queryFn: async ({ signal }) =>
      (await request<{ data: Batch[] }>(withQuery('/history/batches', { collection, limit: 1 }), { signal })).data,
  });

/** Milliseconds. */
const FOLLOWED_EVERY = 1_000;
/** What waits for people changes by people, and what it would do now is worked out each time. */
const LOOKED_AT_EVERY = 10_000;
const WAITS: ReadonlySet<string> = new Set(['open', 'approved', 'rejected', 'scheduled']);

const isOver = ({ state, cleaning }: ChangeRequest): boolean =>
  ['applied', 'failed', 'withdrawn'].includes(state) && !cleaning;

/**
 * Read again every second while it is in work, every ten while it waits for people, no more once it is over.
 * @param id of it
 */
export const changeQuery = (id: string) =>
  queryOptions({
    queryKey: [CHANGE, id],
    queryFn: async ({ signal }) => (await request<{ data: ChangeRequest }>(`/changes/${id}`, { signal })).data,
    refetchInterval: ({ state: { data } }) => {
      if (data !== undefined && isOver(data)) return false;
      return data !== undefined && WAITS.has(data.state) ? LOOKED_AT_EVERY : FOLLOWED_EVERY;
    },
  });

/** Gives a change request up, and what was prepared for it. @throws RefusedError where its state has no more of that */
export const withdraw = (id: string) => request(`/changes/${id}/withdraw`, { method: 'POST' });
